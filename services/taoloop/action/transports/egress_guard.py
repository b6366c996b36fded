"""Holds the rules at connect time: no name leads to an address that was not judged, and no other one is dialled."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass, field
from typing import Final

from taoloop.action.egress.rules import EgressRules
from taoloop.core.errors import ConfigurationError

try:
    from aiohttp.abc import AbstractResolver, ResolveResult
    from aiohttp.resolver import DefaultResolver
except ImportError as exc:
    raise ConfigurationError("The HTTP transport needs the extra `action`.", metadata={"extra": "action"}) from exc

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]]

REMEDY: Final = "the operator opens networks in TAOLOOP_EGRESS__ALLOW"


class EgressForbidden(OSError):
    """A connection was refused before it was made.

    An `OSError`, since that is what the connector takes for a failed connection.

    Attributes:
        reason: Why, in a few words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EACCES, reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Egress:
    """Where connections may go, and who finds the addresses of names.

    Attributes:
        rules: What the operator opened.
        resolver: Asked for the addresses; None for the system's.
    """

    rules: EgressRules = field(default_factory=EgressRules)
    resolver: AbstractResolver | None = None


class EgressGuard:
    """Judges every address of every connection of one pool.

    The resolver judges all addresses of a name, so that a name with one forbidden record is refused whole; the
    socket factory judges the one address that is dialled, so that addresses written in the URL, which no
    resolver sees, and names that change their mind in between are caught too.

    Args:
        egress: The rules to begin with.
    """

    def __init__(self, egress: Egress) -> None:
        self._rules = egress.rules
        self._hosts: set[str] = set()
        self._resolver = egress.resolver
        self._open: set[socket.socket] = set()

    @property
    def rules(self) -> EgressRules:
        """The rules, with what the bases admitted so far open."""
        return self._rules

    def admit_base(self, host: str) -> None:
        """Take the host of a base URL, which the operator wrote, as meant: see `EgressRules.for_host`."""
        if host not in self._hosts:
            self._hosts.add(host)
            self._rules = self._rules.for_host(host)

    def make_socket(self, info: AddressInfo) -> socket.socket:
        """Return a socket for an address that may be dialled.

        Raises:
            EgressForbidden: It may not.
        """
        family, kind, protocol, _, address = info
        self._judge(str(address[0]))
        made = socket.socket(family, kind, protocol)
        self._open = {held for held in self._open if held.fileno() != -1}
        self._open.add(made)
        return made

    @property
    def open_connections(self) -> int:
        """How many of the sockets made here are open now."""
        return sum(held.fileno() != -1 for held in self._open)

    def resolver(self) -> AbstractResolver:
        """Return a resolver that answers with judged addresses alone."""
        return _JudgingResolver(self, DefaultResolver() if self._resolver is None else self._resolver)

    def _judge(self, address: str) -> None:
        reason = self._rules.objection(address)
        if reason is not None:
            raise EgressForbidden(reason)

    def __repr__(self) -> str:
        return f"EgressGuard(allow={[str(network) for network in self._rules.allow]})"


class _JudgingResolver(AbstractResolver):
    def __init__(self, guard: EgressGuard, resolver: AbstractResolver) -> None:
        self._guard = guard
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        for each in found:
            self._guard._judge(each["host"])  # noqa: SLF001 - one thing in two shapes, as the connector wants them
        return found

    async def close(self) -> None:
        await self._resolver.close()
