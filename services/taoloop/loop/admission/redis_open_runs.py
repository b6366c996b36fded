"""The open runs of each tenant, in a sorted set of Redis or Valkey."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from taoloop.core.deadlines import Deadline
from taoloop.loop.admission.open_runs import Place
from taoloop.wire.redis.redis_link import RedisLink
from taoloop.wire.redis.script_batch import Argument, Script, run_script


class RedisOpenRuns:
    """An `OpenRuns` by the time of the server.

    Args:
        link: The connection.
        prefix: What every key starts with.
    """

    def __init__(self, link: RedisLink, prefix: str) -> None:
        self._link = link
        self._prefix = prefix
        text = files("taoloop.loop.admission").joinpath("scripts", "enter_open_run.lua").read_text(encoding="utf-8")
        self._enter_script = Script(text)

    def __repr__(self) -> str:
        return f"<RedisOpenRuns {self._prefix} on {self._link!r}>"

    async def enter(self, tenant: str, request_id: str, most: int, hold_seconds: float, deadline: Deadline) -> Place:
        """See `OpenRuns.enter`."""
        keys = [self._key(tenant)]
        arguments: list[Argument] = [request_id, most, max(1, int(hold_seconds * 1000))]
        reply: Any = await self._link.run(
            lambda client: run_script(client, self._enter_script, keys, arguments), deadline
        )
        is_entered, is_new, open_runs = reply
        return Place(bool(is_entered), bool(is_new), int(open_runs))

    async def leave(self, tenant: str, request_id: str, deadline: Deadline) -> None:
        """See `OpenRuns.leave`."""
        await self._link.run(lambda client: client.zrem(self._key(tenant), request_id), deadline)

    def _key(self, tenant: str) -> str:
        return f"{self._prefix}:{{tenant:{tenant}}}:open"
