"""What planners see of a tool: its signature, and the three words that say what a call of it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

VOCABULARY_KEYWORD: Final = "x-taoloop-vocabulary"
"""Of a text parameter: object from the value that the tool takes to the words that people use for it."""


class Effect(StrEnum):
    """What a call changes; the order of the members is the order of danger."""

    READ = "read"
    """Nothing: the call may be repeated."""

    IDEMPOTENT_WRITE = "idempotent_write"
    """Something, and a repeat with the same arguments changes nothing more."""

    WRITE = "write"
    """Something each time: the call is never repeated."""

    @property
    def rank(self) -> int:
        """Return 0 for a read, 1 for an idempotent write, 2 for a write."""
        return _RANKS[self]

    def is_within(self, maximum: Effect) -> bool:
        """Tell whether a permission up to `maximum` allows this effect."""
        return self.rank <= maximum.rank


_RANKS = {effect: rank for rank, effect in enumerate(Effect)}


class Reach(StrEnum):
    """Who sees what a call sends."""

    INTERNAL = "internal"
    """Only the company's own systems."""

    OUTWARD = "outward"
    """Somebody outside the company."""


def may_do_harm(effect: Effect, reach: Reach) -> bool:
    """Tell whether a call of a tool changes something or lets somebody outside see what is sent."""
    return effect is not Effect.READ or reach is Reach.OUTWARD


class Trust(StrEnum):
    """Whose words a value holds."""

    TRUSTED = "trusted"
    """The company's own data, or the caller's own words."""

    UNTRUSTED = "untrusted"
    """Other people's text: web pages, mail, tickets. It may not steer a write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSignature:
    """All that a planner may know of a tool, and all that a tool without a contract needs.

    Attributes:
        name: Unique in the catalogue, snake_case by convention.
        description: One line: what the tool answers or does.
        use_when: What the user says when this is the tool; may be empty.
        avoid_when: What the user says when it is not, though it looks so; may be empty.
        effect: What a call changes.
        reach: Who sees what a call sends.
        trust: Whose words the output holds.
        parameters: JSON Schema 2020-12 of the arguments, an object.
        returns: JSON Schema of the data after normalising; None when the tool does not say.
        projections: Name to goal: what a step may ask to be shown of the result, instead of all of it.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    use_when: str = ""
    avoid_when: str = ""
    effect: Effect = Effect.READ
    reach: Reach = Reach.INTERNAL
    trust: Trust = Trust.UNTRUSTED
    returns: Mapping[str, Any] | None = None
    projections: Mapping[str, str] = field(default_factory=dict)
