"""Rules of what a person sees of a run."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from rich.console import Console

from taoloop.cli.run_view import RunView, field_words
from taoloop.cli.sources_text import source_words
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.model import (
    Binding,
    ContractValue,
    ContractValueKind,
    Convert,
    Generated,
    InputValue,
    Literal,
    PlanStep,
    QuerySpan,
    RequestClock,
    StatePath,
    StepOutput,
    Template,
    TemplatePart,
    ThoughtPlan,
)
from taoloop.plan.observing import CheckFailure, CheckVerdict, Drift, DriftKind, ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    InputRequired,
    ResultObserved,
    RunEvent,
    RunFinished,
    StepStarted,
    ThoughtMade,
)
from taoloop.plan.task import InputField, InputReason, Outcome
from taoloop.plan.thinking import Answer, Refusal, RefusalReason, ThinkResponse

FAULT = Fault(FaultCode.TOOL_TIMEOUT, FaultStage.ACTION, "It took too long.", suggestion="Try later.")
STEP = PlanStep(
    step_id="1.t2",
    tool="second",
    depends_on=("1.t1",),
    bindings=(Binding(pointer="/id", source=StepOutput(step_id="1.t1", pointer="/number"), value=7),),
)


def shown(body: Any) -> str:
    """Return what is printed for an event with this body."""
    written = io.StringIO()
    view = RunView(Console(file=written, highlight=False, soft_wrap=True))
    view.show(RunEvent(run_id="r", sequence=1, time=datetime(2026, 3, 10, tzinfo=UTC), body=body))
    return written.getvalue()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (QuerySpan(start=0, end=2, text="[b]"), 'the user\'s words "[b]"'),
        (StatePath(pointer="/a"), "the session state at /a"),
        (StepOutput(step_id="1.t1", pointer=""), "the result of 1.t1 at /"),
        (ContractValue(kind=ContractValueKind.DEFAULT, pointer="/p"), "the tool's own default"),
        (InputValue(input_id="i", pointer="/a"), "the given input at /a"),
        (RequestClock(), "the request's clock"),
        (Generated(text="x"), "text written by a model"),
        (Template(parts=(TemplatePart(source=Literal(text="x")),)), 'joined: the text "x"'),
        (None, "no source"),
    ],
)
def test_every_source_has_words(source: Any, words: str) -> None:
    assert source_words(Binding(pointer="/a", source=source)) == words


def test_a_conversion_is_told() -> None:
    binding = Binding(pointer="/a", source=RequestClock(), convert=Convert(to="date"))
    assert source_words(binding) == "the request's clock, read as date"


def test_a_plan_shows_each_step_and_where_each_argument_comes_from() -> None:
    text = shown(ThoughtMade(response=ThinkResponse(outcome=ThoughtPlan(steps=(STEP,)), iteration=1, planner="p/1")))
    assert "1 by p/1: 1 step(s)" in text
    assert "1.t2 second after 1.t1" in text
    assert "id ← the result of 1.t1 at /number = 7" in text


def test_amounts_keep_their_zeros_and_brackets_are_no_markup() -> None:
    text = shown(StepStarted(step_id="1.t1", tool="pay", arguments={"amount": Decimal("0.10"), "note": "[red]x"}))
    assert '{"amount":0.10,"note":"[red]x"}' in text


def test_a_failed_call_shows_status_and_fault() -> None:
    result = ActionResult(
        step_id="1.t1", tool="a", status=ActionStatus.TIMED_OUT, status_code=504, total_time_seconds=0.25, fault=FAULT
    )
    assert "1.t1 timed_out 504 in 250 ms TOOL_TIMEOUT: It took too long. Try later." in shown(
        ActionReturned(result=result)
    )


def test_a_rejected_result_shows_every_failed_check() -> None:
    failure = CheckFailure(
        stage="schema", rule_id="type", pointer="/a", verdict=CheckVerdict.FAIL, message="No.", actual="x", hard=True
    )
    text = shown(ResultObserved(result=ObservationResult(step_id="1.t1", valid=False, failures=(failure,))))
    assert "1.t1 not valid, confidence 0.00" in text
    assert 'schema type at /a: No. Found "x".' in text


def test_a_valid_result_shows_what_lowered_its_confidence_and_what_is_new() -> None:
    slow = CheckFailure(stage="latency", rule_id="max_latency", verdict=CheckVerdict.FAIL, message="Late.", hard=False)
    drift = Drift(kind=DriftKind.NEW_ENUM_VALUE, pointer="/state", value="LOST", in_data=False)
    observed = ObservationResult(step_id="1.t1", valid=True, confidence=0.8, failures=(slow,), drift=(drift,))
    text = shown(ResultObserved(result=observed))
    assert "1.t1 valid, confidence 0.80" in text
    assert "latency max_latency (soft): Late." in text
    assert 'never seen before: new enum value at /state of the body: "LOST"' in text


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (Answer(text="one\ntwo"), "two"),
        (
            ThoughtMade(response=ThinkResponse(outcome=Refusal(reason=RefusalReason.NO_TOOL, message="None."))),
            "no_tool",
        ),
        (RunFinished(outcome=Outcome.FAILED, fault=FAULT, duration_seconds=1.5), "FAILED in 1500 ms TOOL_TIMEOUT"),
        (InputRequired(input_id="i", fields=(InputField(pointer="/size", tool="a"),)), "size (of a, missing)"),
    ],
)
def test_what_happened_is_told(body: Any, part: str) -> None:
    assert part in shown(body)


def test_a_question_lists_what_would_be_accepted() -> None:
    field = InputField(
        pointer="/size", tool="a", reason=InputReason.AMBIGUOUS, candidates=("s", "m"), question="Which size?"
    )
    assert field_words(field) == "size (of a, ambiguous): Which size? One of: s, m."
