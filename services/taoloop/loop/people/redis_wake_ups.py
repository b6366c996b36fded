"""Moments at which resting runs are looked at, in one sorted set of Redis or Valkey."""

from __future__ import annotations

from datetime import datetime
from importlib.resources import files
from typing import Any, Final

from taoloop.core.deadlines import Deadline
from taoloop.loop.people.wake_ups import WakeUp
from taoloop.loop.ports import RunKey
from taoloop.wire.redis.redis_link import RedisLink
from taoloop.wire.redis.script_batch import Argument, Script, run_script

CLAIM_SECONDS: Final = 30.0
"""How long a claimed run is hidden from other hosts; looking at one takes a part of a second."""


class RedisWakeUps:
    """A `WakeUps` by the time of the server.

    Args:
        link: The connection.
        prefix: What every key starts with.
        claim_seconds: How long a claimed run is hidden from other hosts.
    """

    def __init__(self, link: RedisLink, prefix: str, claim_seconds: float = CLAIM_SECONDS) -> None:
        self._link = link
        self._key = f"{prefix}:{{run-wake-ups}}:moments"
        self._claim_ms = max(1, int(claim_seconds * 1000))
        self._claim_script = _script("claim_wake_ups")
        self._settle_script = _script("settle_wake_up")

    def __repr__(self) -> str:
        return f"<RedisWakeUps {self._key} on {self._link!r}>"

    async def set(self, run: RunKey, at: datetime, deadline: Deadline) -> None:
        """See `WakeUps.set`."""
        moment = {_member(run): _milliseconds(at)}
        await self._link.run(lambda client: client.zadd(self._key, moment), deadline)

    async def claim(self, most: int, deadline: Deadline) -> tuple[WakeUp, ...]:
        """See `WakeUps.claim`. A claim whose reply was lost is forgotten; its runs come up again."""
        reply: Any = await self._link.run(
            lambda client: run_script(client, self._claim_script, [self._key], [most, self._claim_ms]), deadline
        )
        members, again = reply
        return tuple(WakeUp(_run(member), int(again)) for member in members)

    async def settle(self, wake_up: WakeUp, again_at: datetime | None, deadline: Deadline) -> None:
        """See `WakeUps.settle`."""
        again = 0 if again_at is None else _milliseconds(again_at)
        arguments: list[Argument] = [_member(wake_up.run), wake_up.token, again]
        await self._link.run(lambda client: run_script(client, self._settle_script, [self._key], arguments), deadline)


def _member(run: RunKey) -> str:
    # The run's id has no colon; a tenant may have one.
    return f"{run.run_id}:{run.tenant}"


def _run(member: bytes) -> RunKey:
    run_id, _, tenant = member.decode().partition(":")
    return RunKey(tenant, run_id)


def _milliseconds(moment: datetime) -> int:
    return max(1, int(moment.timestamp() * 1000))


def _script(name: str) -> Script:
    return Script(files("taoloop.loop.people").joinpath("scripts", f"{name}.lua").read_text(encoding="utf-8"))
