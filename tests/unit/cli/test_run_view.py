"""Rules of what a person sees of a run."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from rich.console import Console

from taoloop.cli.run_view import RunView, field_words
from taoloop.cli.sources_text import source_words
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, Provenance, ServedBy
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.model import (
    Binding,
    ContractValue,
    ContractValueKind,
    Convert,
    ForEach,
    Generated,
    InputValue,
    ItemValue,
    Literal,
    PlanStep,
    QuerySpan,
    Reasoning,
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
    ApprovalExpiring,
    ApprovalOutcome,
    ApprovalRequired,
    CorrectionMade,
    HandoverRequired,
    InputRequired,
    ItemsGathered,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunResumed,
    StepStarted,
    ThoughtMade,
)
from taoloop.plan.task import InputField, InputReason, Outcome, Usage
from taoloop.plan.thinking import Answer, AnswerOrigin, Refusal, RefusalReason, ThinkResponse
from taoloop.tools.signature import Trust

LATER = datetime(2026, 3, 11, tzinfo=UTC)
LEAVE = ApprovalOutcome(approval_id="a", decision=ApprovalDecision.APPROVED, decided_by="ana")
RESULT = ActionResult(step_id="1.t1", tool="a", status=ActionStatus.SUCCEEDED)
FAULT = Fault(FaultCode.TOOL_TIMEOUT, FaultStage.ACTION, "It took too long.", suggestion="Try later.")
STEP = PlanStep(
    step_id="1.t2",
    tool="second",
    depends_on=("1.t1",),
    bindings=(Binding(pointer="/id", source=StepOutput(step_id="1.t1", pointer="/number"), value=7),),
)


def shown(*bodies: Any, is_verbose: bool = False, host_epochs: tuple[int, ...] = ()) -> str:
    """Return what is printed for events with these bodies."""
    written = io.StringIO()
    view = RunView(Console(file=written, highlight=False, soft_wrap=True), is_verbose=is_verbose)
    for sequence, body in enumerate(bodies, 1):
        epoch = host_epochs[sequence - 1] if host_epochs else 1
        now = datetime(2026, 3, 10, tzinfo=UTC)
        view.show(RunEvent(run_id="r", sequence=sequence, time=now, host_epoch=epoch, body=body))
    return written.getvalue()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (QuerySpan(start=0, end=2, text="[b]"), 'the user\'s words "[b]"'),
        (StatePath(pointer="/a"), "the session state at /a"),
        (StepOutput(step_id="1.t1", pointer=""), "the result of 1.t1 at /"),
        (ContractValue(kind=ContractValueKind.DEFAULT, pointer="/p"), "the tool's own default"),
        (InputValue(input_id="i", pointer="/a"), "the given input at /a"),
        (ItemValue(pointer="/id"), "the item at /id"),
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


def test_a_plan_shows_for_what_and_on_which_condition_a_step_runs() -> None:
    items = ForEach(items=StepOutput(step_id="1.t1", pointer="/orders"))
    step = PlanStep(step_id="1.t2", tool="ship", for_each=items, when={"var": "steps.1.t1.is_open"})
    text = shown(ThoughtMade(response=ThinkResponse(outcome=ThoughtPlan(steps=(step,)), iteration=1, planner="p/1")))
    assert "1.t2 ship, for each of 1.t1/orders, if {" in text
    assert "steps.1.t1.is_open" in text


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
        (StepStarted(step_id="1.t1", tool="a", attempt=2), "1.t1 a  (attempt 2)"),
        (StepStarted(step_id="1.t1#2", tool="a", item_of="1.t1", item=2), "(item 2 of 1.t1)"),
        (StepStarted(step_id="1.t2", tool="a", same_as="1.t1"), "(the same call as 1.t1, made once)"),
        (ItemsGathered(step_id="1.t1", tool="a", items=3, failed=("1.t1#2",)), "3 item(s), failed: 1.t1#2"),
        (ActionReturned(result=replace(RESULT, served_by=ServedBy.CACHE)), "succeeded, from the cache"),
        (
            ActionReturned(result=replace(RESULT, served_by=ServedBy.FALLBACK, served_by_tool="b")),
            "succeeded, by b in its place",
        ),
        (
            ApprovalRequired(step_id="1.t1", tool="a", reason="Untrusted text (1.w) feeds /to.", expires_at=LATER),
            "until 2026-03-11T00:00:00+00:00\n           Untrusted text (1.w) feeds /to.",
        ),
        (ApprovalExpiring(step_id="1.t1", tool="a", expires_at=LATER), "lapses soon, until 2026-03-11"),
        (HandoverRequired(handover_id="h", step_id="1.t1", reason="Nobody knows."), "1.t1 to a person, handover h"),
        (RunResumed(reason="approval", approval=LEAVE), "approval approved by ana"),
        (Answer(text="one", origin=AnswerOrigin.FACTS, replaced=FAULT), "another text was replaced: TOOL_TIMEOUT"),
        (Answer(text="red \x1b[31m", origin=AnswerOrigin.MODEL), "red \\u001b[31m\n           worded by: model"),
    ],
)
def test_what_happened_is_told(body: Any, part: str) -> None:
    assert part in shown(body)


def test_a_correction_answers_the_three_questions() -> None:
    made = CorrectionMade(
        fault=FAULT,
        reaction="retry",
        step_id="1.t1",
        tool="a",
        is_transient=True,
        is_retry_useful=True,
        message="Once.",
    )
    assert "1.t1 a: retry. TOOL_TIMEOUT" in shown(made)
    assert "passes by itself: yes; the same again may help: yes; the user is told: no" in shown(made)


def test_another_host_that_goes_on_is_told_with_its_epoch() -> None:
    bodies = (Answer(text="one"), RunResumed(reason="take_over"), RunResumed(reason="input"))
    text = shown(*bodies, host_epochs=(1, 2, 3))
    assert text.count("another one goes on with the run, epoch 2") == 1
    assert "epoch 3" not in text


def test_verbose_shows_input_and_output_of_a_step_whole_and_exact() -> None:
    long = "x" * 5000
    source = Provenance(pointer="/id", source="step_output", step_id="1.t0", trust=Trust.UNTRUSTED)
    arguments: Any = {"id": 12345678901234567, "amount": Decimal("0.10"), "note": long}
    started = StepStarted(step_id="1.t1", tool="a", arguments=arguments, provenance=(source,))
    attempt = Attempt(start=datetime(2026, 3, 10, tzinfo=UTC), duration_seconds=0.25, outcome="answered", code=200)
    result = replace(
        RESULT, parsed={"total": Decimal("1.50"), "text": long}, attempts=(attempt,), response_time_seconds=0.25
    )
    verdict = ObservationResult(step_id="1.t1", tool="a", valid=True, data={"total": Decimal("1.50")}, confidence=1.0)
    text = shown(started, ActionReturned(result=result), ResultObserved(result=verdict), is_verbose=True)
    assert f'arguments: {{"id":12345678901234567,"amount":0.10,"note":"{long}"}}' in text
    assert "provenance[0]:" in text
    assert "step_id: 1.t0" in text
    assert f'parsed: {{"total":1.50,"text":"{long}"}}' in text
    assert "duration_seconds: 0.25" in text
    assert 'data: {"total":1.50}' in text
    assert "#2 at 2026-03-10T00:00:00+00:00" in text


def test_verbose_shows_raw_bytes_as_text_and_hidden_characters_as_escapes() -> None:
    hidden = "safe\u202edesrever\U000e0041\x1b[2J"
    text = shown(ActionReturned(result=replace(RESULT, raw=hidden.encode())), is_verbose=True)
    assert "raw: safe\\u202edesrever\\udb40\\udc41\\u001b[2J" in text
    assert "raw: base64 /w==" in shown(ActionReturned(result=replace(RESULT, raw=b"\xff")), is_verbose=True)


def test_what_a_terminal_would_obey_is_shown_as_escapes_on_every_line() -> None:
    evil, drawn = "\u202e\x9b31m\x1b[2J", "\\u202e\\u009b31m\\u001b[2J"
    fault = Fault(code=FaultCode.TOOL_ERROR, stage=FaultStage.ACTION, message=evil, candidates=(evil,))
    failure = CheckFailure(stage="hard", rule_id="r", verdict=CheckVerdict.FAIL, hard=True, message=evil, actual=evil)
    for body in (
        StepStarted(step_id="1.t1", tool="t", arguments={"a": evil}),
        ActionReturned(result=ActionResult(step_id="1.t1", tool="t", status=ActionStatus.FAILED, fault=fault)),
        ResultObserved(result=ObservationResult(step_id="1.t1", valid=False, exposed=[evil], failures=(failure,))),
        ApprovalRequired(step_id="1.t1", tool="t", arguments={"a": evil}, reason=evil),
        Answer(text=evil),
        RunFinished(outcome=Outcome.FAILED, fault=fault),
    ):
        text = shown(body)
        assert not set(evil[:2] + "\x1b") & set(text)
        assert drawn in text


def test_verbose_shows_what_a_thought_decided_and_consumed() -> None:
    usage = Usage(input_tokens=901, output_tokens=42)
    outcome = ThoughtPlan(steps=(STEP,), reasoning=Reasoning(why="It is asked for."))
    text = shown(ThoughtMade(response=ThinkResponse(outcome=outcome, usage=usage)), is_verbose=True)
    assert "why: It is asked for." in text
    assert "input_tokens: 901" in text
    assert "source: StepOutput" in text


def test_a_question_lists_what_would_be_accepted() -> None:
    field = InputField(
        pointer="/size", tool="a", reason=InputReason.AMBIGUOUS, candidates=("s", "m"), question="Which size?"
    )
    assert field_words(field) == "size (of a, ambiguous): Which size? One of: s, m."
