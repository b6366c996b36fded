"""The records of a plan under construction: steps, what is missing, a draft of one more call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.plan.model import StepOutput
from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.index import ToolView
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.sources import Bound

MAX_TRIED: Final = 120
"""How many calls are tried as producers for one request: it bounds the time where many tools feed one another."""
UNSURE_SCORE: Final = 0.65
"""Below this a number fits a slot by its kind alone, so that the order of the words may decide."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the plan under construction.

    Attributes:
        step_id: Its id in the run.
        tool: The tool.
        bound: Its arguments by pointer.
        is_completed: Whether an earlier iteration made this very call with success, so that it is not planned again.
    """

    step_id: str
    tool: ToolView
    bound: Mapping[str, Bound]
    is_completed: bool = False

    @property
    def items(self) -> StepOutput | None:
        """Return the list for whose every item the call is made; None for a single call."""
        return next((bound.items for bound in self.bound.values() if bound.items is not None), None)


@dataclass(frozen=True, slots=True)
class Missing:
    """A required parameter without a value."""

    tool: ToolView
    slot: Slot
    reason: InputReason = InputReason.MISSING
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """The steps so far with one more call.

    Attributes:
        steps: All steps, producers before what they feed; without the new one while something is missing.
        bound: The arguments of the new call.
        missing: What it still needs, in the order of its parameters.
        has_room: False when the plan would grow beyond `MAX_STEPS`.
    """

    steps: tuple[Step, ...]
    bound: Mapping[str, Bound]
    missing: tuple[Missing, ...]
    has_room: bool = True

    def fill_rate(self, tool: ToolView) -> float:
        """Return the share of the tool's required parameters that have a value, 1.0 when there are none."""
        required = sum(slot.is_required for slot in tool.slots)
        return max(0.0, 1.0 - len(self.missing) / required) if required else 1.0


@dataclass(slots=True)
class Budget:
    """How many producers may still be tried for one request."""

    left: int = MAX_TRIED

    def spend(self) -> bool:
        """Take one try; False when none is left."""
        self.left -= 1
        return self.left >= 0
