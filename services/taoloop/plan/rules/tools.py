"""Rules about the tools that the steps name."""

from __future__ import annotations

from collections.abc import Iterator

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.check_context import CheckContext, near, plan_fault, step_place
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import TaintedEffects
from taoloop.tools.signature import ToolSignature, may_do_harm

_MAX_LISTED_TOOLS = 50


def may_harm(tool: ToolSignature) -> bool:
    """Tell whether a call changes something or lets somebody outside see what is sent."""
    return may_do_harm(tool.effect, tool.reach)


def tools_exist(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A step names a tool of the catalogue; the candidates are the near ones, then the others."""
    allowed = context.permissions.allowed_tools
    names = tuple(name for name in context.tools if not allowed or name in allowed)
    for index, step in enumerate(plan.steps):
        if step.tool not in context.tools:
            candidates = tuple(dict.fromkeys([*near(step.tool, names), *names]))[:_MAX_LISTED_TOOLS]
            yield plan_fault(
                FaultCode.UNKNOWN_TOOL, step_place(index, "tool"), f"There is no tool {step.tool!r}.",
                actual=step.tool, candidates=candidates,
            )  # fmt: skip


def projections_exist(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A step's projection is one of its tool's; the candidates are the tool's own."""
    for index, step in enumerate(plan.steps):
        tool = context.tools.get(step.tool)
        if step.projection and tool is not None and step.projection not in tool.projections:
            yield plan_fault(
                FaultCode.INVALID_PLAN, step_place(index, "projection"),
                f"The tool {step.tool!r} has no projection {step.projection!r}.",
                actual=step.projection, candidates=tuple(tool.projections)[:_MAX_LISTED_TOOLS],
            )  # fmt: skip


def tools_are_allowed(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """The permissions list the tool, or list none."""
    allowed = context.permissions.allowed_tools
    for index, step in enumerate(plan.steps):
        if step.tool in context.tools and allowed and step.tool not in allowed:
            yield plan_fault(
                FaultCode.TOOL_NOT_ALLOWED, step_place(index, "tool"), f"The run may not use {step.tool!r}.",
                actual=step.tool, candidates=tuple(sorted(name for name in allowed if name in context.tools)),
            )  # fmt: skip


def tools_are_available(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """No tool is planned with while it cannot be called; the fault is worth another try later."""
    switched_off = {entry.tool: entry for entry in context.availability if not entry.available}
    for index, step in enumerate(plan.steps):
        entry = switched_off.get(step.tool)
        if entry is not None and step.tool in context.tools:
            reason = f" ({entry.reason})" if entry.reason else ""
            yield Fault(
                code=FaultCode.TOOL_UNAVAILABLE,
                stage=FaultStage.PLAN,
                message=f"The tool {step.tool!r} cannot be called now{reason}.",
                field=step_place(index, "tool"),
                actual=step.tool,
                retriable=True,
                suggestion=FaultCode.TOOL_UNAVAILABLE.remedy,
            )


def effects_are_allowed(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """No step has a stronger effect than the permissions allow."""
    maximum = context.permissions.max_effect
    for index, step in enumerate(plan.steps):
        tool = context.tools.get(step.tool)
        if tool is not None and not tool.effect.is_within(maximum):
            yield plan_fault(
                FaultCode.EFFECT_NOT_ALLOWED, step_place(index, "tool"),
                f"The effect of {step.tool!r} is {tool.effect}; the run may have {maximum} at most.",
                expected=maximum.value, actual=tool.effect.value,
            )  # fmt: skip


def refuses_taint(context: CheckContext) -> bool:
    """Tell whether steps that untrusted text steers or feeds are refused at once; otherwise nobody is asked here."""
    return context.permissions.tainted_effects is TaintedEffects.REFUSE


def tainted_context_stays_inside(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A plan that untrusted text could have shaped neither writes nor sends anything outside, if that is refused."""
    if not refuses_taint(context) or not (plan.tainted_context or context.tainted_context):
        return
    for index, step in enumerate(plan.steps):
        tool = context.tools.get(step.tool)
        if tool is not None and may_harm(tool):
            yield plan_fault(
                FaultCode.TAINTED_SOURCE, step_place(index, "tool"),
                f"Untrusted text could have shaped the plan, and {step.tool!r} writes or reaches outside.",
                actual=step.tool,
            )  # fmt: skip
