"""OpenTelemetry traces: one provider a process, and W3C trace context in any carrier of text."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Final, Self

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, Sampler, TraceIdRatioBased
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from taoloop.core.errors import TaoError
from taoloop.core.settings import TraceSettings
from taoloop.core.telemetry.names import SCHEMA_URL, Attribute
from taoloop.core.telemetry.unrecorded_span import UnrecordedSpan

AttributeValue = str | bool | int | float | Sequence[str] | None
Attributes = Mapping[Attribute, AttributeValue]

_PROPAGATOR = TraceContextTextMapPropagator()
_SAMPLED: Final = int(TraceFlags.SAMPLED)
_SPAN_KEY: Final = next(iter(trace.set_span_in_context(trace.INVALID_SPAN, Context())))
"""Where `set_span_in_context` puts the span; by itself it makes one more copy of the context."""
_SPAN_ID_BITS: Final = 64
_IDS_BITS: Final = 128 + _SPAN_ID_BITS
_NOT_ZERO: Final = 1 << _SPAN_ID_BITS | 1
"""One bit of the trace id and one of the span id: neither may be zero."""


_UNSAMPLED: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[02]")  # 2: the id is random
_UNSAMPLED_ALONE: Final = frozenset({"traceparent"})


class Tracing:
    """Makes the spans of one process; closing it sends what is still waiting.

    Nothing global is set, so that a test may build several. Make it after a fork: the exporter has a thread.

    Attributes:
        tracer: The OpenTelemetry tracer, for libraries that want one.
    """

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        sampler = provider.sampler
        self._draws = sampler.root if isinstance(sampler, RootsByRatio) else None
        self._drops_roots = _drops(sampler, None)
        unsampled = [_unsampled(is_remote=is_remote) for is_remote in (True, False)]
        self._drops_children = all(_drops(sampler, parent) for parent in unsampled)
        self.tracer = provider.get_tracer("taoloop", schema_url=SCHEMA_URL)

    def span(
        self,
        name: str,
        attributes: Attributes | Callable[[], Attributes] | None = None,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        parent: Context | None = None,
        links: Sequence[Link] = (),
    ) -> AbstractContextManager[Span]:
        """Open a span that is current in the block and ends with it, however the block is left.

        An exception marks the span as failed and is named in `error.type`, by its reason if it is a
        `TaoError`; its text stays out, since it may quote payload. Attributes that are None are left out.

        In a trace that is not recorded the block gets a span that takes everything and keeps nothing: the ids of
        the trace go on, a span id of its own it has only at the root.

        Args:
            name: From `taoloop.core.telemetry.names`.
            attributes: Keys of the registry; a function is asked for them only when they may be recorded.
            kind: The side of a call on which the span stands.
            parent: Context from `extract`; the current one when left out.
            links: Spans of other traces that this one goes on from.
        """
        around = current_span() if parent is None else trace.get_current_span(parent)
        if type(around) is UnrecordedSpan and self._drops_children:
            return around if parent is None else _Block(around)
        drawn = 0
        context = None if around is trace.INVALID_SPAN else around.get_span_context()
        if context is not None and context.is_valid:
            if self._drops_children and not context.trace_flags & _SAMPLED:
                return _Block(UnrecordedSpan(context))
        elif self._drops_roots or self._draws is not None:
            ids = random.getrandbits(_IDS_BITS) | _NOT_ZERO
            drawn = ids >> _SPAN_ID_BITS
            if self._drops_roots or (self._draws is not None and not self._draws.takes(drawn)):
                return _Block(UnrecordedSpan(ids=ids))
        if callable(attributes):
            attributes = attributes()
        given = {str(key): value for key, value in (attributes or {}).items() if value is not None}
        token = _drawn.set(drawn)
        try:
            span = self.tracer.start_span(
                name,
                context=parent,
                kind=kind,
                attributes=given,
                links=links,
                record_exception=False,
                set_status_on_exception=False,
            )
        finally:
            _drawn.reset(token)
        return _Block(span)

    def begin_served(
        self,
        name: str,
        attributes: Attributes,
        carrier: Mapping[str, str],
        read: Callable[[Mapping[str, str]], Context],
    ) -> Span:
        """Begin the span of a task that serves one call and nothing else; it is current until the task ends.

        Whoever asks for it marks it as failed and ends it.

        Args:
            name: From `taoloop.core.telemetry.names`.
            attributes: Keys of the registry.
            carrier: What the caller sent of trace and baggage; nothing when a trace begins here.
            read: Reads the carrier where it is more than the plain parent of a trace that is not recorded.
        """
        if self._drops_children and _UNSAMPLED_ALONE.issuperset(carrier):
            traceparent = carrier.get("traceparent", "")
            if _UNSAMPLED.fullmatch(traceparent):
                return _made_current(UnrecordedSpan(traceparent=traceparent))
            if self._drops_roots and not traceparent:
                return _made_current(UnrecordedSpan(ids=random.getrandbits(_IDS_BITS) | _NOT_ZERO))
        _attach(read(carrier))
        _current.set(None)  # a task that serves may be begun in a span of the server's own
        return self.span(name, attributes, kind=SpanKind.SERVER).__enter__()

    def unrecorded(self) -> UnrecordedSpan | None:
        """Return the current span where `span` would give it back, as in a trace that is not recorded; else None."""
        around = _current.get()
        return around if type(around) is UnrecordedSpan and self._drops_children else None

    def keeps_nothing(self) -> bool:
        """Tell whether no span that begins now would be recorded, so that there is nothing to make one for."""
        around = current_span()
        if type(around) is UnrecordedSpan:
            return self._drops_children
        return around is trace.INVALID_SPAN and self._drops_roots

    async def aclose(self) -> None:
        """Send the spans that wait and stop the exporter; it may take as long as the exporter's timeout."""
        await asyncio.to_thread(self._provider.shutdown)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()


_current: ContextVar[Span | None] = ContextVar("taoloop_current_span", default=None)
"""What the context of OpenTelemetry says too, in six calls: the span of the innermost block, None outside of any."""

_drawn: ContextVar[int] = ContextVar("taoloop_drawn_trace_id", default=0)
"""The trace id of the root that is made at this moment; 0 where none was drawn."""


class _Ids(RandomIdGenerator):
    """Gives a root the trace id by which it was chosen for recording."""

    def generate_trace_id(self) -> int:
        return _drawn.get() or super().generate_trace_id()


class _Draw(TraceIdRatioBased):
    """Chooses roots by their trace id, and tells so before the SDK makes a span, which takes ten times as long."""

    def takes(self, trace_id: int) -> bool:
        return trace_id & self.TRACE_ID_LIMIT < self.bound


class RootsByRatio(ParentBased):
    """Records a share of the traces that begin here, and of all others what their callers record.

    Args:
        ratio: 0 to 1.

    Attributes:
        root: Chooses the traces that begin here.
    """

    def __init__(self, ratio: float) -> None:
        self.root = _Draw(ratio)
        super().__init__(self.root)


class _Block:
    """A span that is current inside a `with` block."""

    __slots__ = ("_span", "_token", "_token_of_ours")

    def __init__(self, span: Span) -> None:
        self._span = span

    def __enter__(self) -> Span:
        self._token: Token[Context] = _attach(Context({**_around(), _SPAN_KEY: self._span}))
        self._token_of_ours = _current.set(self._span)
        return self._span

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        # A stream that its reader left early is no failure of ours.
        if error is not None and not isinstance(error, GeneratorExit):
            mark_failed(self._span, error.reason if isinstance(error, TaoError) else type(error).__qualname__)
        _current.reset(self._token_of_ours)
        _detach(self._token)
        if type(self._span) is not UnrecordedSpan:
            self._span.end()


def _context_functions() -> tuple[
    Callable[[], Context], Callable[[Context], Token[Context]], Callable[[Token[Context]], None]
]:
    """Return how the context of OpenTelemetry is read, set and set back; in one call where it is a plain variable."""
    runtime = contexts._RUNTIME_CONTEXT  # noqa: SLF001 - what the public functions ask, two calls further down
    if type(runtime) is ContextVarsRuntimeContext:
        variable = runtime._current_context  # noqa: SLF001 - see above
        return variable.get, variable.set, variable.reset
    return contexts.get_current, contexts.attach, contexts.detach


_around, _attach, _detach = _context_functions()


def build_tracer_provider(
    settings: TraceSettings, service_name: str, *, exporter: SpanExporter | None = None
) -> TracerProvider:
    """Return a provider that samples by ratio unless the caller's trace decided already.

    Args:
        settings: An unset `otlp_endpoint` exports nothing; spans still carry trace ids to the logs.
        service_name: Name of the deployable, such as `taoloop-action`.
        exporter: Gets each span at once instead of OTLP; for tests.
    """
    provider = TracerProvider(
        sampler=RootsByRatio(settings.sample_ratio),
        id_generator=_Ids(),
        resource=Resource.create({"service.name": service_name}, schema_url=SCHEMA_URL),
        shutdown_on_exit=False,
    )
    if exporter is not None:
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    elif settings.otlp_endpoint is not None:
        provider.add_span_processor(BatchSpanProcessor(_otlp_exporter(settings.otlp_endpoint)))
    return provider


def _made_current(span: UnrecordedSpan) -> UnrecordedSpan:
    """Make it the current span until the task ends."""
    _attach(Context({_SPAN_KEY: span}))
    _current.set(span)
    return span


def current_span() -> Span:
    """Return the span in whose block this is asked; one without ids when there is none."""
    ours = _current.get()
    if ours is not None:
        return ours
    span = _around().get(_SPAN_KEY)  # what `trace.get_current_span` says
    return span if span is not None and isinstance(span, Span) else trace.INVALID_SPAN


def mark_failed(span: Span, error_type: str) -> None:
    """Mark the span as failed; `error_type` is a reason, a fault code or the name of an exception class."""
    span.set_status(Status(StatusCode.ERROR))
    span.set_attribute(Attribute.ERROR_TYPE, error_type)


def headers_of(span: Span) -> Mapping[str, str]:
    """Return what `inject` would write for this span; empty when it has no trace."""
    if type(span) is UnrecordedSpan:
        return span.headers
    context = span.get_span_context()
    if not context.is_valid:
        return {}
    headers = {"traceparent": f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"}
    if context.trace_state:
        headers["tracestate"] = context.trace_state.to_header()
    return headers


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
    span = _current.get()
    return span.trace_id if type(span) is UnrecordedSpan else trace_id_of(current_span())


def trace_id_of(span: Span) -> str:
    """Return the trace id of a span as 32 hex characters; empty when it has none."""
    if type(span) is UnrecordedSpan:
        return span.trace_id
    span_context = span.get_span_context()
    return f"{span_context.trace_id:032x}" if span_context.is_valid else ""


def _drops(sampler: Sampler, parent: Context | None) -> bool:
    """Tell whether a sampler records nothing below this parent; None stands for no parent.

    A sampler by ratio records the trace ids below a bound, so it drops the least id only if it drops all.
    """
    return sampler.should_sample(parent, 0, "").decision is Decision.DROP


def _unsampled(*, is_remote: bool) -> Context:
    return trace.set_span_in_context(NonRecordingSpan(SpanContext(1, 1, is_remote=is_remote)), Context())


def _otlp_exporter(endpoint: str) -> SpanExporter:
    # Imported only where it is configured: it loads gRPC, which core must not ask of its importers.
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=endpoint, insecure=endpoint.startswith("http://"))
