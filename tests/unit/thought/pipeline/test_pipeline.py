"""The ladder of planners: graph, model, repaired, stronger model, graph again, a person."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import dumps
from taoloop.core.faults import Fault, FaultCode
from taoloop.models.ports import ModelFailed, ModelFailureKind, TokenUsage
from taoloop.plan.fingerprint import thought_fingerprint
from taoloop.plan.model import Binding, DecisionKind, PlanStep, QuerySpan, ThoughtPlan
from taoloop.plan.task import Permissions, Usage
from taoloop.plan.thinking import Answer, CompletedStep, Escalation, NeedInput, Refusal, RefusalReason
from taoloop.thought.pipeline.authorising import Authorisation
from taoloop.thought.pipeline.pipeline import PipelineRules
from taoloop.thought.pipeline.repairing import RepairRules
from taoloop.thought.pipeline.routing import RoutingRules
from taoloop.thought.pipeline.rungs import EmptyPlanPolicy
from taoloop.thought.planners.known import SummaryRules
from taoloop.thought.planners.model.offer import Mode
from taoloop.tools.signature import Trust
from tests.unit.thought.pipeline.rig import AWAY, BAD, EMPTY, GOOD, NO_TOOL, Rig, ScriptedGraph, reply, thought_of
from tests.unit.thought.planners.model.tools import TEXT, request_of

ASKED = NeedInput(input_id="f" * 32)


def plan_of(tool: str = "find_guest", *ids: str) -> ThoughtPlan:
    start = TEXT.index("555-0199")
    span = QuerySpan(turn=0, start=start, end=start + 8, text="555-0199")
    bindings = (Binding(pointer="/phone", source=span, value="555-0199"),)
    steps = tuple(PlanStep(step_id=step_id, tool=tool, bindings=bindings) for step_id in ids or ("2.t1",))
    return ThoughtPlan(version="1.0", run_id="0" * 32, iteration=2, planner="graph/1", steps=steps)


async def test_a_graph_planner_that_is_sure_asks_no_model() -> None:
    rig = Rig(graph=ScriptedGraph(plan_of(), fit=0.99, arguments=0.99))

    thought = await thought_of(rig, [GOOD])

    assert thought.outcome == plan_of()
    assert (thought.planner, thought.model, thought.usage, thought.seed) == ("graph/1", "", Usage(), 0)
    assert rig.chats[0].requests == []


async def test_where_the_graph_planner_is_unsure_the_model_plans() -> None:
    rig = Rig(graph=ScriptedGraph(plan_of(), arguments=0.1))

    thought = await thought_of(rig, [reply(GOOD, usage=TokenUsage(900, 20, 700), seed=77)])

    plan = thought.outcome
    assert isinstance(plan, ThoughtPlan)
    assert [step.tool for step in plan.steps] == ["find_guest"]
    assert (plan.planner, plan.model, thought.model) == ("model/v1", "scripted", "scripted")
    assert (thought.planner, thought.decision.kind) == ("model/v1", DecisionKind.PLAN)
    assert (thought.usage.input_tokens, thought.usage.output_tokens) == (900, 20)
    assert (thought.usage.cached_input_tokens, thought.usage.model_calls) == (700, 1)
    assert thought.seed == 77
    assert thought.reasoning.why == "A guest is wanted."


async def test_without_a_model_the_graph_planner_is_alone() -> None:
    rig = Rig(graph=ScriptedGraph(plan_of(), arguments=0.1))

    thought = await thought_of(rig)

    assert thought.outcome == plan_of()
    assert 'taoloop_thought_routes_total{planner="graph",reason="no_model"} 1.0' in rig.shown()


async def test_a_model_that_does_not_answer_its_probe_is_not_asked() -> None:
    rig = Rig(is_ready=False)

    thought = await thought_of(rig, [GOOD])

    assert thought.outcome is NO_TOOL
    assert rig.chats[0].requests == []
    assert 'reason="model_away"' in rig.shown()


@pytest.mark.parametrize("kind", list(ModelFailureKind))
async def test_a_failure_of_the_server_leads_to_the_graph_planners_own_reply(kind: ModelFailureKind) -> None:
    rig = Rig(graph=ScriptedGraph(plan_of(), arguments=0.1))

    thought = await thought_of(rig, [ModelFailed(kind, "It failed.")])

    assert thought.outcome == plan_of()
    assert thought.planner == "graph/1"
    assert thought.usage.model_calls == 1
    assert len(rig.chats[0].requests) == 1
    assert f'taoloop_thought_fallbacks_total{{reason="{kind}",rung="model"}} 1.0' in rig.shown()


async def test_after_a_failure_the_stronger_model_is_asked() -> None:
    rig = Rig()

    thought = await thought_of(rig, [AWAY], [GOOD])

    assert isinstance(thought.outcome, ThoughtPlan)
    assert thought.usage.model_calls == 2
    assert [len(chat.requests) for chat in rig.chats] == [1, 1]


async def test_the_stronger_model_is_not_asked_when_too_little_time_is_left() -> None:
    rig = Rig(reply_seconds=5.0)

    thought = await thought_of(rig, [AWAY], [GOOD], seconds=12.0)

    assert thought.outcome is NO_TOOL
    assert rig.chats[1].requests == []
    assert 'taoloop_thought_retry_skipped_total{reason="insufficient_deadline"} 1.0' in rig.shown()


async def test_a_plan_with_faults_is_repaired_by_the_same_model() -> None:
    rig = Rig()

    thought = await thought_of(rig, [BAD, GOOD])

    assert isinstance(thought.outcome, ThoughtPlan)
    assert thought.usage.model_calls == 2


async def test_what_no_planner_can_plan_goes_to_a_person_with_the_last_faults() -> None:
    rig = Rig()

    thought = await thought_of(rig, [BAD], [BAD])

    assert isinstance(thought.outcome, Escalation)
    assert [fault.code for fault in thought.outcome.faults] == [FaultCode.UNKNOWN_TOOL]
    assert thought.decision.kind is DecisionKind.NONE
    assert thought.usage.model_calls == 6
    assert 'taoloop_thought_fallbacks_total{reason="UNKNOWN_TOOL",rung="graph"} 1.0' in rig.shown()


async def test_a_model_that_cannot_be_read_has_seen_no_work_for_a_tool() -> None:
    assert (await thought_of(Rig(), ["Let me think about that."])).outcome is NO_TOOL


@pytest.mark.parametrize("said", [AWAY, BAD, "Let me think about that."])
async def test_a_request_that_needs_too_many_calls_for_every_planner_goes_to_a_person(said: str | ModelFailed) -> None:
    too_much = Refusal(reason=RefusalReason.PLAN_FAILED, message="Too many calls.")

    assert isinstance((await thought_of(Rig(graph=ScriptedGraph(too_much)), [said])).outcome, Escalation)
    assert (await thought_of(Rig(graph=ScriptedGraph(too_much)))).outcome is too_much


async def test_a_person_is_told_in_the_language_of_therequest_of() -> None:
    thought = await thought_of(Rig(), [BAD], text="帮我查一下 555-0199 是谁", locale="")

    assert isinstance(thought.outcome, Escalation)
    assert thought.outcome.message == "没有规划器给出可以执行的计划，需要人工处理。"


@pytest.mark.parametrize("said", ["", "I would call find_guest.", "{", '{"plan": 7}', '["a"]', "{" * 70, "\x00", BAD])
async def test_nonsense_of_a_model_leads_to_the_graph_planners_plan(said: str) -> None:
    thought = await thought_of(Rig(graph=ScriptedGraph(plan_of(), arguments=0.1)), [said])

    assert thought.outcome == plan_of()


async def test_a_model_that_sees_no_tool_is_believed() -> None:
    rig = Rig(graph=ScriptedGraph(plan_of(), arguments=0.1))

    thought = await thought_of(rig, ['{"why": "Small talk.", "none": true}'], text="你好", locale="")

    assert thought.outcome == Refusal(reason=RefusalReason.NO_TOOL, message="没有可用的工具能处理该请求。")
    assert thought.planner == "model/v1"


async def test_a_sure_plan_that_the_check_refuses_is_planned_by_the_model() -> None:
    rig = Rig(graph=ScriptedGraph(plan_of("no_such_tool"), fit=0.99, arguments=0.99))

    thought = await thought_of(rig, [GOOD])

    assert thought.planner == "model/v1"


async def test_a_bad_plan_never_leaves_when_models_fail_too() -> None:
    rig = Rig(graph=ScriptedGraph(plan_of("no_such_tool"), arguments=0.1))

    thought = await thought_of(rig, [AWAY])

    assert isinstance(thought.outcome, Escalation)
    assert [fault.code for fault in thought.outcome.faults] == [FaultCode.UNKNOWN_TOOL]


async def test_a_model_that_names_a_tool_beyond_the_permissions_plans_nothing() -> None:
    booked = '{"plan": [["book_room", "555-0199", "next Monday"]]}'

    allowed = await thought_of(Rig(), [booked])
    denied = await thought_of(Rig(), [booked], permissions=Permissions())

    assert isinstance(allowed.outcome, ThoughtPlan)
    assert isinstance(denied.outcome, Escalation)
    assert [fault.code for fault in denied.outcome.faults] == [FaultCode.UNKNOWN_TOOL]


async def test_urgent_words_skip_the_model_and_not_the_check() -> None:
    rig = Rig(graph=ScriptedGraph(plan_of("no_such_tool"), arguments=0.1))

    thought = await thought_of(rig, [GOOD], text="马上查 555-0199", locale="")

    assert rig.chats[0].requests == []
    assert isinstance(thought.outcome, Refusal)
    assert thought.outcome.reason is RefusalReason.PLAN_FAILED


async def test_routing_that_is_switched_off_asks_no_model() -> None:
    rig = Rig(rules=PipelineRules(routing=RoutingRules(is_on=False)))

    await thought_of(rig, [GOOD])

    assert rig.chats[0].requests == []
    assert 'reason="switched_off"' in rig.shown()


async def test_a_model_that_failed_too_often_in_a_row_rests_and_is_tried_again() -> None:
    rig = Rig()
    pipeline = rig.pipeline([AWAY])
    requests = rig.chats[0].requests
    for _ in range(5):
        await pipeline.think(request_of(), rig.deadline())
    assert len(requests) == 3

    rig.clock.advance(rig.ladder.forget_seconds + 1)
    await pipeline.think(request_of(), rig.deadline())

    assert len(requests) == 4
    assert 'taoloop_thought_routes_total{planner="graph",reason="repeated_failures"} 2.0' in rig.shown()


async def test_an_empty_plan_is_a_failure_that_the_model_is_told() -> None:
    rig = Rig()

    thought = await thought_of(rig, [EMPTY, GOOD])

    assert isinstance(thought.outcome, ThoughtPlan)
    assert "The plan has no step." in rig.chats[0].requests[1].messages[-1].content


async def test_an_empty_plan_becomes_the_graph_planners_first_step_where_the_policy_says_so() -> None:
    rig = Rig(
        graph=ScriptedGraph(plan_of("find_guest", "2.t1", "2.t2"), arguments=0.1),
        rules=PipelineRules(routing=RoutingRules(empty_plan=EmptyPlanPolicy.SINGLE_STEP)),
        repair=RepairRules(final=frozenset({FaultCode.EMPTY_PLAN})),
    )

    thought = await thought_of(rig, [EMPTY])

    assert thought.outcome == plan_of()
    assert thought.planner == "graph/1"
    assert thought.usage.model_calls == 1


async def test_a_first_step_that_stalls_does_not_leave_either() -> None:
    rig = Rig(
        graph=ScriptedGraph(plan_of("find_guest", "2.t1", "2.t2"), arguments=0.1),
        rules=PipelineRules(routing=RoutingRules(empty_plan=EmptyPlanPolicy.SINGLE_STEP)),
        repair=RepairRules(final=frozenset({FaultCode.EMPTY_PLAN})),
    )

    thought = await thought_of(rig, [EMPTY], previous_thought_sha256=thought_fingerprint(plan_of()))

    assert thought.outcome != plan_of()


async def test_a_white_list_of_modes_holds_for_every_planner() -> None:
    modes = frozenset({Mode.ASK, Mode.NONE})
    rules = PipelineRules(authorisation=Authorisation(modes=modes))
    rig = Rig(graph=ScriptedGraph(plan_of(), arguments=0.1), rules=rules)
    rig.asked = replace(rig.asked, modes=modes)

    thought = await thought_of(rig, [GOOD])

    assert isinstance(thought.outcome, Refusal)
    assert thought.outcome.reason is RefusalReason.NOT_ALLOWED
    assert thought.decision.kind is DecisionKind.NONE
    assert 'taoloop_thought_modes_refused_total{mode="plan"} 1.0' in rig.shown()


async def test_a_white_list_of_tools_is_offered_to_no_planner_beyond_it() -> None:
    rig = Rig(rules=PipelineRules(authorisation=Authorisation(tools=frozenset({"find_guest"}))))

    await thought_of(rig, ['{"why": "", "none": true}'])

    permissions = rig.graph.requests[0].permissions
    assert permissions is not None
    assert permissions.allowed_tools == ("find_guest",)
    assert "book_room" not in rig.chats[0].requests[0].messages[0].content


async def test_each_stage_is_a_span_and_a_duration() -> None:
    rig = Rig()

    await thought_of(rig, [BAD, GOOD])

    assert rig.span_names() == [
        "thought graph",
        "thought route",
        "thought select",
        "thought plan",
        "thought expand",
        "thought plan",
        "thought check",
        "thought expand",
        "thought repair",
    ]
    for stage, outcome in (("graph", "none"), ("route", "model"), ("select", "ok"), ("repair", "ok"), ("check", "ok")):
        line = f'taoloop_thought_stage_duration_seconds_count{{outcome="{outcome}",stage="{stage}"}} 1.0'
        assert line in rig.shown()
    assert rig.span("thought route")["taoloop.thought.route.reason"] == "unsure"


async def test_the_same_seed_gives_the_same_thought() -> None:
    rig = Rig()

    thought = await thought_of(rig, [GOOD], seed=4711)

    assert rig.chats[0].requests[0].seed == 4711
    assert thought.seed == 4711


async def test_an_answer_of_the_graph_planner_leaves_as_it_is() -> None:
    rig = Rig(graph=ScriptedGraph(Answer(text="Done."), fit=0.9))

    assert (await thought_of(rig, [GOOD])).outcome == Answer(text="Done.")


@settings(max_examples=60)
@given(
    st.one_of(
        st.text(), st.text(alphabet='{}[]":, planskeod0129\n'), st.integers(0, len(GOOD)).map(lambda end: GOOD[:end])
    )
)
def test_any_text_of_a_model_comes_to_a_thought_that_may_leave(said: str) -> None:
    thought = asyncio.run(thought_of(Rig(graph=ScriptedGraph(plan_of(), arguments=0.1)), [said]))

    assert isinstance(thought.outcome, ThoughtPlan | Answer | NeedInput | Refusal | Escalation)
    if isinstance(thought.outcome, ThoughtPlan):
        assert {step.tool for step in thought.outcome.steps} <= {"find_guest", "book_room", "echo"}


HELD = (CompletedStep(step_id="1.t1", tool="find_guest", exposed={"id": "g-7"}, trust=Trust.TRUSTED),)


async def test_after_many_calls_the_graph_planner_answers_with_what_is_known() -> None:
    rig = Rig(graph=ScriptedGraph(plan_of(), fit=0.99, arguments=0.99))

    thought = await thought_of(rig, step_count=4, completed=HELD)

    assert isinstance(thought.outcome, Answer)
    assert [source.step_id for source in thought.outcome.grounding] == ["1.t1"]
    assert thought.decision.kind is DecisionKind.ANSWER
    assert "taoloop_thought_summaries_total 1.0" in rig.shown()


async def test_after_many_calls_a_model_may_not_plan() -> None:
    rig = Rig(repair=RepairRules(attempts=1))

    thought = await thought_of(rig, [GOOD, '{"why": "It is there.", "done": ["a"]}'], step_count=4, completed=HELD)

    assert isinstance(thought.outcome, Answer)
    asked = rig.chats[0].requests[0]
    assert asked.form is not None
    assert '"plan"' not in dumps(dict(asked.form.schema))
    assert "Calls made so far: 4. That is enough" in asked.messages[-1].content
    assert "exactly one of the keys ask, none, done" in rig.chats[0].requests[1].messages[-1].content


async def test_few_calls_are_told_to_a_model_that_may_still_plan() -> None:
    rig = Rig()

    thought = await thought_of(rig, [GOOD], step_count=3, completed=HELD)

    assert isinstance(thought.outcome, ThoughtPlan)
    prompt = rig.chats[0].requests[0].messages[-1].content
    assert "Calls made so far: 3.\n" in prompt
    assert "summaries_total 1.0" not in rig.shown()


async def test_a_plan_round_the_first_failure_is_not_cut_short() -> None:
    rig = Rig(graph=ScriptedGraph(plan_of(), fit=0.99, arguments=0.99))
    fault = Fault(code=FaultCode.UPSTREAM_UNAVAILABLE, stage="action", message="away", retriable=True)
    failed = CompletedStep(step_id="1.t2", tool="find_guest", fault=fault)

    thought = await thought_of(rig, step_count=9, completed=(*HELD, failed))

    assert isinstance(thought.outcome, ThoughtPlan)


async def test_a_deployment_may_switch_summaries_off() -> None:
    rules = PipelineRules(summary=SummaryRules(is_on=False))
    rig = Rig(graph=ScriptedGraph(plan_of(), fit=0.99, arguments=0.99), rules=rules)

    assert isinstance((await thought_of(rig, step_count=9, completed=HELD)).outcome, ThoughtPlan)
