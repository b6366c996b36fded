"""Events that `--json` wrote are read back as they were."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from taoloop.cli.records import record_json
from taoloop.cli.viewing.recorded_events import read_events
from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import dumps
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, Provenance
from taoloop.plan.model import Binding, ContractValue, ContractValueKind, PlanStep, StepOutput, ThoughtPlan
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    EventBody,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    StepStarted,
    ThoughtMade,
)
from taoloop.plan.task import Outcome, ProvidedInput, Role, Task, Turn, Usage
from taoloop.plan.thinking import Answer, ThinkResponse
from taoloop.tools.signature import Trust

NOW = datetime(2026, 3, 10, 8, 0, 0, 250_000, tzinfo=UTC)
FAULT = Fault(code=FaultCode.TOOL_TIMEOUT, stage=FaultStage.ACTION, message="Late.", actual=[1, None])
STEP = PlanStep(
    step_id="1.t1",
    tool="pay",
    bindings=(
        Binding(pointer="/a", source=StepOutput(step_id="1.t0", pointer="/x"), value=Decimal("0.10")),
        Binding(pointer="/b", source=ContractValue(kind=ContractValueKind.ENUM, pointer="/enum/0")),
    ),
)
BODIES: tuple[EventBody, ...] = (
    RunStarted(task=Task(request_id="q", turns=(Turn(role=Role.USER, text="订单"),), state={"type": "x"})),
    ThoughtMade(response=ThinkResponse(outcome=ThoughtPlan(steps=(STEP,)), usage=Usage(input_tokens=3), iteration=1)),
    StepStarted(
        step_id="1.t1",
        tool="pay",
        arguments={"id": 20260308000012345, "type": "unknown"},
        provenance=(Provenance(pointer="/a", source="step_output", step_id="1.t0", trust=Trust.UNTRUSTED),),
    ),
    ActionReturned(
        result=ActionResult(
            step_id="1.t1",
            tool="pay",
            status=ActionStatus.TIMED_OUT,
            raw=b"\xff",
            attempts=(Attempt(start=NOW, outcome="TOOL_TIMEOUT", duration_seconds=0.5),),
            total_time_seconds=2.0,
            fault=FAULT,
        )
    ),
    ResultObserved(result=ObservationResult(step_id="1.t1", tool="pay", valid=False, fault=FAULT, confidence=0.5)),
    RunResumed(reason="input", input=ProvidedInput(input_id="i", values={"n": Decimal("1.50")})),
    Answer(text="fine", data={"n": 1}),
    RunFinished(outcome=Outcome.FAILED, fault=FAULT, duration_seconds=1.25),
)


def test_every_event_is_read_back_as_it_was(tmp_path: Path) -> None:
    events = [RunEvent(run_id="r", sequence=n, time=NOW, body=body) for n, body in enumerate(BODIES, 1)]
    path = tmp_path / "events.jsonl"
    path.write_text("".join(dumps(record_json(event)) + "\n\n" for event in events), "utf-8")
    assert list(read_events(path)) == events


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{", ":1:"),
        ("[]", "a RunEvent is an object"),
        ('{"run_id": "r"}', "lacks a member"),
        ('{"run_id": "r", "sequence": 1, "time": "yesterday"}', "time cannot be 'yesterday'"),
        (
            '{"run_id": "r", "sequence": 1, "time": "2026-03-10T08:00:00Z", "body": {"type": "unheard_of"}}',
            "unknown type 'unheard_of'",
        ),
        (
            '{"run_id": "r", "sequence": 1, "time": "2026-03-10", "body": {"type": "run_finished", "outcome": "fine"}}',
            "outcome cannot be 'fine'",
        ),
    ],
)
def test_a_line_that_is_no_event_is_named(tmp_path: Path, line: str, cause: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(line, "utf-8")
    with pytest.raises(InvalidRequest) as raised:
        list(read_events(path))
    assert cause in raised.value.message
    assert str(path) in raised.value.message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="No such file"):
        list(read_events(tmp_path / "none.jsonl"))
