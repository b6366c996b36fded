"""The ladder of planners: who plans after one has failed too often, and what becomes of a plan without a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from taoloop.core.clock import Clock
from taoloop.plan.model import ThoughtPlan
from taoloop.thought.planners.graph.planner import PlannerReply


class Rung(StrEnum):
    """Who plans, in the order in which they are asked."""

    MODEL = "model"
    STRONGER_MODEL = "stronger_model"
    GRAPH = "graph"
    PERSON = "person"


class EmptyPlanPolicy(StrEnum):
    """What becomes of a plan without a step."""

    FAIL = "fail"
    """It is the failure EMPTY_PLAN, and the next rung plans."""
    SINGLE_STEP = "single_step"
    """The first step that the graph planner would take is planned instead, and checked like every plan."""


def next_rung(ladder: Sequence[Rung], rung: Rung, failures: int, max_failures: int) -> Rung:
    """Return who plans now: the same rung, or after more than `max_failures` failures of it in a row the one below.

    A person stands below the last rung, whether the ladder names one or not.

    Args:
        ladder: The rungs that there are, in order.
        rung: Who failed; one of the ladder.
        failures: How often in a row it has failed for this thought, at least 0.
        max_failures: How often it may.
    """
    if failures <= max_failures:
        return rung
    below = ladder[ladder.index(rung) + 1 :]
    return below[0] if below else Rung.PERSON


def single_step(graph: PlannerReply) -> ThoughtPlan | None:
    """Return the plan with the graph planner's first step alone; None where it has no step that needs no other.

    Such a step does what the request names first and what the others build on. The caller checks the plan.
    """
    plan = graph.outcome
    if not isinstance(plan, ThoughtPlan):
        return None
    first = next((step for step in plan.steps if not step.depends_on), None)
    return None if first is None else replace(plan, steps=(first,))


class FailureStreak:
    """Counts how often in a row a model failed, and forgets it after a pause, so that it is tried again.

    Args:
        clock: For the pause.
        forget_seconds: How long after the last failure the model counts as untried, above 0.
    """

    def __init__(self, clock: Clock, forget_seconds: float) -> None:
        self._clock = clock
        self._forget_seconds = forget_seconds
        self._count = 0
        self._forgotten_at = 0.0

    def __repr__(self) -> str:
        return f"<FailureStreak {self.count}>"

    @property
    def count(self) -> int:
        """Failures in a row; 0 after a success, and once the last one is long ago."""
        return self._count if self._clock.monotonic() < self._forgotten_at else 0

    def failed(self) -> None:
        """Count a failure."""
        self._count = self.count + 1
        self._forgotten_at = self._clock.monotonic() + self._forget_seconds

    def succeeded(self) -> None:
        """End the streak."""
        self._count = 0
