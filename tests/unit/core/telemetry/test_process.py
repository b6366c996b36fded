"""Rules of the telemetry of one process."""

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.names import RUN_SPAN, RUNS


async def test_a_process_counts_and_traces_on_its_own() -> None:
    exporter = InMemorySpanExporter()
    first = Telemetry.build(TelemetrySettings(), "taoloop-a", exporter=exporter)
    second = Telemetry.build(TelemetrySettings(), "taoloop-b")
    with first.tracing.span(RUN_SPAN):
        first.metrics.counter(RUNS).labels(outcome="answered").inc()
    with second.tracing.span(RUN_SPAN):
        pass
    assert [span.resource.attributes["service.name"] for span in exporter.get_finished_spans()] == ["taoloop-a"]
    assert second.metrics.exposition() == ""
    await first.aclose()
    await second.aclose()
