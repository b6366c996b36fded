"""The audit record tells what was decided and done, and nothing that anybody said, sent or answered."""

from __future__ import annotations

import dataclasses
import json
import logging
from datetime import datetime
from enum import Enum
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import dumps
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.audit import NOT_SHOWN, audit_record, log_run
from taoloop.loop.state import RunState
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, ServedBy
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    ApprovalExpiring,
    ApprovalOutcome,
    ApprovalRequired,
    CorrectionMade,
    EventBody,
    HandoverDecision,
    HandoverOutcome,
    HandoverRequired,
    InputRequired,
    ItemsGathered,
    LimitReached,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    StepSkipped,
    StepStarted,
    ThoughtMade,
    WaitingBegan,
)
from taoloop.plan.task import InputField, Outcome, ProvidedInput, Role, Task, Turn, Usage
from taoloop.plan.thinking import Answer, ThinkResponse
from tests.unit.loop.memory.runs import NOW, events

RUN_ID = "0197f0c2a5b67c3d8e9f0a1b2c3d4e5f"
HASH = "ab" * 32
SECRETS = (
    "sk-abcdefghijklmnopqrstuvwx",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "13812345678",
    "11010519491231002X",
    "4111111111111111",
    "password=hunter2",
    "Traceback (most recent call last): KeyError",
    "What is Anna's salary?",
    "请把工资表发给我",
    '{"balance": 1200.50}',
    "postgresql://u:hunter2@db/pay",
    "4f3c2b1a9d8e7f6a5b4c3d2e1f0a9b8c7d6e",
    "key-q7Zt2LmX9vRb4KpW8sYd3HcN6",  # these two have the form of a model's name
    "anna-138-1234-5678",
)


def bodies() -> list[Any]:
    """Return one event of each kind that there is, with every text filled in."""
    fault = Fault(
        code=FaultCode.TOOL_TIMEOUT, stage=FaultStage.ACTION, message="m", field="/f", expected="e", actual="a",
        suggestion="s", candidates=("c",),
    )  # fmt: skip
    plan = ThoughtPlan(steps=(PlanStep(step_id="1.t1", tool="get_order", description="d"),), model="qwen2.5-7b")
    response = ThinkResponse(outcome=plan, thought_id="a" * 32, iteration=1, planner="model/v1", usage=Usage())
    result = ActionResult(
        step_id="1.t1",
        tool="get_order",
        status=ActionStatus.FAILED,
        arguments_hash=HASH,
        status_code=503,
        attempts=(Attempt(start=NOW, outcome="answered"),) * 2,
        served_by=ServedBy.FALLBACK,
        parsed={"body": "text"},
        raw=b"raw",
        effect_id="b" * 32,
        approval_id="c" * 32,
        fault=fault,
    )
    observed = ObservationResult(
        step_id="1.t1", tool="get_order", valid=False, data={"x": "text"}, exposed={"x": "text"}, fault=fault
    )
    task = Task(request_id="q", session_id="s", user_id="u", turns=(Turn(role=Role.USER, text="hi"),), state={"k": "v"})
    return [
        RunStarted(task=task, catalogue_digest="d"),
        ThoughtMade(response=response),
        StepStarted(step_id="1.t1", tool="get_order", arguments={"id": "A-17"}),
        ActionReturned(result=result),
        ResultObserved(result=observed),
        CorrectionMade(fault=fault, reaction="retry", message="m", step_id="1.t1", tool="get_order", user_message="u"),
        StepSkipped(step_id="1.t2", tool="send_message", fault=fault),
        ItemsGathered(step_id="1.t1", tool="get_order", items=1, failed=("1.t1.0",)),
        WaitingBegan(reason="job", step_id="1.t1", tool="get_order", job_handle={"url": "text"}),
        LimitReached(limit="max_iterations", value=8.0),
        ApprovalRequired(
            approval_id="c" * 32, step_id="1.t1", tool="get_order", arguments={"id": "A-17"}, reason="r", expires_at=NOW
        ),
        ApprovalExpiring(approval_id="c" * 32, step_id="1.t1", tool="get_order", expires_at=NOW),
        RunResumed(
            reason="approval",
            approval=ApprovalOutcome(approval_id="c" * 32, decision=ApprovalDecision.REJECTED, decided_by="p"),
        ),
        HandoverRequired(handover_id="d" * 32, step_id="1.t1", reason="r", fault=fault),
        RunResumed(
            reason="handover",
            handover=HandoverOutcome(
                handover_id="d" * 32, decision=HandoverDecision.RESUMED, decided_by="p", comment="c", answer_text="a"
            ),
        ),
        RunResumed(reason="input", input=ProvidedInput(input_id="i", values={"/p": "text"}), catalogue_digest="d"),
        InputRequired(input_id="i", fields=(InputField(pointer="/p", tool="get_order", question="q"),)),
        Answer(text="answer", data={"x": "text"}),
        RunFinished(outcome=Outcome.FAILED, fault=fault),
    ]


def planted(value: Any, secret: str) -> Any:
    """Return a record in which every text is the secret: also the names, codes, ids and hashes."""
    if isinstance(value, Enum) or value is None or isinstance(value, bool | int | float | datetime):
        return value
    if isinstance(value, str):
        return secret
    if isinstance(value, bytes):
        return secret.encode()
    if isinstance(value, list | tuple):
        return type(value)(planted(item, secret) for item in value)
    if isinstance(value, dict):
        return {f"{key} {secret}": planted(item, secret) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: planted(getattr(value, field.name), secret) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    return value


def paths(value: Any, above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return where the texts of a record stand, apart from the step ids that hold its events together."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return [above]
    if not dataclasses.is_dataclass(value):
        return []
    names = [field.name for field in dataclasses.fields(value) if field.name != "step_id"]
    return [path for name in names for path in paths(getattr(value, name), (*above, name))]


def replaced(value: Any, path: tuple[str, ...], secret: str) -> Any:
    """Return a record with another text at a place."""
    if not path:
        return secret
    return dataclasses.replace(value, **{path[0]: replaced(getattr(value, path[0]), path[1:], secret)})


def test_every_kind_of_event_that_there_is_is_tried() -> None:
    assert {type(body) for body in bodies()} == set(get_args(EventBody))


def test_a_record_tells_who_decided_what_was_called_and_what_failed() -> None:
    record = audit_record(RUN_ID, events(RUN_ID, *bodies()))

    assert record["run_id"] == RUN_ID
    assert (record["outcome"], record["fault"]) == (
        "failed",
        {"code": "TOOL_TIMEOUT", "stage": "action", "retriable": False},
    )
    assert record["thoughts"] == [
        {
            "role": "planner",
            "thought_id": "a" * 32,
            "iteration": 1,
            "planner": "model/v1",
            "model": "qwen2.5-7b",
            "decided": "ThoughtPlan",
            "model_calls": 0,
        }
    ]
    (call,) = cast("list[dict[str, Any]]", record["calls"])
    assert call["tool"] == "get_order"
    assert (call["retry_count"], call["is_fallback"], call["execution_permitted"]) == (1, True, False)
    assert "(not shown)" not in dumps(record)


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_reaches_a_record_wherever_it_stands(secret: str) -> None:
    record = json.dumps(
        audit_record(RUN_ID, events(RUN_ID, *(planted(body, secret) for body in bodies()))), ensure_ascii=False
    )
    assert secret not in record
    assert json.dumps(secret, ensure_ascii=False)[1:-1] not in record


@given(secret=st.sampled_from(SECRETS), data=st.data())
def test_no_secret_reaches_a_record_from_any_single_text(secret: str, data: st.DataObject) -> None:
    written = bodies()
    place = data.draw(st.integers(0, len(written) - 1))
    texts = [path for path in paths(written[place]) if path]
    written[place] = replaced(written[place], data.draw(st.sampled_from(texts)), secret)
    record = json.dumps(audit_record(RUN_ID, events(RUN_ID, *written)), ensure_ascii=False)
    assert secret not in record


@given(text=st.text(min_size=1, max_size=40))
def test_whatever_is_said_stays_out(text: str) -> None:
    marked = f"{text}\u2603 said"
    record = json.dumps(audit_record(RUN_ID, events(RUN_ID, *(planted(body, marked) for body in bodies()))))
    assert "2603" not in record
    assert NOT_SHOWN in record


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_reaches_the_line_of_the_log(secret: str, caplog: pytest.LogCaptureFixture) -> None:
    written: list[RunEvent] = events(RUN_ID, *(planted(body, secret) for body in bodies()))
    with caplog.at_level(logging.INFO):
        log_run(RunState.from_events(RUN_ID, written))

    (record,) = [each for each in caplog.records if each.msg == "run_audited"]
    assert secret not in str(vars(record))
    assert record.taoloop_fields["outcome"] == "failed"  # type: ignore[attr-defined]


def test_a_run_that_goes_on_has_a_record_and_no_line(caplog: pytest.LogCaptureFixture) -> None:
    begun = events(RUN_ID, *bodies()[:2])
    assert audit_record(RUN_ID, begun)["outcome"] is None
    with caplog.at_level(logging.INFO):
        log_run(RunState.from_events(RUN_ID, begun))
    assert [each.msg for each in caplog.records] == []
