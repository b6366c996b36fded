"""OpenTelemetry traces: one provider a process, and W3C trace context in any carrier of text."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Self

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from taoloop.core.errors import TaoError
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry.names import SCHEMA_URL, Attribute

AttributeValue = str | bool | int | float | Sequence[str] | None

_PROPAGATOR = TraceContextTextMapPropagator()


class Tracing:
    """Makes the spans of one process; closing it sends what is still waiting.

    Nothing global is set, so that a test may build several. Make it after a fork: the exporter has a thread.

    Attributes:
        tracer: The OpenTelemetry tracer, for libraries that want one.
    """

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self.tracer = provider.get_tracer("taoloop", schema_url=SCHEMA_URL)

    @contextmanager
    def span(
        self,
        name: str,
        attributes: Mapping[Attribute, AttributeValue] | None = None,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        parent: Context | None = None,
        links: Sequence[Link] = (),
    ) -> Iterator[Span]:
        """Open a span that is current in the block and ends with it, however the block is left.

        An exception marks the span as failed and is named in `error.type`, by its reason if it is a
        `TaoError`; its text stays out, since it may quote payload. Attributes that are None are left out.

        Args:
            name: From `taoloop.core.telemetry.names`.
            attributes: Keys of the registry.
            kind: The side of a call on which the span stands.
            parent: Context from `extract`; the current one when left out.
            links: Spans of other traces that this one goes on from.
        """
        given = {str(key): value for key, value in (attributes or {}).items() if value is not None}
        with self.tracer.start_as_current_span(
            name,
            context=parent,
            kind=kind,
            attributes=given,
            links=links,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except GeneratorExit:  # a stream that its reader left early: no failure of ours
                raise
            except BaseException as exc:
                mark_failed(span, exc.reason if isinstance(exc, TaoError) else type(exc).__qualname__)
                raise

    async def aclose(self) -> None:
        """Send the spans that wait and stop the exporter; it may take as long as the exporter's timeout."""
        await asyncio.to_thread(self._provider.shutdown)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()


def build_tracer_provider(
    settings: TelemetrySettings, service_name: str, *, exporter: SpanExporter | None = None
) -> TracerProvider:
    """Return a provider that samples by ratio unless the caller's trace decided already.

    Args:
        settings: An unset `otlp_endpoint` exports nothing; spans still carry trace ids to the logs.
        service_name: Name of the deployable, such as `taoloop-action`.
        exporter: Gets each span at once instead of OTLP; for tests.
    """
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(settings.sample_ratio)),
        resource=Resource.create({"service.name": service_name}, schema_url=SCHEMA_URL),
        shutdown_on_exit=False,
    )
    if exporter is not None:
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    elif settings.otlp_endpoint is not None:
        provider.add_span_processor(BatchSpanProcessor(_otlp_exporter(settings.otlp_endpoint)))
    return provider


def mark_failed(span: Span, error_type: str) -> None:
    """Mark the span as failed; `error_type` is a reason, a fault code or the name of an exception class."""
    span.set_status(Status(StatusCode.ERROR))
    span.set_attribute(Attribute.ERROR_TYPE, error_type)


def inject(carrier: MutableMapping[str, str]) -> None:
    """Write `traceparent` and, if there is one, `tracestate` of the current span into the carrier."""
    _PROPAGATOR.inject(carrier)


def extract(carrier: Mapping[str, str]) -> Context:
    """Return the context that the carrier's `traceparent` names; an empty one if it is missing or malformed."""
    return _PROPAGATOR.extract({name.lower(): value for name, value in carrier.items()}, context=Context())


def link_to(carrier: Mapping[str, str]) -> tuple[Link, ...]:
    """Return the link to the span that the carrier names, for a trace that goes on from another; else nothing."""
    span_context = trace.get_current_span(extract(carrier)).get_span_context()
    return (Link(span_context),) if span_context.is_valid else ()


def current_traceparent() -> str:
    """Return the `traceparent` of the current span; empty when there is none."""
    carrier: dict[str, str] = {}
    inject(carrier)
    return carrier.get("traceparent", "")


def current_trace_id() -> str:
    """Return the trace id of the current span as 32 hex characters; empty when there is none."""
    span_context = trace.get_current_span().get_span_context()
    return f"{span_context.trace_id:032x}" if span_context.is_valid else ""


def _otlp_exporter(endpoint: str) -> SpanExporter:
    # Imported only where it is configured: it loads gRPC, which core must not ask of its importers.
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=endpoint, insecure=endpoint.startswith("http://"))
