"""Runs that were handed over: listed, shown with all that is needed, decided once, and taken on from there."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from taoloop.core.errors import InvalidRequest, NotWaiting, UnknownHandover, UnknownRun
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.telemetry import names
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest
from taoloop.plan.running import (
    CancelRunRequest,
    HandoverDecision,
    HandoverRequired,
    ProvideInputRequest,
    RunFinished,
    RunResumed,
)
from taoloop.plan.running.handovers import (
    DecideHandoverRequest,
    DecideHandoverResponse,
    GetHandoverRequest,
    ListHandoversRequest,
)
from taoloop.plan.task import InputField, Outcome, ProvidedInput
from taoloop.plan.thinking import Answer, AnswerOrigin, Escalation, NeedInput, ThinkResponse
from taoloop.testing.services import Answer as ToolAnswer
from taoloop.testing.services import ScriptedAction, ScriptedObservation
from tests.unit.loop.people.waiting import (
    ANSWERS,
    CONFIG,
    FIND,
    PAY,
    REFUND,
    TASK,
    TELL,
    Host,
    outcome_of,
    plan,
    waiting_host,
)

UNKNOWN = ActionResult(
    step_id="",
    tool="",
    status=ActionStatus.OUTCOME_UNKNOWN,
    effect_id="e" * 32,
    fault=Fault(code=FaultCode.OUTCOME_UNKNOWN, stage=FaultStage.ACTION, message="the reply was lost"),
)
ESCALATION = ThinkResponse(outcome=Escalation(message="Somebody has to look at this."))


def acting(**answers: ToolAnswer) -> ScriptedAction:
    return ScriptedAction({**ANSWERS, **answers})


def unknown_once(result: ActionResult = UNKNOWN) -> ToolAnswer:
    """Return a tool whose first call leaves it open whether it took effect."""
    calls: list[ExecuteRequest] = []

    async def play(request: ExecuteRequest) -> ActionResult | JsonValue:
        calls.append(request)
        return result if len(calls) == 1 else {"n": 1}

    return play


async def decide(
    here: Host,
    run_id: str,
    decision: HandoverDecision = HandoverDecision.RESUMED,
    *,
    handover_id: str = "",
    comment: str = "",
    text: str = "",
    data: Json = ABSENT,
    request_id: str = "",
) -> DecideHandoverResponse:
    request = DecideHandoverRequest(
        request_id=request_id,
        run_id=run_id,
        handover_id=handover_id,
        decision=decision,
        decided_by="ana",
        comment=comment,
        answer_text=text,
        answer_data=data,
    )
    return await here.people.handovers.decide(request, here.call())


async def test_a_step_whose_outcome_is_unknown_is_handed_over_with_all_that_a_person_needs() -> None:
    async with waiting_host(plan(FIND, PAY, TELL), action=acting(pay=UNKNOWN)) as here:
        run_id = await here.begin()
        summary = await here.summary(run_id)
        handover = await here.people.handovers.get(GetHandoverRequest(run_id=run_id), here.call())

    assert summary.outcome is Outcome.NEEDS_HUMAN
    (required,) = summary.handovers_required
    assert (required.step_id, required.fault and required.fault.code) == ("1.t1", FaultCode.OUTCOME_UNKNOWN)
    assert handover.required == required
    assert (handover.turns, handover.session_id, handover.request_id) == (TASK.turns, "s1", "q1")
    assert handover.plan is not None
    assert [step.step_id for step in handover.plan.steps] == ["1.t3", "1.t1", "1.t4"]
    steps = {step.step_id: step for step in handover.steps}
    assert (steps["1.t3"].exposed, steps["1.t3"].is_valid) == ({"n": 3}, True)
    assert (steps["1.t1"].status, steps["1.t1"].effect_id) == (ActionStatus.OUTCOME_UNKNOWN, "e" * 32)
    assert steps["1.t1"].fault is not None
    assert [made.reaction for made in handover.corrections] == ["hand_over"]
    assert any(
        f"taoloop effects resolve {'e' * 32} --by NAME --took-place, or" in line for line in handover.suggestions
    )
    assert [moment.sequence for moment in handover.time_line] == list(range(1, summary.last_sequence + 1))


async def test_a_person_sees_what_the_user_gave_what_else_is_open_and_what_was_decided() -> None:
    need = NeedInput(input_id="i" * 32, fields=(InputField(pointer="/id", tool="pay", schema={"type": "string"}),))
    given = ProvidedInput(input_id="i" * 32, values={"id": "A1"})
    action = acting(pay=UNKNOWN, refund=UNKNOWN)
    async with waiting_host(ThinkResponse(outcome=need), plan(PAY, REFUND), action=action) as here:
        run_id = await here.begin(replace(TASK, locale="de-CH"))
        answer = ProvideInputRequest(run_id=run_id, input=given)
        reply = await here.people.desk.provide_input(answer, here.call())
        await here.from_event(run_id, reply.next_sequence)
        summary = await here.summary(run_id)
        one, other = summary.handovers_required
        wanted = GetHandoverRequest(run_id=run_id, handover_id=one.handover_id)
        handover = await here.people.handovers.get(wanted, here.call())
        here.store.clock.advance(60)
        decision = await decide(here, run_id, handover_id=one.handover_id)
        decided = await here.people.handovers.get(wanted, here.call())

    assert (handover.locale, handover.inputs, handover.others) == ("de-CH", (given,), (other,))
    assert handover.usage == summary.usage
    assert handover.opened_at == summary.updated_at
    assert handover.outcome is None
    assert decided.outcome == decision.outcome
    assert (decided.opened_at, decided.others, decided.suggestions) == (handover.opened_at, (other,), ())


async def test_open_handovers_are_listed_for_the_tenant_and_for_one_run() -> None:
    async with waiting_host(ESCALATION) as here:
        first = await here.begin()
        second = await here.begin(replace(TASK, request_id="q2"))
        everything = await here.people.handovers.list(ListHandoversRequest(), here.call())
        one = await here.people.handovers.list(ListHandoversRequest(run_id=first), here.call())
        page = await here.people.handovers.list(ListHandoversRequest(page_size=1), here.call())
        other = await here.people.handovers.list(ListHandoversRequest(), here.call(tenant="other"))

    assert sorted(each.run_id for each in everything.handovers) == sorted([first, second])
    assert [(each.run_id, each.request_id) for each in one.handovers] == [(first, "q1")]
    assert len(page.handovers) == 1
    assert page.next_page_token
    assert other.handovers == ()


async def test_a_person_answers_in_the_runs_place() -> None:
    async with waiting_host(ESCALATION) as here:
        run_id = await here.begin()
        reply = await decide(here, run_id, HandoverDecision.ANSWERED, text="It is on its way.", comment="called them")
        summary = await here.summary(run_id)
        rest = await here.from_event(run_id, reply.next_sequence)
        listed = await here.people.handovers.list(ListHandoversRequest(), here.call())

    assert summary.outcome is Outcome.ANSWERED
    assert summary.answer == Answer(text="It is on its way.", origin=AnswerOrigin.PERSON)
    resumed = rest[0].body
    assert isinstance(resumed, RunResumed)
    assert resumed.handover == reply.outcome
    assert reply.outcome is not None
    assert (reply.outcome.decided_by, reply.outcome.comment) == ("ana", "called them")
    assert listed.handovers == ()
    assert here.counted(names.HANDOVERS, event="answered") == 1
    assert here.counted(names.RUNS, outcome="answered") == 1
    assert here.memory.outcomes == [Outcome.NEEDS_HUMAN, Outcome.ANSWERED]


async def test_a_task_that_wants_data_gets_data_from_a_person_too() -> None:
    schema: JsonValue = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    async with waiting_host(ESCALATION) as here:
        run_id = await here.begin(replace(TASK, output_schema=schema))
        handover = await here.people.handovers.get(GetHandoverRequest(run_id=run_id), here.call())
        with pytest.raises(InvalidRequest, match="wants its answer as data"):
            await decide(here, run_id, HandoverDecision.ANSWERED, text="three")
        with pytest.raises(InvalidRequest, match="answer_data_json/n"):
            await decide(here, run_id, HandoverDecision.ANSWERED, text="three", data={"n": "three"})
        await decide(here, run_id, HandoverDecision.ANSWERED, text="three", data={"n": 3})
        summary = await here.summary(run_id)

    assert summary.answer is not None
    assert summary.answer.data == {"n": 3}
    assert handover.output_schema == schema
    assert any(" --text '…' --data FILE answers" in line for line in handover.suggestions)


async def test_a_person_closes_the_run_with_the_fault_that_led_to_it() -> None:
    async with waiting_host(plan(PAY), action=acting(pay=UNKNOWN)) as here:
        run_id = await here.begin()
        await decide(here, run_id, HandoverDecision.CLOSED, comment="the customer called off")
        summary = await here.summary(run_id)

    assert summary.outcome is Outcome.FAILED
    assert summary.fault is not None
    assert summary.fault.code == FaultCode.OUTCOME_UNKNOWN
    assert summary.handovers_required == ()


async def test_a_run_that_is_let_go_on_thinks_again_with_the_comment_and_without_what_was_in_its_way() -> None:
    async with waiting_host(plan(FIND, PAY, TELL), action=acting(pay=unknown_once())) as here:
        run_id = await here.begin()
        reply = await decide(here, run_id, comment="It was not paid; the effect is resolved.")
        rest = await here.from_event(run_id, reply.next_sequence)

    assert outcome_of(rest) is Outcome.ANSWERED
    asked = here.thoughts.requests[1]
    assert asked.notes == ("It was not paid; the effect is resolved.",)
    assert [done.step_id for done in asked.completed] == ["1.t3"]
    assert asked.previous_thought_sha256 == ""  # the same plan once more is no standstill
    assert asked.iteration == 2


async def test_a_run_that_is_let_go_on_has_its_thoughts_and_its_time_anew() -> None:
    async with waiting_host(ESCALATION) as here:
        run_id, most = await here.begin(), CONFIG.limits.max_iterations
        for _ in range(most + 2):
            reply = await decide(here, run_id)
            rest = await here.from_event(run_id, reply.next_sequence)
            assert outcome_of(rest) is Outcome.NEEDS_HUMAN
        summary = await here.summary(run_id)

    assert summary.usage is not None
    assert summary.usage.iterations == most + 3


async def test_doubtful_results_are_read_again_when_a_person_lets_the_run_go_on() -> None:
    observation = ScriptedObservation(doubtful_tools=frozenset({"find"}))
    async with waiting_host(plan(FIND), observation=observation) as here:
        run_id = await here.begin()
        assert (await here.summary(run_id)).outcome is Outcome.NEEDS_HUMAN
        observation.doubtful_tools = frozenset()
        reply = await decide(here, run_id)
        rest = await here.from_event(run_id, reply.next_sequence)

    assert outcome_of(rest) is Outcome.ANSWERED
    assert [request.tool for request in here.action.requests].count("find") >= 2


async def test_of_several_handovers_each_is_decided_by_itself() -> None:
    action = acting(pay=unknown_once(), refund=unknown_once())
    async with waiting_host(plan(PAY, REFUND), action=action) as here:
        run_id = await here.begin()
        one, other = (await here.summary(run_id)).handovers_required
        with pytest.raises(UnknownHandover, match="more than one"):
            await decide(here, run_id)
        reply = await decide(here, run_id, handover_id=one.handover_id)
        between = await here.from_event(run_id, reply.next_sequence)
        left = (await here.summary(run_id)).handovers_required
        reply = await decide(here, run_id, handover_id=other.handover_id)
        rest = await here.from_event(run_id, reply.next_sequence)

    assert outcome_of(between) is Outcome.NEEDS_HUMAN
    assert left == (other,)
    assert len(here.thoughts.requests) == 2
    assert outcome_of(rest) is Outcome.ANSWERED


async def test_the_first_decision_stands_and_a_repeat_gets_the_same_reply() -> None:
    async with waiting_host(ESCALATION) as here:
        run_id = await here.begin()
        (required,) = (await here.summary(run_id)).handovers_required
        first = await decide(here, run_id, HandoverDecision.ANSWERED, handover_id=required.handover_id, text="yes")
        again = await decide(here, run_id, HandoverDecision.ANSWERED, handover_id=required.handover_id, text="yes")
        late = await decide(here, run_id, HandoverDecision.CLOSED, handover_id=required.handover_id)

    assert again == first
    assert late == first


async def test_the_repeat_of_a_decision_that_names_no_handover_decides_about_no_later_one() -> None:
    async with waiting_host(ESCALATION) as here:
        run_id = await here.begin()
        first = await decide(here, run_id, request_id="d1")
        _ = await here.from_event(run_id, first.next_sequence)
        again = await decide(here, run_id, request_id="d1")
        summary = await here.summary(run_id)

    assert again == first
    assert summary.outcome is Outcome.NEEDS_HUMAN
    assert len(summary.handovers_required) == 1


async def test_decisions_at_the_same_time_end_the_run_once() -> None:
    async with waiting_host(ESCALATION) as here:
        run_id = await here.begin()
        (required,) = (await here.summary(run_id)).handovers_required
        replies = await asyncio.gather(
            *(
                decide(here, run_id, HandoverDecision.ANSWERED, handover_id=required.handover_id, text=f"{n}")
                for n in range(4)
            )
        )
        bodies = await here.bodies(run_id)

    assert len({reply.outcome for reply in replies}) == 1
    assert len([body for body in bodies if isinstance(body, Answer)]) == 1


async def test_a_run_that_was_cancelled_hands_nothing_over_any_more() -> None:
    async with waiting_host(ESCALATION) as here:
        run_id = await here.begin()
        (required,) = (await here.summary(run_id)).handovers_required
        assert await here.runs.cancel(CancelRunRequest(run_id=run_id), here.call()) is Outcome.CANCELLED
        with pytest.raises(NotWaiting, match="has ended"):
            await decide(here, run_id, handover_id=required.handover_id)
        assert (await here.summary(run_id)).handovers_required == ()
        shown = await here.people.handovers.get(
            GetHandoverRequest(run_id=run_id, handover_id=required.handover_id), here.call()
        )

    assert shown.suggestions == ()


async def test_what_is_unknown_is_named() -> None:
    async with waiting_host(plan(FIND)) as here:
        run_id = await here.begin()
        with pytest.raises(UnknownHandover, match="None is open"):
            await decide(here, run_id)
        with pytest.raises(UnknownHandover, match="no handover abc"):
            await decide(here, run_id, handover_id="abc")
        with pytest.raises(UnknownRun):
            await decide(here, "0" * 32)
        with pytest.raises(UnknownRun):
            await here.people.handovers.get(GetHandoverRequest(run_id=run_id), here.call(tenant="other"))


@pytest.mark.parametrize(
    ("decision", "text", "data", "by", "field"),
    [
        (HandoverDecision.ANSWERED, " ", ABSENT, "ana", "answer_text"),
        (HandoverDecision.CLOSED, "text", ABSENT, "ana", "answer_text"),
        (HandoverDecision.RESUMED, "", {}, "ana", "answer_data_json"),
        (HandoverDecision.RESUMED, "", ABSENT, "", "decided_by"),
        (HandoverDecision.ANSWERED, "x" * 65_537, ABSENT, "ana", "answer_text"),
    ],
)
async def test_a_decision_that_cannot_be_taken_is_refused_by_field(
    decision: HandoverDecision, text: str, data: Json, by: str, field: str
) -> None:
    async with waiting_host(ESCALATION) as here:
        run_id = await here.begin()
        request = DecideHandoverRequest(
            run_id=run_id, decision=decision, decided_by=by, answer_text=text, answer_data=data
        )
        with pytest.raises(InvalidRequest) as refused:
            await here.people.handovers.decide(request, here.call())
        assert (await here.summary(run_id)).outcome is Outcome.NEEDS_HUMAN

    assert [violation.field for violation in refused.value.violations] == [field]


@pytest.mark.parametrize(
    ("thought", "action", "observation"),
    [
        (ESCALATION, None, None),
        (plan(PAY), acting(pay=UNKNOWN), None),
        (plan(FIND), None, ScriptedObservation(doubtful_tools=frozenset({"find"}))),
    ],
)
async def test_whatever_needs_a_person_is_handed_over(
    thought: ThinkResponse, action: ScriptedAction | None, observation: ScriptedObservation | None
) -> None:
    async with waiting_host(thought, action=action, observation=observation) as here:
        run_id = await here.begin()
        bodies = await here.bodies(run_id)

    assert isinstance(bodies[-1], RunFinished)
    assert bodies[-1].outcome is Outcome.NEEDS_HUMAN
    assert [body for body in bodies if isinstance(body, HandoverRequired)]
    assert here.counted(names.HANDOVERS, event="opened") == 1
