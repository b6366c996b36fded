"""The planner from a request to its decision, on the catalogue of a small library."""

import string
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.check import CheckContext, check_plan
from taoloop.plan.model import ContractValue, QuerySpan, StatePath, StepOutput, ThoughtPlan
from taoloop.plan.resolve import Resolution, ResolveContext, resolve_step
from taoloop.plan.task import InputReason, Permissions, ProvidedInput, Role, ToolAvailability, Turn
from taoloop.plan.thinking import (
    Answer,
    CompletedStep,
    Escalation,
    NeedInput,
    Refusal,
    RefusalReason,
    ThinkRequest,
)
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import Effect
from taoloop.values.conversions import ConversionContext

Ask = Callable[..., ThinkRequest]


def _calls(outcome: object) -> list[tuple[str, dict[str, Any]]]:
    assert isinstance(outcome, ThoughtPlan), outcome
    return [
        (
            step.tool,
            {
                binding.pointer[1:]: f"<{binding.source.step_id}{binding.source.pointer}>"
                if isinstance(binding.source, StepOutput)
                else binding.value
                for binding in step.bindings
            },
        )
        for step in outcome.steps
    ]


LOANS = {"reader_id": "RD-10442", "period": "2026-02-01~2026-02-28"}


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("读者 RD-10442 上个月借了哪些书？", [("list_loans", LOANS)]),
        ("Which books has RD-10442 borrowed last month?", [("list_loans", LOANS)]),
        ("明天城北分馆几点开门？", [("opening_hours", {"branch": "城北", "day": "2026-03-11"})]),
        ("When does the north branch open tomorrow?", [("opening_hours", {"branch": "North", "day": "2026-03-11"})]),
        ("书号 9787506365437 在哪个书架？", [("find_copy", {"isbn": 9787506365437})]),
        ("van route from B2 to A1", [("transfer_route", {"from_depot": "B2", "to_depot": "A1"})]),
        (
            'Send the note "Your book is here" to ann@example.org',
            [("notify_reader", {"email": "ann@example.org", "text": "Your book is here"})],
        ),
    ],
)
def test_one_clause_becomes_one_call(planner: GraphPlanner, ask: Ask, text: str, calls: Any) -> None:
    assert _calls(planner.plan(ask(text)).outcome) == calls


@pytest.mark.parametrize(
    "text",
    [
        "查邮箱 ann@example.org 的读者，然后查他上个月的借阅记录",
        "Find the reader with the address ann@example.org, then list the loans of last month",
        # Nobody asks who the reader is: the missing number has a producer.
        "邮箱 ann@example.org 的读者上个月借了哪些书？",
    ],
)
def test_a_missing_value_comes_from_the_result_of_another_call(planner: GraphPlanner, ask: Ask, text: str) -> None:
    outcome = planner.plan(ask(text)).outcome
    assert _calls(outcome) == [
        ("find_reader", {"email": "ann@example.org"}),
        ("list_loans", {"reader_id": "<1.t1/reader_id>", "period": "2026-02-01~2026-02-28"}),
    ]
    assert isinstance(outcome, ThoughtPlan)
    assert [(step.step_id, step.depends_on) for step in outcome.steps] == [("1.t1", ()), ("1.t2", ("1.t1",))]


def test_a_list_of_two_values_becomes_two_calls(planner: GraphPlanner, ask: Ask) -> None:
    outcome = planner.plan(ask("查 9787506365437 和 9787020002207 的馆藏")).outcome
    assert [arguments["isbn"] for _, arguments in _calls(outcome)] == [9787506365437, 9787020002207]


def test_a_value_said_once_serves_two_calls(planner: GraphPlanner, ask: Ask) -> None:
    text = "When does the North branch open tomorrow, and then when does the South branch open?"
    days = [arguments["day"] for tool, arguments in _calls(planner.plan(ask(text)).outcome)]
    assert days == ["2026-03-11", "2026-03-11"]


def test_a_missing_value_without_a_source_is_asked_for_alone(planner: GraphPlanner, ask: Ask) -> None:
    outcome = planner.plan(ask("上个月借了哪些书？")).outcome
    assert isinstance(outcome, NeedInput)
    (field,) = outcome.fields
    assert (field.tool, field.pointer, field.reason) == ("list_loans", "/reader_id", InputReason.MISSING)
    assert field.question.startswith("请提供")
    assert field.schema["pattern"] == "^RD-[0-9]{5}$"  # type: ignore[index,call-overload]


def test_the_name_of_a_question_depends_on_the_question_alone(planner: GraphPlanner, ask: Ask) -> None:
    first, second = (planner.plan(ask(text)).outcome for text in ("上个月借了哪些书？", "查上个月的借阅记录"))
    assert isinstance(first, NeedInput)
    assert isinstance(second, NeedInput)
    assert first.input_id == second.input_id
    assert len(first.input_id) == 32


@pytest.mark.parametrize("key", ["reader_id", "/reader_id"])
def test_an_answer_fills_the_parameter_that_was_asked_for(planner: GraphPlanner, ask: Ask, key: str) -> None:
    given = ProvidedInput(input_id="q", values={key: "RD-10442"})
    outcome = planner.plan(ask("上个月借了哪些书？", iteration=2, inputs=(given,))).outcome
    assert _calls(outcome) == [("list_loans", LOANS)]


def test_an_answer_that_breaks_the_schema_is_asked_for_again(planner: GraphPlanner, ask: Ask) -> None:
    given = ProvidedInput(input_id="q", values={"reader_id": "nobody"})
    outcome = planner.plan(ask("上个月借了哪些书？", iteration=2, inputs=(given,))).outcome
    assert isinstance(outcome, NeedInput)
    assert outcome.fields[0].reason is InputReason.INVALID


def test_words_in_an_answer_are_converted(planner: GraphPlanner, ask: Ask) -> None:
    given = ProvidedInput(input_id="q", values={"day": "明天"})
    outcome = planner.plan(ask("城北分馆几点开门？", iteration=2, inputs=(given,))).outcome
    assert _calls(outcome) == [("opening_hours", {"branch": "城北", "day": "2026-03-11"})]


def test_a_session_entry_of_the_same_name_fills_a_required_parameter(planner: GraphPlanner, ask: Ask) -> None:
    outcome = planner.plan(ask("上个月借了哪些书？", state={"reader_id": "RD-10442"})).outcome
    assert _calls(outcome) == [("list_loans", LOANS)]
    assert isinstance(outcome, ThoughtPlan)
    assert StatePath(pointer="/reader_id") in [binding.source for binding in outcome.steps[0].bindings]


def test_words_of_the_request_go_before_the_session(planner: GraphPlanner, ask: Ask) -> None:
    text = "读者 RD-10442 上个月借了哪些书？"
    assert _calls(planner.plan(ask(text, state={"reader_id": "RD-99999"})).outcome) == [("list_loans", LOANS)]


def test_a_session_entry_that_breaks_the_schema_is_not_used(planner: GraphPlanner, ask: Ask) -> None:
    assert isinstance(planner.plan(ask("上个月借了哪些书？", state={"reader_id": 7})).outcome, NeedInput)


def test_days_that_the_request_does_not_name_are_those_of_the_plan_before(planner: GraphPlanner, ask: Ask) -> None:
    state = {"reader_id": "RD-10442", "date_range": LOANS["period"]}
    again = planner.plan(ask("借了哪些书？", state=state)).outcome
    assert _calls(again) == [("list_loans", LOANS)]
    assert isinstance(again, ThoughtPlan)
    assert StatePath(pointer="/date_range") in [binding.source for binding in again.steps[0].bindings]

    named = planner.plan(ask("上个月借了哪些书？", state={**state, "date_range": "2020-01-01~2020-01-31"})).outcome
    assert _calls(named) == [("list_loans", LOANS)]


FOLLOWED = {"reader_id": "RD-10442", "user_intent": "list_loans", "date_range": "2020-01-01~2020-01-31"}


@pytest.mark.parametrize("text", ["那2月呢？", "2月的呢", "那二月份呢", "And in February?", "What about last month?"])
def test_a_follow_up_that_only_names_days_is_about_what_the_plan_before_did(
    planner: GraphPlanner, ask: Ask, text: str
) -> None:
    assert _calls(planner.plan(ask(text, state=FOLLOWED)).outcome) == [("list_loans", LOANS)]


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("那2月呢？", {"reader_id": "RD-10442"}),
        ("那2月呢？", {**FOLLOWED, "user_intent": "no_such_tool"}),
        ("那2月呢？", {**FOLLOWED, "user_intent": 7}),
        ("那2月的诗呢？", FOLLOWED),
        ("谢谢", FOLLOWED),
        ("？", FOLLOWED),
    ],
)
def test_what_says_more_or_follows_nothing_is_no_follow_up(
    planner: GraphPlanner, ask: Ask, text: str, state: dict[str, JsonValue]
) -> None:
    assert not isinstance(planner.plan(ask(text, state=state)).outcome, ThoughtPlan)


@pytest.mark.parametrize("text", ["写一首关于大海的诗", "Translate this page into French", "😀😀", "12345678", "？"])
def test_what_no_tool_serves_is_refused(planner: GraphPlanner, ask: Ask, text: str) -> None:
    outcome = planner.plan(ask(text)).outcome
    assert isinstance(outcome, Refusal)
    assert outcome.reason is RefusalReason.NO_TOOL


@pytest.mark.parametrize("text", ["Cancel the loans of RD-10442 of last month", "删除读者 RD-10442 上个月的借阅记录"])
def test_a_change_that_no_tool_makes_is_not_answered_by_looking_up(planner: GraphPlanner, ask: Ask, text: str) -> None:
    outcome = planner.plan(ask(text)).outcome
    assert isinstance(outcome, Refusal)
    assert outcome.reason is RefusalReason.NO_TOOL


def test_a_request_without_words_is_refused(planner: GraphPlanner, ask: Ask) -> None:
    outcome = planner.plan(ask("  ")).outcome
    assert isinstance(outcome, Refusal)
    assert outcome.reason is RefusalReason.MISSING_USER_QUERY


@pytest.mark.parametrize("text", ["Reserve the copy C100200 for tomorrow", "帮我预约馆藏 C100200，明天取书"])
def test_a_write_beyond_the_permission_is_refused_and_nothing_else_is_done(
    planner: GraphPlanner, ask: Ask, text: str
) -> None:
    outcome = planner.plan(ask(text, max_effect=Effect.READ)).outcome
    assert isinstance(outcome, Refusal)
    assert outcome.reason is RefusalReason.NOT_ALLOWED
    assert [fault.code for fault in outcome.faults] == [FaultCode.EFFECT_NOT_ALLOWED]
    assert _calls(planner.plan(ask(text)).outcome) == [
        ("reserve_copy", {"copy_id": "C100200", "pick_up_on": "2026-03-11"})
    ]


def test_a_tool_that_is_not_listed_is_refused_when_it_is_what_was_asked_for(planner: GraphPlanner, ask: Ask) -> None:
    outcome = planner.plan(ask("读者 RD-10442 上个月借了哪些书？", allowed_tools=("opening_hours",))).outcome
    assert isinstance(outcome, Refusal)
    assert [fault.code for fault in outcome.faults] == [FaultCode.TOOL_NOT_ALLOWED]


def test_a_tool_that_cannot_be_called_now_is_not_replaced_by_another(planner: GraphPlanner, ask: Ask) -> None:
    away = (ToolAvailability(tool="list_loans", available=False, reason="breaker_open"),)
    outcome = planner.plan(ask("读者 RD-10442 上个月借了哪些书？", availability=away)).outcome
    assert isinstance(outcome, Refusal)
    assert [(fault.code, fault.retriable) for fault in outcome.faults] == [(FaultCode.TOOL_UNAVAILABLE, True)]


def test_a_producer_that_may_not_be_called_is_no_source(planner: GraphPlanner, ask: Ask) -> None:
    text = "邮箱 ann@example.org 的读者上个月借了哪些书？"
    outcome = planner.plan(ask(text, allowed_tools=("list_loans",))).outcome
    assert isinstance(outcome, NeedInput)


def test_a_step_that_succeeded_before_is_not_planned_again(planner: GraphPlanner, ask: Ask) -> None:
    done = CompletedStep(
        step_id="1.t1",
        tool="find_reader",
        arguments={"email": "ann@example.org"},
        exposed={"reader_id": "RD-10442"},
    )
    text = "查邮箱 ann@example.org 的读者，然后查他上个月的借阅记录"
    outcome = planner.plan(ask(text, iteration=2, completed=(done,))).outcome
    assert _calls(outcome) == [("list_loans", {"reader_id": "<1.t1/reader_id>", "period": "2026-02-01~2026-02-28"})]


def test_when_every_step_succeeded_the_facts_are_the_answer(planner: GraphPlanner, ask: Ask) -> None:
    done = CompletedStep(step_id="1.t1", tool="list_loans", arguments=dict(LOANS), exposed={"count": 3})
    outcome = planner.plan(ask("读者 RD-10442 上个月借了哪些书？", iteration=2, completed=(done,))).outcome
    assert isinstance(outcome, Answer)
    assert (outcome.text, outcome.data) == ("count: 3", {"count": 3})


def _failed(code: FaultCode, *, retriable: bool = False, **arguments: Any) -> CompletedStep:
    fault = Fault(code=code, stage=FaultStage.ACTION, message="It failed.", retriable=retriable)
    return CompletedStep(step_id="1.t1", tool="find_copy", arguments=arguments, fault=fault)


COPY_QUESTION = "书号 9787506365437 在哪个书架？"


def test_a_key_that_nobody_knows_is_asked_for_again(planner: GraphPlanner, ask: Ask) -> None:
    failed = _failed(FaultCode.NOT_FOUND, isbn=9787506365437)
    outcome = planner.plan(ask(COPY_QUESTION, iteration=2, completed=(failed,))).outcome
    assert isinstance(outcome, NeedInput)
    assert (outcome.fields[0].pointer, outcome.fields[0].reason) == ("/isbn", InputReason.INVALID)


def test_a_call_that_would_fail_again_is_handed_over(planner: GraphPlanner, ask: Ask) -> None:
    failed = _failed(FaultCode.SCHEMA_VIOLATION, isbn=9787506365437)
    outcome = planner.plan(ask(COPY_QUESTION, iteration=2, completed=(failed,))).outcome
    assert isinstance(outcome, Escalation)


def test_a_failure_that_may_pass_is_tried_again(planner: GraphPlanner, ask: Ask) -> None:
    failed = _failed(FaultCode.TOOL_TIMEOUT, retriable=True, isbn=9787506365437)
    assert _calls(planner.plan(ask(COPY_QUESTION, iteration=2, completed=(failed,))).outcome)


def test_a_failed_step_is_no_source(planner: GraphPlanner, ask: Ask) -> None:
    failed = _failed(FaultCode.TOOL_TIMEOUT, retriable=True, isbn=9787506365437)
    outcome = planner.plan(ask("预约馆藏，明天取书", iteration=2, completed=(failed,))).outcome
    assert isinstance(outcome, NeedInput)
    assert outcome.fields[0].pointer == "/copy_id"


def test_spans_are_code_points_of_the_stored_turn(planner: GraphPlanner, ask: Ask) -> None:
    outcome = planner.plan(ask("😀 读者 RD-10442 上个月借了哪些书？")).outcome
    assert isinstance(outcome, ThoughtPlan)
    spans = [binding.source for binding in outcome.steps[0].bindings]
    assert spans == [
        QuerySpan(turn=0, start=14, end=17, text="上个月"),
        QuerySpan(turn=0, start=5, end=13, text="RD-10442"),
    ]


def test_another_case_of_a_listed_value_points_at_the_contract(planner: GraphPlanner, ask: Ask) -> None:
    outcome = planner.plan(ask("When does the NORTH branch open tomorrow?")).outcome
    assert isinstance(outcome, ThoughtPlan)
    source = outcome.steps[0].bindings[0].source
    assert isinstance(source, ContractValue)
    assert source.pointer == "/properties/branch/enum/0"


def test_the_snapshot_holds_the_intent_and_the_days(planner: GraphPlanner, ask: Ask) -> None:
    outcome = planner.plan(ask("读者 RD-10442 上个月借了哪些书？")).outcome
    assert isinstance(outcome, ThoughtPlan)
    assert outcome.state_snapshot == {"user_intent": "list_loans", "date_range": "2026-02-01~2026-02-28"}
    assert outcome.steps[0].uses_snapshot == ("date_range",)


def test_the_reasoning_names_parameters_and_never_values(planner: GraphPlanner, ask: Ask) -> None:
    reply = planner.plan(ask("读者 RD-10442 上个月借了哪些书？"))
    assert "list_loans/reader_id from request" in reply.reasoning.known
    assert "RD-10442" not in repr(reply.reasoning)


def test_the_same_request_gives_the_same_reply(catalogue: Catalogue, planner: GraphPlanner, ask: Ask) -> None:
    request = ask("查邮箱 ann@example.org 的读者，然后查他上个月的借阅记录")
    assert planner.plan(request) == GraphPlanner(catalogue).plan(request)


def test_the_last_turn_of_the_user_is_the_request(planner: GraphPlanner) -> None:
    turns = (
        Turn(role=Role.USER, text="写一首诗"),
        Turn(role=Role.ASSISTANT, text="城南分馆几点开门？"),
        Turn(role=Role.USER, text="书号 9787506365437 在哪个书架？"),
        Turn(role=Role.ASSISTANT, text="好"),
    )
    outcome = planner.plan(ThinkRequest(run_id="0" * 32, iteration=1, turns=turns)).outcome
    assert isinstance(outcome, ThoughtPlan)
    assert outcome.steps[0].bindings[0].source == QuerySpan(turn=2, start=3, end=16, text="9787506365437")


NOISE = """
查|读者|借阅|，然后| and then |。|reserve |the copy |C100200|RD-10442| 和 |、|RD-10443
明天|上个月|Monday|2026-02-30|North |城北|9787506365437|ann@example.org|a@b@c|“hi”
from |to |A1 |B2 |😀|ﬁ|İ|９|weeks 3 |when does the branch open|van route|send a note
"""
PIECES = st.sampled_from([*NOISE.split("|"), "\x00", "\ud800", "\u200b", "e\u0301", "\n", "'", '"'])
CLAUSES = st.sampled_from(
    [
        "读者 RD-10442 上个月借了哪些书",
        "When does the North branch open tomorrow",
        "van route from B2 to A1",
        'Send the note "hi" to a@b.cc',
        "reserve the copy C100200 for tomorrow, keep it 3 weeks",
        "查 9787506365437 和 9787020002207 的馆藏",
        "查邮箱 ann@example.org 的读者",
        "查他上个月的借阅记录",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(PIECES, max_size=16).map("".join),
    st.lists(st.one_of(CLAUSES, st.sampled_from(["，然后", ". ", " and then ", "😀", "，"]), PIECES), max_size=12).map(
        "".join
    ),
)


@settings(max_examples=300, deadline=1000)
@given(text=TEXTS, effect=st.sampled_from(list(Effect)))
def test_every_text_gets_a_reply_and_every_plan_passes_check_and_resolves(
    catalogue: Catalogue, planner: GraphPlanner, ask: Ask, text: str, effect: Effect
) -> None:
    request = ask(text, max_effect=effect)
    outcome = planner.plan(request).outcome
    if not isinstance(outcome, ThoughtPlan):
        return
    context = CheckContext(
        tools={signature.name: signature for signature in catalogue.signatures()},
        catalogue_digest=catalogue.digest,
        permissions=Permissions(max_effect=effect),
        turns=request.turns,
    )
    assert check_plan(outcome, context).faults == ()
    for step in outcome.steps:
        if any(binding.value is ABSENT for binding in step.bindings):
            continue  # it waits for another step
        resolved = resolve_step(
            step,
            ResolveContext(
                parameters=catalogue.compiled(step.tool).parameters,
                turns=request.turns,
                conversion=ConversionContext(
                    reference_time=request.reference_time, time_zone=request.time_zone, locale=request.locale
                ),
            ),
        )
        assert isinstance(resolved, Resolution), resolved


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "查借阅 ",
        "查 RD-10442，",
        "RD-10442 和 ",
        "明天",
        "send a note to a@b.cc, ",
        "1.1",
        "（",
        *string.punctuation[:4],
    ],
)
def test_ten_thousand_characters_get_a_reply_in_bounded_time(planner: GraphPlanner, ask: Ask, piece: str) -> None:
    request = ask((piece * 10_000)[:10_000])
    _, seconds = _timed(lambda: planner.plan(request))
    assert seconds < 2.0  # some 0.1 s on a quiet machine; a search that grows with the square would need minutes


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    return call(), time.process_time() - begin
