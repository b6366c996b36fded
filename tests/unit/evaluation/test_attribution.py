"""What failed runs are laid to, by hand-made logs of each kind of failure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.evaluation.attribution import (
    POINTS_ELSEWHERE,
    Attribution,
    FailureReport,
    Part,
    is_decisive,
    of_state,
    of_summary,
    part_of,
    says_enough,
)
from taoloop.loop.state import RunState
from taoloop.loop.steps.lost_calls import cut_off
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    EventBody,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunStarted,
    RunSummary,
    StepSkipped,
    StepStarted,
    ThoughtMade,
)
from taoloop.plan.task import Outcome
from taoloop.plan.thinking import ThinkResponse

NOW = datetime(2026, 3, 10, tzinfo=UTC)


def fault(code: str, stage: FaultStage, cause: str = "") -> Fault:
    return Fault(code=code, stage=stage, message="It went wrong.", cause_step_id=cause)


def state_of(*bodies: EventBody) -> RunState:
    whole = (RunStarted(), *bodies)
    events = [RunEvent(run_id="r", sequence=n, time=NOW, body=body) for n, body in enumerate(whole, 1)]
    return RunState.from_events("r", events)


def ended(outcome: Outcome, found: Fault | None = None) -> RunFinished:
    return RunFinished(outcome=outcome, fault=found)


def failed_step(step_id: str, tool: str, found: Fault) -> tuple[EventBody, ...]:
    step = PlanStep(step_id=step_id, tool=tool)
    action = ActionResult(step_id=step_id, tool=tool, status=ActionStatus.FAILED, fault=found)
    verdict = ObservationResult(step_id=step_id, tool=tool, valid=False, fault=found)
    return (
        ThoughtMade(response=ThinkResponse(outcome=ThoughtPlan(steps=(step,)))),
        ActionReturned(result=action),
        ResultObserved(result=verdict),
    )


TIMEOUT = fault("TOOL_TIMEOUT", FaultStage.ACTION)
SCHEMA = fault("SCHEMA_VIOLATION", FaultStage.OBSERVATION)


@pytest.mark.parametrize(
    ("bodies", "part", "code", "tool"),
    [
        ([ended(Outcome.FAILED, fault("PARSE_FAILED", FaultStage.PLAN))], "planning", "PARSE_FAILED", ""),
        ([ended(Outcome.FAILED, fault("INVALID_PARAMETER", FaultStage.POLICY))], "planning", "INVALID_PARAMETER", ""),
        ([*failed_step("1.a", "pay", TIMEOUT), ended(Outcome.FAILED, TIMEOUT)], "tool", "TOOL_TIMEOUT", "pay"),
        ([*failed_step("1.a", "pay", SCHEMA), ended(Outcome.FAILED, SCHEMA)], "observation", "SCHEMA_VIOLATION", "pay"),
        ([ended(Outcome.FAILED, fault("SCHEMA_VIOLATION", FaultStage.ANSWER))], "answer", "SCHEMA_VIOLATION", ""),
        ([ended(Outcome.FAILED, fault("ANSWER_UNGROUNDED", FaultStage.ANSWER))], "answer", "ANSWER_UNGROUNDED", ""),
        ([ended(Outcome.NO_TOOL, fault("NO_TOOL", FaultStage.PLAN))], "no_tool", "NO_TOOL", ""),
        ([ended(Outcome.FAILED, fault("MISSING_USER_QUERY", FaultStage.PLAN))], "request", "MISSING_USER_QUERY", ""),
        ([ended(Outcome.LIMIT_REACHED, fault("LOOP_DETECTED", FaultStage.LOOP))], "limit", "LOOP_DETECTED", ""),
        ([ended(Outcome.FAILED, fault("APPROVAL_REJECTED", FaultStage.ACTION))], "person", "APPROVAL_REJECTED", ""),
        (
            [ended(Outcome.FAILED, fault("SERVICE_UNAVAILABLE", FaultStage.LOOP))],
            "deployment", "SERVICE_UNAVAILABLE", "",
        ),
        ([ended(Outcome.FAILED, fault("CARD_DECLINED", FaultStage.ACTION))], "tool", "CARD_DECLINED", ""),
        ([ended(Outcome.FAILED)], "other", "", ""),
        (
            [
                *failed_step("1.a", "find", TIMEOUT),
                StepSkipped(
                    step_id="1.b", tool="pay", fault=fault("UPSTREAM_STEP_FAILED", FaultStage.LOOP, cause="1.a")
                ),
                ended(Outcome.FAILED, fault("UPSTREAM_STEP_FAILED", FaultStage.LOOP, cause="1.a")),
            ],
            "tool", "TOOL_TIMEOUT", "find",
        ),
        (
            [
                *failed_step("1.a", "find", SCHEMA),
                ended(Outcome.NEEDS_HUMAN, fault("DECISION_BY_PERSON_NEEDED", FaultStage.LOOP)),
            ],
            "observation", "SCHEMA_VIOLATION", "find",
        ),
        (
            [ended(Outcome.NEEDS_HUMAN, fault("DECISION_BY_PERSON_NEEDED", FaultStage.PLAN))],
            "planning", "DECISION_BY_PERSON_NEEDED", "",
        ),
    ],
)  # fmt: skip
def test_each_kind_of_failure_is_laid_to_its_part(bodies: Any, part: str, code: str, tool: str) -> None:
    assert of_state(state_of(*bodies)) == Attribution(run_id="r", part=Part(part), code=code, tool=tool)


@pytest.mark.parametrize("is_read", [True, False])
def test_a_run_whose_time_was_up_names_the_tool_that_was_under_way(is_read: bool) -> None:
    up = fault("LIMIT_REACHED", FaultStage.LOOP)
    steps = tuple(PlanStep(step_id=f"1.{tool}", tool=tool) for tool in ("find", "pay"))
    begun = state_of(
        ThoughtMade(response=ThinkResponse(outcome=ThoughtPlan(steps=steps))),
        StepStarted(step_id="1.find", tool="find"),
        ActionReturned(result=ActionResult(step_id="1.find", tool="find", status=ActionStatus.SUCCEEDED)),
        ResultObserved(result=ObservationResult(step_id="1.find", tool="find", valid=True)),
        StepStarted(step_id="1.pay", tool="pay"),
    )
    cut = cut_off(begun, lambda _: is_read, up)
    last: tuple[EventBody, ...] = (*cut, RunFinished(outcome=Outcome.LIMIT_REACHED, fault=up))
    for number, body in enumerate(last, begun.last_sequence + 1):
        begun.apply(RunEvent(run_id="r", sequence=number, time=NOW, body=body))

    assert of_state(begun) == Attribution(run_id="r", part=Part.LIMIT, code="LIMIT_REACHED", tool="pay")
    assert not says_enough(begun.summary())


@pytest.mark.parametrize(
    "outcome", [Outcome.ANSWERED, Outcome.CANCELLED, Outcome.NEEDS_INPUT, Outcome.NEEDS_APPROVAL, None]
)
def test_a_run_that_may_still_succeed_or_was_not_wanted_is_no_failure(outcome: Outcome | None) -> None:
    assert of_state(state_of(RunFinished(outcome=outcome))) is None
    assert of_summary(RunSummary(run_id="r", outcome=outcome)) is None
    assert of_state(state_of()) is None


def test_a_summary_says_as_much_as_the_events_where_its_fault_is_decisive() -> None:
    summary = RunSummary(run_id="r", outcome=Outcome.FAILED, fault=TIMEOUT)
    assert is_decisive(summary.fault)
    assert of_summary(summary) == Attribution(run_id="r", part=Part.TOOL, code="TOOL_TIMEOUT")
    assert not is_decisive(fault("UPSTREAM_STEP_FAILED", FaultStage.LOOP, cause="1.a"))


def test_every_code_has_its_part() -> None:
    unplaced = [
        code
        for code in FaultCode
        if code not in POINTS_ELSEWHERE
        and part_of(Fault(code=code, stage="nowhere", message="")) is Part.OTHER
        and code is not FaultCode.CANCELLED
    ]
    assert unplaced == []


def test_the_report_counts_shares_codes_and_examples() -> None:
    report = FailureReport()
    laid = [(Part.PLANNING, "PARSE_FAILED")] * 61 + [(Part.TOOL, "TOOL_TIMEOUT")] * 17 + [(Part.ANSWER, "X")] * 22
    for number, (part, code) in enumerate(laid):
        report.add(Attribution(run_id=f"r{number}", part=part, code=code, tool="find" if part is Part.TOOL else ""))
    for _ in range(300):
        report.add(None)
    assert (report.runs, report.failed) == (400, 100)
    assert [(part.value, row.count) for part, row in report.ordered()] == [
        ("planning", 61),
        ("answer", 22),
        ("tool", 17),
    ]
    assert report.share(Part.PLANNING) == 0.61
    assert report.share(Part.LIMIT) == 0.0
    assert report.rows[Part.TOOL].codes.most_common(1) == [("TOOL_TIMEOUT", 17)]
    assert report.rows[Part.TOOL].tools == {"find": 17}
    assert report.rows[Part.PLANNING].examples == ["r0", "r1", "r2", "r3", "r4"]
