"""What a run has tried against its failures, as its events tell it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from taoloop.loop.correction.classes import FaultClass
from taoloop.loop.correction.machine import STATE_AFTER, Reaction, State
from taoloop.plan.running import CorrectionMade

_SECOND: Final = "-second"
"""Ends the id of a step that asks another source for the same."""

_OF_SECOND_SOURCE: Final = frozenset({Reaction.FALLBACK, Reaction.CROSS_CHECK})
_AGAIN: Final = frozenset({Reaction.RETRY, Reaction.FIX_INPUT, Reaction.APPROVE})
_WITHHELD: Final = frozenset({FaultClass.TOOL_TIMEOUT, FaultClass.TOOL_UNAVAILABLE})
_NOT_TRIED: Final = frozenset({Reaction.FAIL, Reaction.HAND_OVER, Reaction.ASK, Reaction.LEAVE_OUT})


def second_of(step_id: str) -> str:
    """Return the id of the step that asks another source for what a step brought."""
    return f"{step_id}{_SECOND}"


def is_second(step_id: str) -> bool:
    """Tell whether a step only asks another source for what another step brought."""
    return step_id.endswith(_SECOND)


def runs_again(made: CorrectionMade) -> bool:
    """Tell whether a correction lets the step that failed run again."""
    return made.reaction in _AGAIN


def leaves_plan(made: CorrectionMade) -> bool:
    """Tell whether a correction leaves the run's plan: another thought is made, or a person acts."""
    reaction = _known(made.reaction)
    return reaction is not None and not reaction.is_in_plan and reaction is not Reaction.LEAVE_OUT


@dataclass(slots=True)
class Corrections:
    """The corrections of a run. Only the run's state changes them.

    Attributes:
        made: All of them since a person last spoke, oldest first.
        causes: Those that led to the latest thought.
    """

    made: tuple[CorrectionMade, ...] = ()
    causes: tuple[CorrectionMade, ...] = ()
    _next_causes: tuple[CorrectionMade, ...] = ()
    _open: dict[str, Reaction] = field(default_factory=dict)

    def take(self, made: CorrectionMade) -> None:
        """Take a correction in."""
        self.made = (*self.made, made)
        reaction = _known(made.reaction)
        if reaction is None:
            return
        if reaction.thinks_again:
            self._next_causes = (*self._next_causes, made)
        if reaction in _OF_SECOND_SOURCE:
            self._open[made.step_id] = reaction

    def thought(self) -> None:
        """Take note that a thought was made; what led to one that failed itself stands behind the next one as well."""
        is_of_thought = bool(self._next_causes) and not any(made.step_id for made in self._next_causes)
        kept = tuple(made for made in self.causes if made.step_id) if is_of_thought else ()
        self.causes, self._next_causes = (*kept, *self._next_causes), ()

    def observed(self, step_id: str) -> None:
        """Take note of a verdict on a step: it ends the comparison of its sources."""
        self._open.pop(step_id, None)

    def begin_anew(self) -> None:
        """Forget what was tried, since a person has spoken."""
        self.made = self.causes = self._next_causes = ()
        self._open.clear()

    @property
    def thinks_strictly(self) -> bool:
        """Whether the next thought is to be held to a stricter form."""
        return any(made.reaction == Reaction.REPROMPT for made in self._next_causes)

    @property
    def open_comparisons(self) -> dict[str, Reaction]:
        """Return the steps for which another source is to be asked, with what is made of its result."""
        return dict(self._open)

    def is_fixed(self, step_id: str) -> bool:
        """Tell whether the contract's values replace words in a step's arguments, or those of its second source."""
        return any(made.reaction == Reaction.FIX_INPUT for made in self._of(step_id.removesuffix(_SECOND)))

    def is_given_up(self, step_id: str) -> bool:
        """Tell whether the plan goes on without a step that failed."""
        return any(made.reaction == Reaction.LEAVE_OUT for made in self._of(step_id))

    def attempts(self, step_id: str) -> int:
        """Return how many corrections a step has had, or with no step the thoughts."""
        return sum(1 for _ in self._of(step_id))

    def withheld_tools(self) -> tuple[str, ...]:
        """Return the tools that failed in a way that the next thought should plan round."""
        tools = [
            made.tool
            for made in self.made
            if made.reaction == Reaction.REPLAN and made.tool and made.fault_class in _WITHHELD
        ]
        return tuple(dict.fromkeys(tools))

    def state_of(self, step_id: str, tool: str, kind: FaultClass) -> State:
        """Return where the correction of a failure stands.

        A step of a later thought begins where an earlier one of the same tool and the same kind of failure ended: what
        was planned again once, and failed again in the same way, is not planned a third time.
        """
        own = [state_after(made) for made in self._of(step_id)]
        before = [
            State.REPLANNED
            for made in self.made
            if made.reaction == Reaction.REPLAN and made.tool == tool and made.fault_class == kind
        ]
        return max((*own, *before), default=State.FRESH)

    def _of(self, step_id: str) -> Iterator[CorrectionMade]:
        return (made for made in self.made if made.step_id == step_id)


def state_after(made: CorrectionMade) -> State:
    """Return the state that a correction leads to; one that ended a run is forgotten once the run goes on."""
    reaction = _known(made.reaction)
    return State.FRESH if reaction is None or reaction in _NOT_TRIED else STATE_AFTER[reaction]


def _known(reaction: str) -> Reaction | None:
    try:
        return Reaction(reaction)
    except ValueError:
        return None  # of a later version
