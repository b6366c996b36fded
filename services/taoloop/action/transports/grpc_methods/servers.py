"""Where a base leads: the addresses of its host, each judged before a connection goes there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from taoloop.action.egress.rules import EgressRules
from taoloop.action.ports import TransportFault
from taoloop.core.faults import FaultCode

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Server:
    """What a base URL says.

    Attributes:
        host: A name, or an address without brackets.
        port: Of the scheme when the URL has none.
        is_secure: Whether TLS is spoken.
    """

    host: str
    port: int
    is_secure: bool

    @property
    def authority(self) -> str:
        """Return `host:port`, IPv6 in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Tell whether the host is written as this machine."""
        return self.host in {"localhost", "127.0.0.1", "::1"}


def server_of(base: str, bases: Mapping[str, str]) -> Server:
    """Return the server of a base.

    Raises:
        TransportFault: There is no such base, or its URL has a path or another scheme.
    """
    try:
        parts = urlsplit(bases.get(base, ""))
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError) as exc:
        raise _unusable(base) from exc
    if not parts.hostname or parts.path not in {"", "/"} or parts.query:
        raise _unusable(base)
    return Server(parts.hostname, port, parts.scheme == "https")


def _unusable(base: str) -> TransportFault:
    message = f"The base {base} is no http or https URL of a gRPC server."
    return TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False)


async def judged_addresses(server: Server, rules: EgressRules) -> tuple[str, ...]:
    """Return `IP:port` of every address of the host, IPv4 before IPv6 where it has both.

    Raises:
        TransportFault: The name is not known, or one of its addresses may not be connected to.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:
        message = "No connection to the tool could be made: the name of the host is not known."
        raise TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False, is_retriable=True) from exc
    addresses = tuple(dict.fromkeys(str(each[4][0]) for each in found))
    allowed = rules.for_host(server.host)
    for address in addresses:
        reason = allowed.objection(address)
        if reason is not None:
            message = (
                f"The tool must not be called there: {reason}; the operator opens networks in TAOLOOP_EGRESS__ALLOW."
            )
            raise TransportFault(FaultCode.EGRESS_FORBIDDEN, message, may_have_left=False)
    four = tuple(f"{address}:{server.port}" for address in addresses if ":" not in address)
    return four or tuple(f"[{address}]:{server.port}" for address in addresses)
