"""Errors of the effect ledger's own calls."""

from __future__ import annotations

from typing import Self

from taoloop.core.errors import TaoError


class UnknownEffect(TaoError):
    """No recorded effect has this id, or it belongs to another tenant."""

    code = "NOT_FOUND"
    reason = "UNKNOWN_EFFECT"
    remedy = "List the effects; a repeat gives the same answer."

    @classmethod
    def of(cls, effect_id: str) -> Self:
        """Return the error for this effect id."""
        return cls(f"There is no effect {effect_id}.", metadata={"effect_id": effect_id})


class EffectSettled(TaoError):
    """The effect's outcome is known, or its call is still being made, so a person has nothing to settle."""

    code = "FAILED_PRECONDITION"
    reason = "EFFECT_NOT_UNKNOWN"
    remedy = "Read the effect's state; only an unknown outcome is settled by a person, and only once."

    @classmethod
    def of(cls, effect_id: str, state: str) -> Self:
        """Return the error for an effect that stands in `state`."""
        return cls(f"Effect {effect_id} is {state}, not unknown.", metadata={"effect_id": effect_id, "state": state})
