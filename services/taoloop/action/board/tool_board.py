"""The board as one replica sees it: read every second, asked without waiting."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

from taoloop.action.attempts import SwitchedOff
from taoloop.action.board.model import BoardContent, BoardStore, OpenBreaker, Switch
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.logs import EventLog
from taoloop.core.tasks import beside
from taoloop.plan.task import ToolAvailability

OFF: Final = "switched_off"
OPEN: Final = "breaker_open"
STORE_SECONDS: Final = 2.0

_log = EventLog(__name__)

OwnBreakers = Callable[[], tuple[OpenBreaker, ...]]


class ToolBoard:
    """Knows which tools are switched off or out of order, here and at the other replicas.

    Switches bind: an attempt asks before it is made. Open breakers of others are advice for planners; whether a call
    is made here is for the breaker of this process alone.

    Args:
        store: Where the replicas meet.
        fixed: Tools that this process's settings switch off, with the reason.
        clock: Paces the reading.
        every_seconds: How old what is known may become.
    """

    def __init__(
        self,
        store: BoardStore,
        fixed: Mapping[str, str],
        clock: Clock,
        every_seconds: float,
    ) -> None:
        self._store = store
        self._fixed = {tool: Switch(tool=tool, reason=reason) for tool, reason in fixed.items()}
        self._own_breakers: OwnBreakers = tuple
        self._clock = clock
        self._every_seconds = every_seconds
        self._switches: Mapping[str, Switch] = dict(self._fixed)
        self._open: tuple[OpenBreaker, ...] = ()
        self._published: tuple[OpenBreaker, ...] = ()
        self._is_away = False

    def __repr__(self) -> str:
        state = "away" if self._is_away else "up"
        return f"<ToolBoard [{len(self._switches)} off, {len(self._open)} open elsewhere] store {state}>"

    def publish_from(self, own_breakers: OwnBreakers) -> None:
        """Say from now on which breakers are open in this process."""
        self._own_breakers = own_breakers

    def switch_of(self, tool: str) -> SwitchedOff | None:
        """Return the operator's word about a tool, as known here; None when it may be called."""
        switch = self._switches.get(tool)
        return SwitchedOff(switch.reason) if switch is not None else None

    def availability(self, tool: str) -> ToolAvailability:
        """Return whether a tool can be planned with: the union of what this replica and the others know."""
        switch = self._switches.get(tool)
        if switch is not None:
            reason = f"{OFF}: {switch.reason}" if switch.reason else OFF
            return ToolAvailability(tool=tool, available=False, reason=reason)
        retry_at = self._latest_retry(tool)
        if retry_at is not None:
            return ToolAvailability(tool=tool, available=False, reason=OPEN, retry_at=retry_at)
        return ToolAvailability(tool=tool, available=True)

    async def switch_off(self, tool: str, reason: str, switched_by: str, deadline: Deadline) -> None:
        """Switch a tool off for all replicas; this one obeys at once, the others when they read next."""
        switch = Switch(tool=tool, reason=reason, switched_by=switched_by, switched_at=self._clock.now())
        await self._store.switch_off(switch, deadline)
        self._switches = {**self._switches, switch.tool: switch}

    async def switch_on(self, tool: str, deadline: Deadline) -> None:
        """Switch a tool on again. What the settings switch off stays off."""
        await self._store.switch_on(tool, deadline)
        self._switches = {
            name: switch for name, switch in self._switches.items() if name != tool or name in self._fixed
        }

    async def exchange(self) -> None:
        """Say what is open here and read what the others say; while the store is away, what was known stands."""
        deadline = Deadline.after(STORE_SECONDS, self._clock)
        own = self._own_breakers()
        try:
            if own or self._published:
                await self._store.publish(own, deadline)
                self._published = own
            self._take(await self._store.read(deadline))
        except BackendUnavailable as error:
            if not self._is_away:
                _log.warning("tool_board_lost", reason=error.reason)
            self._is_away = True
            return
        if self._is_away:
            _log.info("tool_board_found")
        self._is_away = False

    async def follow(self) -> None:
        """Exchange again and again until cancelled."""
        while True:
            await self.exchange()
            await self._clock.sleep(self._every_seconds)

    def _take(self, content: BoardContent) -> None:
        known = {switch.tool: switch for switch in content.switches}
        for tool in known.keys() - self._switches.keys():
            _log.warning("tool_switched_off", tool=tool, switched_by=known[tool].switched_by)
        self._switches = {**known, **self._fixed}
        self._open = content.open_breakers

    def _latest_retry(self, tool: str) -> datetime | None:
        now = self._clock.now()
        breakers = (*self._own_breakers(), *self._open)
        times = [breaker.retry_at for breaker in breakers if breaker.tool == tool and breaker.retry_at > now]
        return max(times, default=None)


@asynccontextmanager
async def following(board: ToolBoard) -> AsyncIterator[ToolBoard]:
    """Keep the board up to date while the block runs; the first reading is done before it begins."""
    await board.exchange()
    async with beside(tool_board=board.follow()):
        yield board
