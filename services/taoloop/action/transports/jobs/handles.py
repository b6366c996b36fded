"""Job handles: tickets that travel through the caller's hands and come back as they were, or are refused."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from taoloop.action.ports import JobTicket
from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.contract import JobState

VERSION: Final = 1
"""Of the handle's form; a handle of another one is refused."""

_SEAL: Final = "seal"
_MEMBERS: Final = frozenset({"version", "tool", "job_id", "created_at", "state", "misses", "effect_id", _SEAL})


class HandleRefused(ValueError):
    """A handle is not one that was given for this call.

    Attributes:
        message: Why, in one sentence.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleOwner:
    """The call that a handle was given for."""

    tenant: str
    run_id: str
    tool: str
    arguments_hash: str


class JobHandles:
    """Seals tickets for their owners.

    Args:
        key: Secret, the same in every process that serves the same callers; at least 16 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, ticket: JobTicket, owner: HandleOwner) -> JsonValue:
        """Return the handle of a ticket: opaque to its holder, bound to its owner.

        {"version": 1, "tool": "…", "job_id": "…", "created_at": "…", "state": "running", "misses": 0,
         "effect_id": "…", "seal": "…"}
        """
        plain: dict[str, JsonValue] = {"version": VERSION, "tool": owner.tool, **ticket_to_json(ticket)}
        return {**plain, _SEAL: self._sealed(plain, owner)}

    def open(self, handle: JsonValue, owner: HandleOwner) -> JobTicket:
        """Return the ticket in a handle.

        Raises:
            HandleRefused: It is malformed, was changed, or was given for another call.
        """
        if not isinstance(handle, dict) or handle.keys() != _MEMBERS:
            raise HandleRefused("The handle has not the form of a job handle.")
        if handle["version"] != VERSION:
            raise HandleRefused("The handle is of a version that is not known here.")
        plain = {name: value for name, value in handle.items() if name != _SEAL}
        seal = handle[_SEAL]
        if not isinstance(seal, str) or not hmac.compare_digest(seal.encode(), self._sealed(plain, owner).encode()):
            raise HandleRefused("The handle was changed, or was given for another call.")
        return ticket_from_json(plain)

    def _sealed(self, plain: JsonValue, owner: HandleOwner) -> str:
        bound = exact_json.canonical([plain, owner.tenant, owner.run_id, owner.tool, owner.arguments_hash])
        return hmac.digest(self._key, bound.encode(), "sha256").hex()

    def __repr__(self) -> str:
        return f"JobHandles(version={VERSION})"


def ticket_to_json(ticket: JobTicket) -> dict[str, JsonValue]:
    """Return a ticket as an object, without a seal: what the ledger keeps."""
    return {
        "job_id": ticket.job_id,
        "created_at": ticket.created_at.isoformat(),
        "state": ticket.state.value,
        "misses": ticket.misses,
        "effect_id": ticket.effect_id,
    }


def ticket_from_json(value: dict[str, JsonValue]) -> JobTicket:
    """Return the ticket that `ticket_to_json` wrote."""
    return JobTicket(
        job_id=str(value["job_id"]),
        created_at=datetime.fromisoformat(str(value["created_at"])),
        state=JobState(str(value["state"])),
        misses=int(str(value["misses"])),
        effect_id=str(value["effect_id"]),
    )
