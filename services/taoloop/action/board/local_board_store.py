"""The board of a service that has one replica: in the process, gone with it."""

from __future__ import annotations

from taoloop.action.board.model import BoardContent, OpenBreaker, Switch
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline


class LocalBoardStore:
    """A `BoardStore` for one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._switches: dict[str, Switch] = {}
        self._open: dict[tuple[str, str], OpenBreaker] = {}

    def __repr__(self) -> str:
        return f"<LocalBoardStore [{len(self._switches)} off]>"

    async def read(self, deadline: Deadline) -> BoardContent:  # noqa: ARG002 - the port's argument; nothing waits here
        """See `BoardStore.read`."""
        now = self._clock.now()
        return BoardContent(
            tuple(self._switches.values()), tuple(entry for entry in self._open.values() if entry.retry_at > now)
        )

    async def switch_off(self, switch: Switch, deadline: Deadline) -> None:  # noqa: ARG002 - as above
        """See `BoardStore.switch_off`."""
        self._switches[switch.tool] = switch

    async def switch_on(self, tool: str, deadline: Deadline) -> None:  # noqa: ARG002 - as above
        """See `BoardStore.switch_on`."""
        self._switches.pop(tool, None)

    async def publish(self, breakers: tuple[OpenBreaker, ...], deadline: Deadline) -> None:  # noqa: ARG002 - as above
        """See `BoardStore.publish`."""
        self._open = {(entry.tool, entry.endpoint): entry for entry in breakers}
