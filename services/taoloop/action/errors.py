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


class NoLookUp(TaoError):
    """The contract of the effect's tool names no way to look an outcome up."""

    code = "FAILED_PRECONDITION"
    reason = "NO_LOOK_UP"
    remedy = "Settle it by `taoloop effects resolve`, or let the contract declare `reconcile`."

    @classmethod
    def of(cls, effect_id: str, tool: str) -> Self:
        """Return the error for an effect of this tool."""
        return cls(
            f"Effect {effect_id} cannot be looked up: {tool} declares no `reconcile`.",
            metadata={"effect_id": effect_id, "tool": tool},
        )


class UnknownApproval(TaoError):
    """No approval has this id, or it belongs to another tenant."""

    code = "NOT_FOUND"
    reason = "UNKNOWN_APPROVAL"
    remedy = "List the approvals; a repeat gives the same answer."

    @classmethod
    def of(cls, approval_id: str) -> Self:
        """Return the error for this approval id."""
        return cls(f"There is no approval {approval_id}.", metadata={"approval_id": approval_id})
