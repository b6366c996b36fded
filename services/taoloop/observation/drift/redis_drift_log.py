"""Drift in Redis: a hash of records for each tool, to which every replica adds by one script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any, Final, TypeVar

from redis.asyncio import Redis

from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonSyntaxError, dumps, loads
from taoloop.core.logs import EventLog
from taoloop.observation.drift.ports import Sighting, SightingBatch
from taoloop.plan.observing import Drift, DriftKind, DriftRecord
from taoloop.wire.redis.redis_errors import refusals_told
from taoloop.wire.redis.redis_link import RedisLink

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_BATCH_MS: Final = 24 * 3600 * 1000
"""How long a process's last batch is remembered: far longer than one is offered again."""

T = TypeVar("T")

_log = EventLog(__name__)


class RedisDriftLog:
    """A `DriftLog` on one Redis or Valkey.

    Args:
        link: The connection.
        prefix: What every key starts with.
        max_records: Most records of one tool.
        retention_seconds: How long a tool's records are kept after the last sighting.
    """

    is_shared = True

    def __init__(self, link: RedisLink, prefix: str, *, max_records: int, retention_seconds: float) -> None:
        self._link = link
        self._prefix = f"{prefix}:{{observation}}:drift"  # one slot, so that a batch is added as a whole
        self._max_records = max_records
        self._retention_ms = int(retention_seconds * 1000)
        script = files("taoloop.observation.drift").joinpath("scripts/note_drift.lua").read_text(encoding="utf-8")
        self._note = link.client.register_script(script)

    def __repr__(self) -> str:
        return f"<RedisDriftLog {self._prefix} on {self._link!r}>"

    async def add(self, batch: SightingBatch, deadline: Deadline) -> int:
        """See `DriftLog.add`."""
        tools = list(dict.fromkeys(sighting.tool for sighting in batch.sightings))
        keys = [f"{self._prefix}:batch:{batch.source}", *(self._key(tool) for tool in tools)]
        place = {tool: index for index, tool in enumerate(tools, start=2)}
        arguments: list[bytes | str | int] = [batch.number, _BATCH_MS, self._max_records, self._retention_ms]
        for sighting in batch.sightings:
            arguments += [
                place[sighting.tool],
                _field(sighting),
                _microseconds(sighting.first_seen),
                _microseconds(sighting.last_seen),
                sighting.count,
            ]
        reply: Any = await self._run(lambda _: self._note(keys=keys, args=arguments), deadline)
        return int(reply)

    async def read(self, tools: Sequence[str], deadline: Deadline) -> tuple[DriftRecord, ...]:
        """See `DriftLog.read`."""

        async def all_records(client: Redis) -> list[Any]:
            pipeline = client.pipeline(transaction=False)
            for tool in tools:
                pipeline.hgetall(self._key(tool))
            return list(await pipeline.execute())

        hashes = await self._run(all_records, deadline) if tools else []
        found = (
            _record(tool, field, value)
            for tool, records in zip(tools, hashes, strict=True)
            for field, value in records.items()
        )
        return tuple(record for record in found if record is not None)

    async def _run(self, operation: Callable[[Redis], Awaitable[T]], deadline: Deadline) -> T:
        """Run an operation; a server that refuses it, for example for want of memory, is away like a silent one."""
        with refusals_told():
            return await self._link.run(operation, deadline)

    def _key(self, tool: str) -> str:
        return f"{self._prefix}:of:{tool}"


def _field(sighting: Sighting) -> str:
    drift = sighting.drift
    return dumps([drift.kind.value, drift.in_data, drift.pointer, drift.value])


def _record(tool: str, field: bytes, value: bytes) -> DriftRecord | None:
    """Return a record; None for one that cannot be read, such as that of a newer version."""
    try:
        kind, in_data, pointer, shown = _four(loads(field))
        first, last, count = (int(part) for part in value.decode().split(":"))
        drift = Drift(kind=DriftKind(kind), pointer=str(pointer), value=shown, in_data=in_data is True)
        return DriftRecord(tool=tool, drift=drift, first_seen=_moment(first), last_seen=_moment(last), count=count)
    except (JsonSyntaxError, ValueError, OverflowError):
        _log.warning("drift_unreadable", tool=tool)
        return None


def _four(value: Any) -> tuple[Any, Any, Any, Any]:
    if not isinstance(value, list) or len(value) != 4:
        raise ValueError("a drift has four parts")
    first, second, third, fourth = value
    return first, second, third, fourth


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
