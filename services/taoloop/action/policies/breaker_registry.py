"""The breakers of one process, by tool and by the server that its calls reach."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, NamedTuple, Self
from urllib.parse import urlsplit

from taoloop.action.policies.breaker import Breaker
from taoloop.plan.acting import BreakerState
from taoloop.tools import placeholders
from taoloop.tools.contract import Breaker as BreakerRules
from taoloop.tools.contract import (
    GrpcTransport,
    HttpTransport,
    JobTransport,
    McpCommandServer,
    McpHttpServer,
    McpTransport,
    PythonTransport,
    SqlTransport,
    ToolContract,
)

MAX_BREAKERS: Final = 4096

_PORTS: Final = {"http": 80, "https": 443}


class BreakerKey(NamedTuple):
    """What a breaker is for: one tool at one origin; two tools of one server do not share their luck.

    Attributes:
        tool: The tool's name.
        scheme: Of the address, such as `https`; the kind of the transport where there is no address.
        host: Lower case; empty where there is none.
        port: 0 where there is none.
    """

    tool: str
    scheme: str = ""
    host: str = ""
    port: int = 0

    @classmethod
    def of(cls, contract: ToolContract, bases: Mapping[str, str]) -> Self:
        """Return the key of a tool whose address lies at one of these base URLs, by name."""
        name = contract.name
        match contract.transport:
            case PythonTransport(entry_point=entry_point):
                return cls(name, "python", entry_point)
            case SqlTransport(database=database):
                return cls(name, "sql", database)
            case McpTransport(server=McpCommandServer(command=command)):
                return cls(name, "stdio", command[0])
            case GrpcTransport(base=base):
                return cls._at(name, bases.get(base, ""))
            case (
                HttpTransport(url=template)
                | JobTransport(query=HttpTransport(url=template))
                | McpTransport(server=McpHttpServer(url=template))
            ):
                return cls._at(name, bases.get(next(iter(placeholders.bases(template)), ""), ""))
            case _:
                return cls(name)

    @classmethod
    def _at(cls, tool: str, url: str) -> Self:
        parts = urlsplit(url)
        return cls(tool, parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0))


class BreakerRegistry:
    """Makes breakers when they are first asked for, and keeps a bounded number.

    Args:
        max_breakers: How many; beyond it, the one that was not used for longest goes, a closed one if there is any.
    """

    def __init__(self, max_breakers: int = MAX_BREAKERS) -> None:
        self._max_breakers = max_breakers
        self._breakers: OrderedDict[BreakerKey, Breaker] = OrderedDict()

    def get(self, key: BreakerKey, rules: BreakerRules, now: float) -> Breaker:
        """Return the breaker of a key; other rules than before make a new one."""
        breaker = self._breakers.get(key)
        if breaker is None or (breaker.rules is not rules and breaker.rules != rules):
            self._make_room(now)
            breaker = self._breakers[key] = Breaker(rules)
        self._breakers.move_to_end(key)
        return breaker

    def not_closed(self, now: float) -> tuple[tuple[BreakerKey, Breaker], ...]:
        """Return the breakers that are open or half open at `now`, for what is published."""
        return tuple(
            (key, breaker) for key, breaker in self._breakers.items() if breaker.state(now) is not BreakerState.CLOSED
        )

    def of_tool(self, tool: str) -> tuple[Breaker, ...]:
        """Return the breakers of one tool."""
        return tuple(breaker for key, breaker in self._breakers.items() if key.tool == tool)

    def _make_room(self, now: float) -> None:
        if len(self._breakers) < self._max_breakers:
            return
        closed = (key for key, breaker in self._breakers.items() if breaker.state(now) is BreakerState.CLOSED)
        del self._breakers[next(closed, next(iter(self._breakers)))]

    def __repr__(self) -> str:
        shown = ", ".join(f"{key.tool}@{key.host}:{key.port}: {breaker!r}" for key, breaker in self._breakers.items())
        return f"BreakerRegistry({shown})"
