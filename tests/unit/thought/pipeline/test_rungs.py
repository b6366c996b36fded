"""The ladder: who plans after failures, what becomes of an empty plan, and when a model is tried again."""

from __future__ import annotations

import pytest

from taoloop.plan.model import Decision, DecisionKind, PlanStep, Reasoning, ThoughtPlan
from taoloop.plan.thinking import NeedInput
from taoloop.testing.clock import FakeClock
from taoloop.thought.pipeline.rungs import FailureStreak, Rung, next_rung, single_step
from taoloop.thought.planners.graph.planner import Outcome, PlannerReply

LADDER = (Rung.MODEL, Rung.STRONGER_MODEL, Rung.GRAPH)


def _reply(outcome: Outcome) -> PlannerReply:
    return PlannerReply(outcome, Decision(kind=DecisionKind.PLAN), Reasoning())


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_a_rung_that_failed_no_more_than_allowed_plans_again(failures: int) -> None:
    assert next_rung(LADDER, Rung.MODEL, failures, 2) is Rung.MODEL


@pytest.mark.parametrize(
    ("rung", "below"),
    [(Rung.MODEL, Rung.STRONGER_MODEL), (Rung.STRONGER_MODEL, Rung.GRAPH), (Rung.GRAPH, Rung.PERSON)],
)
def test_after_one_failure_more_the_next_rung_plans(rung: Rung, below: Rung) -> None:
    assert next_rung(LADDER, rung, 3, 2) is below


def test_without_a_stronger_model_the_graph_planner_follows() -> None:
    assert next_rung((Rung.MODEL, Rung.GRAPH), Rung.MODEL, 1, 0) is Rung.GRAPH


def test_single_step_is_the_first_that_waits_for_no_other() -> None:
    later = PlanStep(step_id="1.t1", tool="b", depends_on=("1.t2",))
    first = PlanStep(step_id="1.t2", tool="a")
    plan = single_step(_reply(ThoughtPlan(steps=(later, first), run_id="r")))
    assert plan == ThoughtPlan(steps=(first,), run_id="r")


@pytest.mark.parametrize("outcome", [NeedInput(input_id="q"), ThoughtPlan(steps=())])
def test_there_is_no_single_step_where_the_graph_planner_has_none(outcome: Outcome) -> None:
    assert single_step(_reply(outcome)) is None


def test_failures_in_a_row_are_counted_until_a_success() -> None:
    streak = FailureStreak(FakeClock(), 60.0)
    streak.failed()
    streak.failed()
    assert streak.count == 2
    streak.succeeded()
    assert streak.count == 0


def test_failures_are_forgotten_after_the_pause_so_that_the_model_is_tried_again() -> None:
    clock = FakeClock()
    streak = FailureStreak(clock, 60.0)
    streak.failed()
    clock.advance(59.0)
    streak.failed()
    clock.advance(59.0)
    assert streak.count == 2
    clock.advance(1.0)
    assert streak.count == 0
    streak.failed()
    assert streak.count == 1
