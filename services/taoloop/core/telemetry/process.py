"""The telemetry of one process: built once in the composition root and handed down."""

from __future__ import annotations

from dataclasses import dataclass

from opentelemetry.sdk.trace.export import SpanExporter

from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry.metrics import Metrics
from taoloop.core.telemetry.tracing import Tracing, build_tracer_provider


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Where a process counts and traces."""

    metrics: Metrics
    tracing: Tracing

    @classmethod
    def build(
        cls, settings: TelemetrySettings, service_name: str, *, exporter: SpanExporter | None = None
    ) -> Telemetry:
        """Return new telemetry; `exporter` gets each span at once instead of OTLP, for tests."""
        return cls(Metrics(), Tracing(build_tracer_provider(settings, service_name, exporter=exporter)))

    async def aclose(self) -> None:
        """Send what is still waiting."""
        await self.tracing.aclose()
