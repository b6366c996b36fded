"""Words that no planner can make a value of."""

from __future__ import annotations

from dataclasses import dataclass

from taoloop.plan.task import InputReason


@dataclass(frozen=True, slots=True)
class Unread:
    """Words of the right kind that give no value.

    Attributes:
        reason: Why.
        candidates: What they may mean, or what would be accepted.
    """

    reason: InputReason
    candidates: tuple[str, ...] = ()
