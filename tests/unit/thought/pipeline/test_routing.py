"""Routing: who plans, why, and that no circumstance lets a model plan where a rule forbids it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.model import Decision, DecisionKind, PlanStep, Reasoning, ThoughtPlan
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import (
    Answer,
    CompletedStep,
    Escalation,
    NeedInput,
    Refusal,
    RefusalReason,
    ThinkRequest,
)
from taoloop.thought.pipeline.routing import (
    ModelStanding,
    PlannedBy,
    RouteReason,
    RoutingRules,
    Standing,
    Thresholds,
    input_tokens,
    route,
)
from taoloop.thought.pipeline.urgency import UrgentWords
from taoloop.thought.planners.graph.planner import Outcome, PlannerReply

PLAN = ThoughtPlan(steps=(PlanStep(step_id="1.t1", tool="get_locker"),))
READY = Standing()


def _request(text: str = "when is the locker open", **more: object) -> ThinkRequest:
    return ThinkRequest(run_id="r", iteration=1, turns=(Turn(role=Role.USER, text=text),), **more)  # type: ignore[arg-type]


def _reply(outcome: Outcome = PLAN, *, fit: float = 0.2, arguments: float = 0.2, missing: float = 0.2) -> PlannerReply:
    return PlannerReply(outcome, Decision(kind=DecisionKind.PLAN, fit=fit), Reasoning(), arguments, missing)


SURE = _reply(fit=0.99, arguments=0.99)
UNSURE = _reply()


def test_unsure_graph_planner_leaves_the_request_to_the_model() -> None:
    found = route(_request(), UNSURE, RoutingRules(), READY)
    assert (found.planner, found.reason) == (PlannedBy.MODEL, RouteReason.UNSURE)


def test_sure_graph_planner_plans_itself() -> None:
    found = route(_request(), SURE, RoutingRules(), READY)
    assert (found.planner, found.reason) == (PlannedBy.GRAPH, RouteReason.CONFIDENT)


@pytest.mark.parametrize(("fit", "arguments"), [(0.49, 0.99), (0.99, 0.79)])
def test_plan_below_either_threshold_is_not_taken(fit: float, arguments: float) -> None:
    rules = RoutingRules(thresholds=Thresholds(fit=0.5, arguments=0.8))
    assert route(_request(), _reply(fit=fit, arguments=arguments), rules, READY).reason is RouteReason.UNSURE
    assert route(_request(), _reply(fit=0.5, arguments=0.8), rules, READY).reason is RouteReason.CONFIDENT


def test_question_is_taken_by_the_number_for_missing() -> None:
    rules = RoutingRules(thresholds=Thresholds(fit=0.5, missing=0.6))
    question = NeedInput(input_id="q")
    assert route(_request(), _reply(question, fit=0.9, missing=0.59), rules, READY).planner is PlannedBy.MODEL
    assert route(_request(), _reply(question, fit=0.9, missing=0.6), rules, READY).planner is PlannedBy.GRAPH


def test_refusal_is_taken_while_no_tool_seems_to_fit() -> None:
    rules = RoutingRules(thresholds=Thresholds(none=0.2))
    none = Refusal(reason=RefusalReason.NO_TOOL)
    assert route(_request(), _reply(none, fit=0.2), rules, READY).planner is PlannedBy.GRAPH
    assert route(_request(), _reply(none, fit=0.21), rules, READY).planner is PlannedBy.MODEL


FAULT = Fault(code=FaultCode.TOOL_UNAVAILABLE, stage=FaultStage.PLAN, message="away")


@pytest.mark.parametrize(
    "outcome",
    [
        Refusal(reason=RefusalReason.MISSING_USER_QUERY),
        Refusal(reason=RefusalReason.NOT_ALLOWED),
        Refusal(reason=RefusalReason.PLAN_FAILED, faults=(FAULT,)),
        Escalation(message="a person"),
    ],
)
def test_reply_that_no_model_can_change_is_settled(outcome: Outcome) -> None:
    found = route(_request(), _reply(outcome), RoutingRules(), READY)
    assert (found.planner, found.reason) == (PlannedBy.GRAPH, RouteReason.SETTLED)


def test_request_for_more_calls_than_a_plan_may_have_goes_to_the_model() -> None:
    too_much = Refusal(reason=RefusalReason.PLAN_FAILED)
    assert route(_request(), _reply(too_much), RoutingRules(), READY).planner is PlannedBy.MODEL


def test_answer_is_taken_by_the_fit() -> None:
    assert route(_request(), _reply(Answer(text="x"), fit=0.5), RoutingRules(), READY).planner is PlannedBy.GRAPH


def test_urgent_word_bypasses_the_model_and_is_told() -> None:
    found = route(_request("when is it open, asap"), UNSURE, RoutingRules(), READY)
    assert (found.planner, found.reason, found.word) == (PlannedBy.GRAPH, RouteReason.URGENT_WORDS, "asap")


def test_urgent_word_of_an_earlier_turn_counts_no_more() -> None:
    turns = (Turn(role=Role.USER, text="asap!"), Turn(role=Role.USER, text="when is the locker open"))
    assert route(replace(_request(), turns=turns), UNSURE, RoutingRules(), READY).planner is PlannedBy.MODEL


def test_urgent_words_are_the_rules_own() -> None:
    rules = RoutingRules(urgent=UrgentWords({"de": ("sofort",)}))
    assert route(_request("sofort bitte"), UNSURE, rules, READY).reason is RouteReason.URGENT_WORDS
    assert route(_request("asap please"), UNSURE, rules, READY).reason is RouteReason.UNSURE


def test_input_above_the_bound_bypasses_the_model_with_its_tokens() -> None:
    rules = RoutingRules(max_input_tokens=10)
    assert route(_request("汉" * 10), UNSURE, rules, READY).planner is PlannedBy.MODEL
    found = route(_request("汉" * 11), UNSURE, rules, READY)
    assert (found.planner, found.reason, found.input_tokens) == (PlannedBy.GRAPH, RouteReason.OVERSIZED_INPUT, 11)


def test_zero_sets_no_bound_on_the_input() -> None:
    assert route(_request("汉" * 50_000), UNSURE, RoutingRules(max_input_tokens=0), READY).planner is PlannedBy.MODEL


def test_results_of_tools_count_as_input_and_the_state_does_not() -> None:
    rules = RoutingRules(max_input_tokens=100)
    done = CompletedStep(step_id="1.t1", tool="read", exposed={"text": "汉" * 200})
    assert route(_request(completed=(done,)), UNSURE, rules, READY).reason is RouteReason.OVERSIZED_INPUT
    assert route(_request(state={"text": "汉" * 200}), UNSURE, rules, READY).reason is RouteReason.UNSURE


def test_old_turns_that_no_prompt_shows_do_not_count() -> None:
    old = tuple(Turn(role=Role.USER, text="汉" * 1000) for _ in range(20))
    request = replace(_request(), turns=(*old, *(Turn(role=Role.USER, text="汉") for _ in range(9))))
    assert input_tokens(request, len, 100) == 9


def test_counting_stops_once_there_is_enough() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    turns = tuple(Turn(role=Role.USER, text="x" * 50) for _ in range(5))
    input_tokens(replace(_request(), turns=turns), count, 60)
    assert len(counted) == 2


@pytest.mark.parametrize(
    ("rules", "standing", "reason"),
    [
        (RoutingRules(is_on=False), READY, RouteReason.SWITCHED_OFF),
        (RoutingRules(), Standing(model=ModelStanding.ABSENT), RouteReason.NO_MODEL),
        (RoutingRules(), Standing(model=ModelStanding.AWAY), RouteReason.MODEL_AWAY),
        (RoutingRules(), Standing(has_budget=False), RouteReason.BUDGET),
        (RoutingRules(), Standing(failures=3), RouteReason.REPEATED_FAILURES),
    ],
)
def test_model_that_cannot_be_had_leaves_the_graph_planner_with_the_reason(
    rules: RoutingRules, standing: Standing, reason: RouteReason
) -> None:
    found = route(_request(), UNSURE, rules, standing)
    assert (found.planner, found.reason) == (PlannedBy.GRAPH, reason)
    is_wanted = reason not in {RouteReason.SWITCHED_OFF, RouteReason.NO_MODEL}
    assert found.is_degraded is is_wanted


def test_as_many_failures_as_allowed_still_ask_the_model() -> None:
    assert route(_request(), UNSURE, RoutingRules(max_failures=2), Standing(failures=2)).planner is PlannedBy.MODEL


def test_a_model_that_is_away_is_not_the_reason_where_none_was_wanted() -> None:
    found = route(_request(), SURE, RoutingRules(), Standing(model=ModelStanding.AWAY))
    assert found.reason is RouteReason.CONFIDENT
    assert not found.is_degraded


REPLIES = st.builds(
    _reply,
    st.sampled_from([PLAN, NeedInput(input_id="q"), Answer(text="x"), Refusal(reason=RefusalReason.NO_TOOL)]),
    fit=st.floats(0, 1),
    arguments=st.floats(0, 1),
    missing=st.floats(0, 1),
)
STANDINGS = st.builds(
    Standing, model=st.sampled_from(ModelStanding), has_budget=st.booleans(), failures=st.integers(0, 5)
)


@given(st.text(max_size=200), REPLIES, STANDINGS, st.booleans())
def test_a_model_plans_only_when_it_is_on_ready_within_budget_and_not_failing(
    text: str, reply: PlannerReply, standing: Standing, is_on: bool
) -> None:
    found = route(_request(text), reply, RoutingRules(is_on=is_on), standing)
    if found.planner is PlannedBy.MODEL:
        assert is_on
        assert standing.model is ModelStanding.READY
        assert standing.has_budget
        assert standing.failures <= RoutingRules().max_failures
    assert (found.planner is PlannedBy.MODEL) is (found.reason is RouteReason.UNSURE)
