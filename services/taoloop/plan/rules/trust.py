"""The rule that untrusted text feeds no step that writes or reaches outside, where the permissions refuse it."""

from __future__ import annotations

from collections.abc import Iterator

from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.check_context import CheckContext, argument_place, plan_fault, step_place
from taoloop.plan.flow.conditions import steering_sources
from taoloop.plan.graph import topological_order
from taoloop.plan.model import PlanStep, StepOutput, ThoughtPlan
from taoloop.plan.rules.bindings import known_steps
from taoloop.plan.rules.sources import known_ids, sources_of
from taoloop.plan.rules.structure import dependencies_of
from taoloop.plan.rules.tools import may_harm, refuses_taint
from taoloop.tools.signature import Trust


def untrusted_text_feeds_no_harm(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """No argument of a step that writes or reaches outside comes from an untrusted result, nor does one decide over it.

    It holds where the permissions refuse such steps; otherwise the executor asks a person, or makes the call.

    A result is untrusted when its tool is, or when an untrusted result went into the call: what was asked for decides
    what comes back.
    """
    if not refuses_taint(context):
        return
    untrusted = untrusted_steps(plan, context)
    for index, step, tool in known_steps(plan, context):
        if not may_harm(tool):
            continue
        for steering in steering_sources(step, known_ids(plan, context)):
            if isinstance(steering, StepOutput) and steering.step_id in untrusted:
                yield plan_fault(
                    FaultCode.TAINTED_SOURCE, step_place(index),
                    f"{tool.name!r} writes or reaches outside, and {steering.step_id!r}, which holds untrusted text, "
                    f"decides whether or how often.", actual=steering.step_id,
                )  # fmt: skip
        for binding in step.bindings:
            for source in sources_of(binding):
                if isinstance(source, StepOutput) and source.step_id in untrusted:
                    yield plan_fault(
                        FaultCode.TAINTED_SOURCE, argument_place(index, binding.pointer),
                        f"{tool.name!r} writes or reaches outside, and {source.step_id!r} holds untrusted text.",
                        actual=source.step_id,
                    )  # fmt: skip


def untrusted_steps(plan: ThoughtPlan, context: CheckContext) -> frozenset[str]:
    """Return the ids of completed and planned steps whose results hold or follow from untrusted text."""
    found = {step.step_id for step in context.completed if step.trust is Trust.UNTRUSTED}
    steps: dict[str, PlanStep] = {step.step_id: step for step in reversed(plan.steps)}
    for step_id in topological_order(dependencies_of(plan)):
        tool = context.tools.get(steps[step_id].tool)
        if tool is None or tool.trust is Trust.UNTRUSTED or _is_fed(steps[step_id], found):
            found.add(step_id)
    return frozenset(found)


def _is_fed(step: PlanStep, untrusted: set[str]) -> bool:
    return any(
        isinstance(source, StepOutput) and source.step_id in untrusted
        for binding in step.bindings
        for source in sources_of(binding)
    )
