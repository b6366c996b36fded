"""Which untrusted text steers a step: what had entered the run before its plan, and what its condition reads."""

from __future__ import annotations

from dataclasses import dataclass

from taoloop.loop.correction.progress import second_of
from taoloop.loop.state import RunState
from taoloop.plan.flow.conditions import steering_sources
from taoloop.plan.flow.fan_out import planned_step_id
from taoloop.plan.model import PlanStep, StepOutput
from taoloop.tools.signature import Trust


@dataclass(frozen=True, slots=True)
class Steering:
    """What steers a step.

    Attributes:
        is_tainted: Whether untrusted text does.
        step_ids: The steps whose text it is; none where the run began with it.
    """

    is_tainted: bool
    step_ids: tuple[str, ...]


def steering_of(state: RunState, step: PlanStep) -> Steering:
    """Return what steers a step of the run's plan.

    Other steps of the same plan do not, whatever they read meanwhile, unless a condition or a list of the step does.
    """
    own_id = step.step_id.removesuffix(second_of(""))  # a second source is asked because the step was to run
    planned = state.steps.get(planned_step_id(own_id) or own_id)
    whole = step if planned is None or planned.step is None else planned.step
    reads = (source.step_id for source in steering_sources(whole, state.steps) if isinstance(source, StepOutput))
    untrusted = tuple(dict.fromkeys(step_id for step_id in reads if _is_untrusted(state, step_id)))
    by = tuple(dict.fromkeys((*state.plan_tainted_by, *untrusted)))
    return Steering(state.plan_is_tainted or bool(untrusted), by)


def _is_untrusted(state: RunState, step_id: str) -> bool:
    record = state.steps.get(step_id)
    return record is not None and record.observation is not None and record.trust is Trust.UNTRUSTED
