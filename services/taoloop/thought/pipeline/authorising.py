"""What a deployment lets its planners do while it comes to trust them: kinds of thoughts, and tools."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from taoloop.core.faults import FaultCode
from taoloop.plan.check_context import plan_fault
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import Permissions
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, RefusalReason, ThinkRequest
from taoloop.thought.planners.model.offer import ALL_MODES, Mode

NO_TOOL_ALLOWED: Final = "(none)"
"""Stands in a list of allowed tools that is empty, since an empty one means every tool; no tool has such a name."""

Outcome = ThoughtPlan | Answer | NeedInput | Refusal | Escalation

_MODE_OF: Final = {ThoughtPlan: Mode.PLAN, NeedInput: Mode.ASK, Answer: Mode.DONE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorisation:
    """A white list for every planner of a deployment, within what each request permits.

    Attributes:
        modes: What a thought may come to. To refuse and to hand over to a person is always allowed.
        tools: Names of the tools that plans may use; empty allows every tool.
    """

    modes: frozenset[Mode] = ALL_MODES
    tools: frozenset[str] = frozenset()

    def narrowed(self, request: ThinkRequest) -> ThinkRequest:
        """Return the request with permissions that go no further than the white list: planners and check then agree."""
        if not self.tools:
            return request
        permissions = request.permissions or Permissions()
        asked = permissions.allowed_tools or tuple(sorted(self.tools))
        allowed = tuple(name for name in asked if name in self.tools) or (NO_TOOL_ALLOWED,)
        return replace(request, permissions=replace(permissions, allowed_tools=allowed))

    def refusal_of(self, outcome: Outcome) -> Refusal | None:
        """Return what takes the place of a thought whose kind is not allowed; None when it is."""
        mode = _MODE_OF.get(type(outcome))
        if mode is None or mode in self.modes:
            return None
        allowed = tuple(sorted(each.value for each in self.modes))
        message = f"Thoughts of the kind {mode} are not allowed in this deployment."
        fault = plan_fault(FaultCode.MODE_NOT_ALLOWED, "", message, actual=mode.value, candidates=allowed)
        return Refusal(reason=RefusalReason.NOT_ALLOWED, message=message, faults=(fault,))
