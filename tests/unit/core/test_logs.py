"""Rules of logging."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from taoloop.core.errors import BackendUnavailable
from taoloop.core.logs import EventLog, configure_logging, log_context
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry.tracing import Tracing, build_tracer_provider, current_trace_id

LOG = EventLog("taoloop.core.test")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root, ours = logging.getLogger(), logging.getLogger("taoloop")
    before = (root.handlers[:], root.level, ours.level)
    written = io.StringIO()
    configure_logging("info", written)
    yield written
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


def _lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_line_of_json(stream: io.StringIO) -> None:
    LOG.info(
        "run_finished", outcome="answered", duration_seconds=1.5, share=Decimal("0.10"), note="a\n\u2028b", flag=True
    )
    (line,) = _lines(stream)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info", "event": "run_finished", "logger": "taoloop.core.test", "outcome": "answered",
        "duration_seconds": 1.5, "share": 0.1, "note": "a\n\u2028b", "flag": True,
    }  # fmt: skip


def test_ids_of_the_context_are_on_every_line_and_follow_tasks(stream: io.StringIO) -> None:
    async def work() -> None:
        LOG.info("step_started")

    async def scenario() -> None:
        with log_context(run_id="r1", thought_id=""):
            async with asyncio.TaskGroup() as group:
                group.create_task(work(), name="work")
            with log_context(thought_id="t1"):
                LOG.info("thought_made")
        LOG.info("run_left")

    asyncio.run(scenario())
    lines = _lines(stream)
    assert [(line.get("run_id"), line.get("thought_id")) for line in lines] == [
        ("r1", None),
        ("r1", "t1"),
        (None, None),
    ]


async def test_a_line_inside_a_span_has_its_trace_id(stream: io.StringIO) -> None:
    async with Tracing(build_tracer_provider(TelemetrySettings(), "taoloop-test")) as tracing:
        with tracing.span("x"):
            LOG.info("step_started")
            trace_id = current_trace_id()
    assert _lines(stream)[0]["trace_id"] == trace_id


def test_secrets_and_long_texts_do_not_reach_the_log(stream: io.StringIO) -> None:
    LOG.warning("call_refused", api_token="abc", cause="token=abc", body="x" * 5000)
    (line,) = _lines(stream)
    assert "abc" not in json.dumps(line)
    assert len(line["body"]) == 301


def test_an_exception_is_named_with_its_stack_and_without_secrets(stream: io.StringIO) -> None:
    try:
        raise BackendUnavailable("no redis://:pa55@h/0")
    except BackendUnavailable:
        LOG.exception("backend_lost", attempt=2)
    LOG.error("backend_given_up")
    line, plain = _lines(stream)
    assert "error_type" not in plain
    assert (line["error_type"], line["error_message"], line["attempt"]) == (
        "BackendUnavailable",
        "no redis://:***@h/0",
        2,
    )
    assert "test_an_exception" in line["error_stack"][-1]


def test_what_json_cannot_hold_does_not_lose_the_line(stream: io.StringIO) -> None:
    LOG.info("measured", ratio=float("nan"), most=float("inf"), exact=Decimal("NaN"), text="\ud800")
    (line,) = _lines(stream)
    assert (line["ratio"], line["most"], line["exact"], line["text"]) == ("nan", "inf", "NaN", "?")


def test_a_field_cannot_take_the_place_of_the_event(stream: io.StringIO) -> None:
    LOG.info("run_finished", level="none", logger="me")
    (line,) = _lines(stream)
    assert (line["level"], line["logger"]) == ("info", "taoloop.core.test")


def test_a_line_is_the_same_by_whichever_way_it_is_written(stream: io.StringIO) -> None:
    fields: dict[str, Any] = {"text": 'a"b\\\t', "count": 3, "share": 0.5, "nothing": None, "trace_id": "t"}
    with log_context(run_id="r1"):
        LOG.info("tool_call_ended", run_id="r2", **fields)
        LOG.info("tool_call_ended", run_id="r2", more="é", **fields)
    plain, other = _lines(stream)
    assert other.pop("more") == "é"
    plain.pop("time"), other.pop("time")
    assert list(plain.items()) == [(name, value) for name, value in other.items()]
    assert plain["run_id"] == "r1"


def test_libraries_are_heard_from_warning_up_and_redacted(stream: io.StringIO) -> None:
    logging.getLogger("somelib").info("hidden")
    logging.getLogger("somelib").warning("lost %s", "https://u:pw@h.test")
    (line,) = _lines(stream)
    assert (line["event"], line["message"]) == ("library_logged", "lost https://u:***@h.test")


def test_events_below_the_level_are_not_written(stream: io.StringIO) -> None:
    LOG.debug("detail_seen")
    assert stream.getvalue() == ""


def test_other_handlers_and_filters_are_heard_too(stream: io.StringIO) -> None:
    heard: list[logging.LogRecord] = []

    class Other(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record)

    def refuses(record: logging.LogRecord) -> bool:
        return record.getMessage() != "refused_event"

    other, ours = Other(), logging.getLogger("taoloop")
    ours.addHandler(other)
    logging.getLogger().handlers[0].addFilter(refuses)
    try:
        LOG.info("run_finished", outcome="answered")
        LOG.info("refused_event")
    finally:
        ours.removeHandler(other)
        logging.getLogger().handlers[0].removeFilter(refuses)
    LOG.info("run_finished")
    assert [record.getMessage() for record in heard] == ["run_finished", "refused_event"]
    assert [line["event"] for line in _lines(stream)] == ["run_finished", "run_finished"]


def test_a_stream_that_takes_nothing_does_not_stop_the_work(
    stream: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    stream.close()
    LOG.info("run_finished")
    assert "I/O operation on closed file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "fixed",
    [
        {"tool": "find_order", "status": "succeeded", "code": ""},
        {"tool": "Zürich", "count": 3, "note": "call 13812345678"},
        {"password": "hunter2", "flag": True},
        {"run_id": "another", "tool": "find_order"},
        {"trace_id": "another", "logger": "another"},
    ],
)
def test_a_bound_event_writes_the_line_of_all_its_fields(stream: io.StringIO, fixed: dict[str, Any]) -> None:
    with log_context(run_id="r1"):
        LOG.info("tool_called", **fixed, seconds=0.25)
        LOG.bound("tool_called", **fixed).info(seconds=0.25)
    plain, bound = _lines(stream)
    assert {**bound, "time": ""} == {**plain, "time": ""}
    assert list(bound) == list(plain)


def test_a_bound_event_below_the_level_is_not_written(stream: io.StringIO) -> None:
    logging.getLogger("taoloop").setLevel("WARNING")
    LOG.bound("tool_called", tool="find_order").info(seconds=0.25)
    assert stream.getvalue() == ""


def test_a_bound_event_goes_to_everybody_who_listens(stream: io.StringIO) -> None:
    heard = logging.StreamHandler(io.StringIO())
    logging.getLogger("taoloop").addHandler(heard)
    try:
        LOG.bound("tool_called", tool="find_order").info(seconds=0.25)
    finally:
        logging.getLogger("taoloop").removeHandler(heard)
    assert heard.stream.getvalue() == "tool_called\n"
    assert _lines(stream)[0]["tool"] == "find_order"
