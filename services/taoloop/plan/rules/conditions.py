"""Rules about conditions: they are rules, and read what they may."""

from __future__ import annotations

from collections.abc import Iterator

from taoloop.core.exact_json import Absent
from taoloop.core.faults import Fault
from taoloop.plan.check_context import CheckContext, invalid, step_place
from taoloop.plan.flow.conditions import Condition, ConditionRefused
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.rules.sources import known_ids
from taoloop.tools.rules import RuleRefused


def conditions_compile(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A step's condition is JsonLogic whose paths are written out and name steps, the state or inputs."""
    known = known_ids(plan, context)
    for index, step in enumerate(plan.steps):
        if isinstance(step.when, Absent):
            continue
        place = step_place(index, "when")
        try:
            Condition.of(step.when, known)
        except RuleRefused as refused:
            yield invalid(place + refused.pointer, f"The condition cannot be used: {refused}.")
        except ConditionRefused as refused:
            yield invalid(place, refused.message, candidates=refused.candidates)
        except ValueError as exc:  # no JSON, for example nested too deep
            yield invalid(place, f"The condition has no JSON form: {exc}.")
