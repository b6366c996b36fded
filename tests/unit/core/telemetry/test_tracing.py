"""Rules of tracing."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Span, StatusCode

from taoloop.core.errors import QueueFull
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry.names import SCHEMA_URL, Attribute
from taoloop.core.telemetry.tracing import (
    Tracing,
    build_tracer_provider,
    current_span,
    current_trace_id,
    current_traceparent,
    extract,
    headers_of,
    inject,
    link_to,
)

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSAMPLED = TRACEPARENT.removesuffix("01") + "00"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
async def tracing(exporter: InMemorySpanExporter) -> AsyncIterator[Tracing]:
    async with Tracing(build_tracer_provider(TelemetrySettings(), "taoloop-test", exporter=exporter)) as made:
        yield made


def test_a_span_has_its_attributes_service_and_schema(tracing: Tracing, exporter: InMemorySpanExporter) -> None:
    with tracing.span("plan graph", {Attribute.RUN_ID: "r1", Attribute.STEP_INDEX: 2, Attribute.REQUEST_MODEL: None}):
        pass
    (span,) = exporter.get_finished_spans()
    assert dict(span.attributes or {}) == {"taoloop.run.id": "r1", "taoloop.step.index": 2}
    assert span.resource.attributes["service.name"] == "taoloop-test"
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.schema_url == SCHEMA_URL
    assert encode_spans([span]).ByteSize() > 0


def test_the_callers_trace_goes_on(tracing: Tracing, exporter: InMemorySpanExporter) -> None:
    with tracing.span("a", parent=extract({"Traceparent": TRACEPARENT, "tracestate": "v=1"})):
        carrier: dict[str, str] = {}
        inject(carrier)
        assert carrier["traceparent"] == current_traceparent()
        assert carrier["tracestate"] == "v=1"
        assert current_trace_id() == "0af7651916cd43dd8448eb211c80319c"
    (span,) = exporter.get_finished_spans()
    assert span.parent is not None
    assert f"{span.parent.span_id:016x}" == "b7ad6b7169203331"


@pytest.mark.parametrize(
    "carrier", [{}, {"traceparent": "nonsense"}, {"traceparent": "00-" + "0" * 32 + "-" + "0" * 16 + "-01"}]
)
def test_a_missing_or_malformed_parent_starts_a_new_trace(
    tracing: Tracing, exporter: InMemorySpanExporter, carrier: dict[str, str]
) -> None:
    with tracing.span("outer"), tracing.span("a", parent=extract(carrier)):
        assert current_trace_id()
    assert exporter.get_finished_spans()[0].parent is None
    assert link_to(carrier) == ()


def test_a_resumed_run_links_to_its_first_trace(tracing: Tracing, exporter: InMemorySpanExporter) -> None:
    with tracing.span("a", links=link_to({"traceparent": TRACEPARENT})):
        pass
    (span,) = exporter.get_finished_spans()
    assert f"{span.links[0].context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert f"{span.context.trace_id:032x}" != "0af7651916cd43dd8448eb211c80319c"


def test_outside_a_span_there_is_no_traceparent() -> None:
    assert current_traceparent() == ""
    assert current_trace_id() == ""


@pytest.mark.parametrize(
    ("error", "error_type"),
    [(QueueFull("full"), "QUEUE_FULL"), (KeyError("secret"), "KeyError"), (asyncio.CancelledError(), "CancelledError")],
)
def test_an_exception_marks_the_span_without_its_text(
    tracing: Tracing, exporter: InMemorySpanExporter, error: BaseException, error_type: str
) -> None:
    with pytest.raises(type(error)), tracing.span("a"):
        raise error
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert dict(span.attributes or {}) == {"error.type": error_type}
    assert "secret" not in span.to_json()
    assert not span.events


async def test_a_stream_left_early_closes_its_span(tracing: Tracing, exporter: InMemorySpanExporter) -> None:
    async def stream() -> AsyncIterator[int]:
        with tracing.span("watch"):
            yield 1
            yield 2

    items = stream()
    assert await anext(items) == 1
    await items.aclose()  # type: ignore[attr-defined]
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.UNSET


async def test_the_context_follows_tasks_and_threads(tracing: Tracing, exporter: InMemorySpanExporter) -> None:
    def in_thread() -> None:
        with tracing.span("thread"):
            pass

    async def in_task() -> None:
        with tracing.span("task"):
            pass

    with tracing.span("parent"):
        async with asyncio.TaskGroup() as group:
            group.create_task(in_task(), name="task")
            group.create_task(asyncio.to_thread(in_thread), name="thread")
    assert len({span.context.trace_id for span in exporter.get_finished_spans()}) == 1


async def test_the_ratio_decides_only_where_the_caller_did_not(exporter: InMemorySpanExporter) -> None:
    never = TelemetrySettings(sample_ratio=0.0)
    async with Tracing(build_tracer_provider(never, "taoloop-test", exporter=exporter)) as tracing:
        with tracing.span("dropped"):
            assert int(current_traceparent()[-2:], 16) & 1 == 0  # not sampled
        with tracing.span("kept", parent=extract({"traceparent": TRACEPARENT})):
            pass
    assert [span.name for span in exporter.get_finished_spans()] == ["kept"]


async def test_span_names_stay_few_however_many_runs_there_are(
    tracing: Tracing, exporter: InMemorySpanExporter
) -> None:
    """C075-2."""
    from taoloop.core.telemetry import names

    for run in range(1000):
        with (
            tracing.span(names.RUN_SPAN, {Attribute.RUN_ID: str(run)}),
            tracing.span(names.tool_span(f"tool_{run % 5}")),
        ):
            pass
    assert len({span.name for span in exporter.get_finished_spans()}) == 6


async def test_in_a_trace_that_is_not_recorded_nothing_is_worked_out_and_the_ids_go_on(
    exporter: InMemorySpanExporter,
) -> None:
    never = TelemetrySettings(sample_ratio=0.0)
    async with Tracing(build_tracer_provider(never, "taoloop-test", exporter=exporter)) as tracing:
        with tracing.span("root", lambda: pytest.fail("nobody records it")) as root:
            outside = current_trace_id()
            with tracing.span("child") as child:
                assert child is root
            assert current_trace_id() == outside
        with tracing.span("remote", parent=extract({"traceparent": UNSAMPLED})) as span:
            assert headers_of(span) == {"traceparent": UNSAMPLED}
            assert current_trace_id() == "0af7651916cd43dd8448eb211c80319c"
        assert current_trace_id() == ""
    assert not exporter.get_finished_spans()


def test_the_headers_of_a_span_are_those_that_are_injected(tracing: Tracing) -> None:
    with tracing.span(
        "a", lambda: {Attribute.RUN_ID: "r1"}, parent=extract({"traceparent": TRACEPARENT, "tracestate": "v=1"})
    ) as span:
        carrier: dict[str, str] = {}
        inject(carrier)
        assert headers_of(span) == carrier
    assert headers_of(trace.INVALID_SPAN) == {}


@pytest.mark.parametrize(("ratio", "is_given"), [(0.0, True), (1.0, False)])
async def test_the_span_of_a_trace_that_is_not_recorded_is_given_to_who_would_get_no_other(
    exporter: InMemorySpanExporter, ratio: float, *, is_given: bool
) -> None:
    async with Tracing(build_tracer_provider(TelemetrySettings(sample_ratio=ratio), "a", exporter=exporter)) as tracing:
        assert tracing.unrecorded() is None
        with tracing.span("outer") as span:
            assert tracing.unrecorded() is (span if is_given else None)


def test_nothing_global_is_set(tracing: Tracing) -> None:
    assert type(trace.get_tracer_provider()).__name__ != "TracerProvider"


async def test_an_endpoint_gets_a_batching_exporter_that_closes_in_time() -> None:
    settings = TelemetrySettings(otlp_endpoint="http://127.0.0.1:9")
    tracing = Tracing(build_tracer_provider(settings, "taoloop-test"))
    await asyncio.wait_for(tracing.aclose(), timeout=10)


def test_core_loads_no_grpc() -> None:
    program = (
        "import sys, taoloop.core.logs, taoloop.core.telemetry.metrics, taoloop.core.telemetry.tracing;"
        "sys.exit('grpc' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_a_share_of_the_traces_that_begin_here_is_recorded_by_their_ids(exporter: InMemorySpanExporter) -> None:
    settings, begun = TelemetrySettings(sample_ratio=0.25), 2000
    async with Tracing(build_tracer_provider(settings, "taoloop-test", exporter=exporter)) as tracing:
        recorded = set()
        for _ in range(begun):
            with tracing.span("root") as root, tracing.span("child") as child:
                assert child.get_span_context().trace_id == root.get_span_context().trace_id
                assert current_trace_id() == f"{root.get_span_context().trace_id:032x}"
                if root.is_recording():
                    recorded.add(root.get_span_context().trace_id)
    spans = exporter.get_finished_spans()
    assert len(spans) == 2 * len(recorded)
    assert {span.context.trace_id for span in spans if span.context is not None} == recorded
    assert all(trace_id % 2**64 < 2**62 for trace_id in recorded)
    assert 0.2 < len(recorded) / begun < 0.3


async def test_inside_a_block_the_current_span_is_that_of_opentelemetry_too(exporter: InMemorySpanExporter) -> None:
    for ratio in (0.0, 1.0):
        settings = TelemetrySettings(sample_ratio=ratio)
        async with Tracing(build_tracer_provider(settings, "taoloop-test", exporter=exporter)) as tracing:
            with tracing.span("outer") as outer:
                assert trace.get_current_span() is current_span() is outer
                with tracing.span("inner", parent=extract({"traceparent": TRACEPARENT})) as inner:
                    assert trace.get_current_span() is current_span() is inner
                assert trace.get_current_span() is current_span() is outer
            assert not current_span().get_span_context().is_valid


async def _served(tracing: Tracing, carrier: dict[str, str]) -> tuple[Span, str]:
    """Serve a call in a task of its own, and return its span and the headers that its own calls would send."""

    async def serve() -> tuple[Span, str]:
        span = tracing.begin_served("served", {}, carrier, extract)
        assert trace.get_current_span() is current_span() is span
        span.end()
        return span, current_traceparent()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(serve(), name="call")
    assert not current_span().get_span_context().is_valid
    return task.result()


@pytest.mark.parametrize("ratio", [0.0, 1.0])
@pytest.mark.parametrize("flags", ["00", "02"])
async def test_a_served_call_goes_on_in_a_trace_that_is_not_recorded(
    exporter: InMemorySpanExporter, ratio: float, flags: str
) -> None:
    settings = TelemetrySettings(sample_ratio=ratio)
    traceparent = UNSAMPLED.removesuffix("00") + flags
    async with Tracing(build_tracer_provider(settings, "taoloop-test", exporter=exporter)) as tracing:
        span, sent = await _served(tracing, {"traceparent": traceparent})
    assert not exporter.get_finished_spans()
    assert sent == traceparent
    assert span.get_span_context().trace_flags == int(flags, 16)
    assert span.get_span_context().is_remote
    assert f"{span.get_span_context().trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize("ratio", [0.0, 1.0])
async def test_a_served_call_is_recorded_where_its_caller_records(exporter: InMemorySpanExporter, ratio: float) -> None:
    settings = TelemetrySettings(sample_ratio=ratio)
    async with Tracing(build_tracer_provider(settings, "taoloop-test", exporter=exporter)) as tracing:
        await _served(tracing, {"traceparent": TRACEPARENT})
    (span,) = exporter.get_finished_spans()
    assert span.parent is not None
    assert span.parent.is_remote
    assert f"{span.parent.span_id:016x}" == TRACEPARENT[36:52]


@pytest.mark.parametrize("ratio", [0.0, 1.0])
@pytest.mark.parametrize(
    "traceparent",
    [
        "",
        "zz",
        UNSAMPLED.upper(),
        UNSAMPLED + "-1",
        f"00-{'0' * 32}-b7ad6b7169203331-00",
        f"00-{'a' * 32}-{'0' * 16}-00",
    ],
)
async def test_a_served_call_without_a_readable_trace_begins_one(
    exporter: InMemorySpanExporter, ratio: float, traceparent: str
) -> None:
    settings = TelemetrySettings(sample_ratio=ratio)
    async with Tracing(build_tracer_provider(settings, "taoloop-test", exporter=exporter)) as tracing:
        span, sent = await _served(tracing, {"traceparent": traceparent} if traceparent else {})
    assert len(exporter.get_finished_spans()) == ratio
    context = span.get_span_context()
    assert context.is_valid
    assert not context.is_remote
    assert sent == f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
    assert context.trace_flags & 1 == ratio


async def test_the_state_of_a_callers_trace_goes_on(exporter: InMemorySpanExporter) -> None:
    never = TelemetrySettings(sample_ratio=0.0)
    async with Tracing(build_tracer_provider(never, "taoloop-test", exporter=exporter)) as tracing:
        span, _ = await _served(tracing, {"traceparent": UNSAMPLED, "tracestate": "v=1"})
    assert headers_of(span) == {"traceparent": UNSAMPLED, "tracestate": "v=1"}


async def test_nothing_is_kept_where_no_span_would_be_recorded(exporter: InMemorySpanExporter) -> None:
    for ratio in (0.0, 0.5, 1.0):
        settings = TelemetrySettings(sample_ratio=ratio)
        async with Tracing(build_tracer_provider(settings, "taoloop-test", exporter=exporter)) as tracing:
            assert tracing.keeps_nothing() is (ratio == 0.0)
            for traceparent, is_kept in ((TRACEPARENT, True), (UNSAMPLED, False)):
                with tracing.span("around", parent=extract({"traceparent": traceparent})):
                    assert tracing.keeps_nothing() is not is_kept


@pytest.mark.parametrize("carrier", [{}, {"traceparent": UNSAMPLED}, {"traceparent": TRACEPARENT}])
async def test_a_served_call_is_no_part_of_the_span_in_which_its_task_began(
    tracing: Tracing, exporter: InMemorySpanExporter, carrier: dict[str, str]
) -> None:
    async def serve() -> Span:
        span = tracing.begin_served("served", {}, carrier, extract)
        span.end()
        return span

    with tracing.span("the server's own") as outer:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(serve(), name="call")
    assert task.result().get_span_context().trace_id != outer.get_span_context().trace_id
