"""Runs are read page by page, and their logs only where their summaries do not say enough."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from taoloop.cli.batch.failed_runs import failed_runs
from taoloop.cli.records import record_json
from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import UnknownRun
from taoloop.core.exact_json import dumps
from taoloop.core.faults import Fault, FaultStage
from taoloop.evaluation.attribution import Attribution, Part
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    EventBody,
    ListRunsRequest,
    ListRunsResponse,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunStarted,
    RunSummary,
)
from taoloop.plan.task import Outcome
from taoloop.testing.clock import FakeClock
from tests.unit.cli.conftest import Invoke

NOW = datetime(2026, 3, 10, tzinfo=UTC)
LATE = Fault(code="TOOL_TIMEOUT", stage=FaultStage.ACTION, message="Late.")
WAITS = Fault(code="UPSTREAM_STEP_FAILED", stage=FaultStage.LOOP, message="No.", cause_step_id="1.a")


class Pages:
    """Runs in pages of two."""

    def __init__(self, *runs: RunSummary) -> None:
        self.runs = runs
        self.watched: list[str] = []

    async def list_runs(self, request: ListRunsRequest, call: CallContext) -> ListRunsResponse:
        start = int(request.page_token or 0)
        token = str(start + 2) if start + 2 < len(self.runs) else ""
        return ListRunsResponse(runs=self.runs[start : start + 2], next_page_token=token)

    async def watch(self, run_id: str, from_sequence: int, call: CallContext) -> AsyncGenerator[RunEvent, None]:
        self.watched.append(run_id)
        if run_id == "gone":
            raise UnknownRun("No such run.", metadata={"run_id": run_id})
        for event in log_of(run_id):
            yield event


def log_of(run_id: str) -> list[RunEvent]:
    action = ActionResult(step_id="1.a", tool="find", status=ActionStatus.TIMED_OUT, fault=LATE)
    verdict = ObservationResult(step_id="1.a", tool="find", valid=False, fault=LATE)
    bodies: tuple[EventBody, ...] = (
        RunStarted(),
        ActionReturned(result=action),
        ResultObserved(result=verdict),
        RunFinished(outcome=Outcome.FAILED, fault=WAITS),
    )
    return [RunEvent(run_id=run_id, sequence=n, time=NOW, body=body) for n, body in enumerate(bodies, 1)]


def run(run_id: str, outcome: Outcome, fault: Fault | None = None, hours_ago: int = 0) -> RunSummary:
    return RunSummary(run_id=run_id, outcome=outcome, fault=fault, started_at=NOW - timedelta(hours=hours_ago))


async def laid(source: Pages, oldest: datetime | None = None) -> list[Attribution | None]:
    call = CallContext(deadline=Deadline.after(60.0, FakeClock()))
    return [attribution async for attribution in failed_runs(source, call, oldest)]


async def test_a_log_is_read_where_it_says_which_tool_failed_or_what_went_wrong_first() -> None:
    source = Pages(
        run("a", Outcome.ANSWERED),
        run("b", Outcome.FAILED, LATE),
        run("away", Outcome.FAILED, Fault(code="SERVICE_UNAVAILABLE", stage=FaultStage.LOOP, message="Away.")),
        run("c", Outcome.FAILED, WAITS),
        run("gone", Outcome.FAILED, WAITS),
    )
    assert await laid(source) == [
        None,
        Attribution(run_id="b", part=Part.TOOL, code="TOOL_TIMEOUT", tool="find"),
        Attribution(run_id="away", part=Part.DEPLOYMENT, code="SERVICE_UNAVAILABLE"),
        Attribution(run_id="c", part=Part.TOOL, code="TOOL_TIMEOUT", tool="find"),
        Attribution(run_id="gone", part=Part.OTHER, code="UPSTREAM_STEP_FAILED"),
    ]
    assert sorted(source.watched) == ["b", "c", "gone"]


async def test_nothing_is_read_beyond_the_oldest_run_that_is_wanted() -> None:
    source = Pages(*(run(str(hours), Outcome.ANSWERED, hours_ago=hours) for hours in range(9)))
    assert len(await laid(source, NOW - timedelta(hours=2, minutes=30))) == 3


def test_a_file_of_events_is_a_source_too(tmp_path: Path, invoke: Invoke) -> None:
    path = tmp_path / "events.jsonl"
    events = [event for run_id in ("r1", "r2") for event in log_of(run_id)]
    path.write_text("".join(dumps(record_json(event)) + "\n" for event in events), "utf-8")
    done = invoke("report", "failures", "--file", str(path), "--json")
    said = json.loads(done.out)
    assert (done.code, said["runs"], said["failed"], len(said["parts"])) == (0, 2, 2, 1)
    assert said["parts"][0] == {
        "part": "tool",
        "meaning": "the tool failed, said so, or did not answer",
        "runs": 2,
        "share": 1.0,
        "codes": {"TOOL_TIMEOUT": 2},
        "tools": {"find": 2},
        "examples": ["r1", "r2"],
    }
    shown = invoke("report", "failures", "--file", str(path)).out
    assert "2 runs, 2 failed (100.0 %)" in shown
    assert "TOOL_TIMEOUT 2" in shown
    assert "find 2" in shown
    later = invoke("report", "failures", "--file", str(path), "--since", "2026-04-01T00:00:00Z")
    assert "0 runs, 0 failed" in later.out


def test_a_time_that_is_none_is_refused_with_what_would_do(invoke: Invoke) -> None:
    for wrong in ("yesterday", "2026-03-10T00:00:00"):
        done = invoke("report", "failures", "--since", wrong)
        assert done.code == 2
        assert "24h" in done.err
