"""Access tokens: fetched once for all who wait, kept until shortly before they expire."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from taoloop.action.ports import TransportFault
from taoloop.core import exact_json
from taoloop.core.clock import Clock
from taoloop.core.exact_json import JsonSyntaxError
from taoloop.core.faults import FaultCode

DEFAULT_LIFETIME_SECONDS: Final = 300.0
"""How long a token is kept whose server does not say how long it lives."""

EARLY_SECONDS: Final = 30.0
"""How long before its end a token is fetched anew, at most; never more than a fifth of its life."""

_LONGEST_LIFETIME_SECONDS: Final = 86_400
_FAULT_WORDS: Final = frozenset(
    {"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type"}
    | {"invalid_scope"}
)
"""Source: RFC 6749, 5.2; any other word of the server's may hold anything and is not repeated."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A bearer token.

    Attributes:
        text: The token.
        lifetime_seconds: From now on.
    """

    text: str = field(repr=False)
    lifetime_seconds: float


@dataclass(slots=True)
class _Slot:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    token: str = field(default="", repr=False)
    fresh_until: float = 0.0
    """On the monotonic clock."""
    fetches: int = 0
    """How many came to an end; tells a waiter that somebody else has asked meanwhile."""
    fault: TransportFault | None = None
    """How the last of them failed."""


TokenKey = tuple[str, ...]


class AccessTokens:
    """Keeps one token for each key.

    Args:
        clock: Tells when a token is too old.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._slots: dict[TokenKey, _Slot] = {}

    async def token(self, key: TokenKey, fetch: Callable[[], Awaitable[AccessToken]]) -> str:
        """Return the token of a key; of many callers that need a new one, one fetches and all get what it got.

        Args:
            key: Tool, client and scope.
            fetch: Asks the token endpoint.

        Raises:
            TransportFault: `fetch` failed, for whoever waited for it too.
        """
        slot = self._slots.setdefault(key, _Slot())
        seen = slot.fetches
        if self._is_fresh(slot):
            return slot.token
        async with slot.lock:
            if self._is_fresh(slot):
                return slot.token
            if slot.fetches != seen and slot.fault is not None:
                raise _again(slot.fault)
            return await self._fetched(slot, fetch)

    def forget(self, key: TokenKey, token: str) -> None:
        """Drop a token that the tool refused, unless it was replaced already."""
        slot = self._slots.get(key)
        if slot is not None and slot.token == token:
            slot.token = ""

    async def _fetched(self, slot: _Slot, fetch: Callable[[], Awaitable[AccessToken]]) -> str:
        try:
            got = await fetch()
        except TransportFault as fault:
            slot.fetches += 1
            slot.fault = fault
            raise
        early = min(EARLY_SECONDS, got.lifetime_seconds / 5)
        slot.fetches += 1
        slot.fault = None
        slot.token = got.text
        slot.fresh_until = self._clock.monotonic() + got.lifetime_seconds - early
        return got.text

    def _is_fresh(self, slot: _Slot) -> bool:
        return bool(slot.token) and self._clock.monotonic() < slot.fresh_until

    def __repr__(self) -> str:
        fresh = sum(map(self._is_fresh, self._slots.values()))
        return f"<AccessTokens {fresh} fresh of {len(self._slots)}>"


def read_token(status: int, body: bytes) -> AccessToken:
    """Return the token in a token endpoint's answer.

    Raises:
        TransportFault: CREDENTIAL_REFUSED, there is none; retriable when the endpoint cannot serve now.
    """
    try:
        answer = exact_json.loads(body, max_bytes=len(body))
    except JsonSyntaxError:
        answer = None
    members = answer if isinstance(answer, dict) else {}
    if status != 200:
        word = members.get("error")
        told = f" ({word})" if isinstance(word, str) and word in _FAULT_WORDS else ""
        raise token_fault(f"it answered {status}{told}", is_retriable=status >= 500 or status == 429)
    text, kind = members.get("access_token"), members.get("token_type", "Bearer")
    if not isinstance(text, str) or not text or not text.isascii() or not text.isprintable():
        raise token_fault("its answer holds no token")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise token_fault("its token is no bearer token")
    lifetime = members.get("expires_in")
    if isinstance(lifetime, bool) or not isinstance(lifetime, int | Decimal):
        return AccessToken(text, DEFAULT_LIFETIME_SECONDS)
    return AccessToken(text, float(min(max(lifetime, 0), _LONGEST_LIFETIME_SECONDS)))


def token_fault(cause: str, *, is_retriable: bool = False) -> TransportFault:
    """Return the fault of a token endpoint; the tool itself was not called."""
    message = f"The token endpoint gave no access token: {cause}."
    return TransportFault(FaultCode.CREDENTIAL_REFUSED, message, may_have_left=False, is_retriable=is_retriable)


def _again(fault: TransportFault) -> TransportFault:
    """Return the fault for one more caller: an exception that is raised twice gathers two tracebacks."""
    return TransportFault(fault.code, fault.message, may_have_left=False, is_retriable=fault.is_retriable)
