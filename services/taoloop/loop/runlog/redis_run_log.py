"""The run log on Redis Streams: one stream a run, the sequence number is the entry's id."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from redis.asyncio import Redis

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import RunConflict, UnknownRun
from taoloop.core.ids import new_id
from taoloop.loop.ports import NewRun, RunPosition, RunsPage, RunsWanted
from taoloop.loop.runlog.event_form import EventForm
from taoloop.loop.runlog.redis_run_index import RedisRunIndex
from taoloop.loop.runlog.retention import Retention
from taoloop.loop.runlog.run_keys import RunKeys
from taoloop.loop.runlog.run_scripts import run_script
from taoloop.loop.state import WAITING, RunState
from taoloop.plan.running import RunEvent, RunSummary
from taoloop.wire.redis.redis_link import RedisLink
from taoloop.wire.redis.redis_replies import stream_entries
from taoloop.wire.redis.script_batch import Argument, ScriptBatch, script_batch

FOLLOW_BLOCK_SECONDS: Final = 1.0
READ_COUNT: Final = 256
MOST_WAITING: Final = 16
"""Followers that wait on a connection of their own; more of them would leave none for who writes. The others look."""
LOOK_SECONDS: Final = 0.25
"""How often they do."""
MOST_LOOKING: Final = 8
"""How many of them do at the same time, for the same reason."""


class RedisRunLog:
    """A `RunLog` on Redis or Valkey. Use it as `redis_run_log` opens it.

    Durability is the server's: with AOF and `appendfsync everysec` a crash of the server may lose the last second.

    Args:
        link: The connection.
        scripts: Sends scripts on it.
        form: How events stand in the log.
        keys: Where.
        retention: For how long.
        clock: For how long runs wait, and for the name of this log among all that write to the same keys.
    """

    def __init__(
        self,
        link: RedisLink,
        scripts: ScriptBatch,
        form: EventForm,
        keys: RunKeys,
        retention: Retention,
        clock: Clock,
    ) -> None:
        self._link = link
        self._scripts = scripts
        self._form = form
        self._keys = keys
        self._retention = retention
        self._index = RedisRunIndex(link, scripts, form.codec, keys, retention, clock)
        self._writer = new_id(clock)
        self._waiting, self._looking = asyncio.Semaphore(MOST_WAITING), asyncio.Semaphore(MOST_LOOKING)

    def __repr__(self) -> str:
        return f"<RedisRunLog {self._keys.prefix} on {self._link!r}>"

    async def create(self, run: NewRun, deadline: Deadline) -> str:
        """See `RunLog.create`."""
        return await self._index.create(run, deadline)

    async def append(self, tenant: str, events: Sequence[RunEvent], deadline: Deadline) -> None:
        """See `RunLog.append`."""
        first, last = events[0], events[-1]
        written = self._form.write(events)
        kept_seconds = self._retention.after(events)
        arguments: list[Argument] = [
            first.sequence,
            first.host_epoch,
            self._writer,
            f"{last.sequence} {last.host_epoch} {self._writer} {int(last.time.timestamp() * 1000)}",
            0 if kept_seconds is None else int(kept_seconds * 1000),
            len(events),
            *written.fields,
            *written.contents,
        ]
        keys = self._keys.of_run(tenant, first.run_id)
        reply = _text(await self._scripts.run(run_script("append_events"), keys, arguments, deadline))
        if reply in ("conflict", "stale"):
            raise RunConflict(
                f"Event {first.sequence} of run {first.run_id} was not written: {reply}.",
                metadata={"run_id": first.run_id, "sequence": str(first.sequence), "cause": reply},
            )

    async def position(self, tenant: str, run_id: str, deadline: Deadline) -> RunPosition:
        """See `RunLog.position`."""
        _, key, _ = self._keys.of_run(tenant, run_id)
        position: Any = await self._link.run(lambda client: client.get(key), deadline)
        if position is None:  # lost, or there never was one: the events tell
            events = await self.read(tenant, run_id, 1, deadline)
            return RunPosition(events[-1].sequence, events[-1].host_epoch)
        sequence, epoch = position.split(b" ")[:2]
        return RunPosition(int(sequence), int(epoch))

    async def read(self, tenant: str, run_id: str, from_sequence: int, deadline: Deadline) -> tuple[RunEvent, ...]:
        """See `RunLog.read`."""
        key, first = self._keys.of_run(tenant, run_id)[0], max(1, from_sequence)
        entries: Any = await self._link.run(lambda client: client.xrange(key, min=f"{first}-0"), deadline)
        if not entries and not await self._exists(key, deadline):
            raise UnknownRun.of(run_id)
        return await self._events(tenant, run_id, (fields for _, fields in entries), deadline)

    async def follow(
        self, tenant: str, run_id: str, from_sequence: int, deadline: Deadline
    ) -> AsyncGenerator[RunEvent]:
        """See `RunLog.follow`."""
        key, last = self._keys.of_run(tenant, run_id)[0], max(0, from_sequence - 1)
        while not deadline.is_expired:
            for event in await self._events(tenant, run_id, await self._next(key, last, deadline), deadline):
                last = event.sequence
                yield event
            if last < from_sequence and not await self._exists(key, deadline):
                raise UnknownRun.of(run_id)

    async def note(self, tenant: str, summary: RunSummary, deadline: Deadline) -> None:
        """See `RunLog.note`."""
        kept_seconds = await self._index.note(tenant, summary, deadline)
        if summary.outcome in WAITING and kept_seconds > self._retention.open_seconds:
            milliseconds = int(kept_seconds * 1000)
            for key in self._keys.of_run(tenant, summary.run_id):
                await self._link.run(lambda client, key=key: client.pexpire(key, milliseconds), deadline)  # type: ignore[misc]

    async def list_runs(self, tenant: str, wanted: RunsWanted, deadline: Deadline) -> RunsPage:
        """See `RunLog.list_runs`."""
        found, token = await self._index.page(tenant, wanted, deadline)
        reached = await self._reached(tenant, [run_id for run_id, known in found if _may_change(known)], deadline)
        runs: list[RunSummary] = []
        for run_id, known in found:
            summary = await self._set_right(tenant, run_id, known, reached.get(run_id), deadline)
            if summary is not None and wanted.outcome in (None, summary.outcome):
                runs.append(summary)
        return RunsPage(tuple(runs), token)

    async def _reached(self, tenant: str, run_ids: Sequence[str], deadline: Deadline) -> dict[str, int]:
        """Return the number of the last event of each run that has any."""
        if not run_ids:
            return {}
        keys = [self._keys.of_run(tenant, run_id)[1] for run_id in run_ids]

        async def positions(client: Redis) -> Any:
            pipeline: Any = client.pipeline(transaction=False)
            for key in keys:
                pipeline.get(key)
            return await pipeline.execute()

        found: Any = await self._link.run(positions, deadline)
        return {run_id: int(at.split(b" ")[0]) for run_id, at in zip(run_ids, found, strict=True) if at is not None}

    async def _set_right(
        self, tenant: str, run_id: str, known: RunSummary | None, reached: int | None, deadline: Deadline
    ) -> RunSummary | None:
        """Return where a run stands; what the list says of it too early or not at all is read from the log."""
        if known is not None and not _may_change(known):
            return known
        if known is not None and known.outcome is None:  # without an event it is not yet, or will never be, a run
            return None if reached is None else replace(known, last_sequence=reached)
        if known is not None and known.last_sequence == reached:
            return known
        try:
            summary = RunState.from_events(run_id, await self.read(tenant, run_id, 1, deadline)).summary()
        except UnknownRun:
            await self._index.forget(tenant, [run_id], deadline)
            return None
        await self.note(tenant, summary, deadline)
        return summary

    async def is_ready(self) -> bool:
        """See `RunLog.is_ready`."""
        return await self._link.is_alive()

    async def _next(self, key: str, last: int, deadline: Deadline) -> list[Mapping[bytes, bytes]]:
        """Return the entries after one, as soon as there are any or a while has passed."""
        if not self._waiting.locked():
            async with self._waiting:
                block_ms = max(1, int(deadline.bounded(FOLLOW_BLOCK_SECONDS) * 1000))
                return await self._read_on(key, last, block_ms, deadline)
        async with self._looking:
            found = await self._read_on(key, last, None, deadline)
        if not found:
            await deadline.clock.sleep(deadline.bounded(LOOK_SECONDS))
        return found

    async def _read_on(
        self, key: str, last: int, block_ms: int | None, deadline: Deadline
    ) -> list[Mapping[bytes, bytes]]:
        reply: Any = await self._link.run(
            lambda client: client.xread({key: f"{last}-0"}, count=READ_COUNT, block=block_ms), deadline
        )
        return [fields for _, fields in stream_entries(reply)]

    async def _events(
        self, tenant: str, run_id: str, entries: Iterable[Mapping[bytes, bytes]], deadline: Deadline
    ) -> tuple[RunEvent, ...]:
        """Return the events of entries; what they refer to is fetched."""
        entries = list(entries)
        digests = self._form.references(entries)
        contents: Mapping[bytes, bytes | None] = {}
        if digests:
            key = self._keys.of_run(tenant, run_id)[2]
            found: Any = await self._link.run(lambda client: client.hmget(key, digests), deadline)
            contents = dict(zip(digests, found, strict=True))
        return self._form.read(run_id, entries, contents)

    async def _exists(self, key: str, deadline: Deadline) -> bool:
        return bool(await self._link.run(lambda client: client.exists(key), deadline))


@asynccontextmanager
async def redis_run_log(
    link: RedisLink, form: EventForm, prefix: str, retention: Retention, clock: Clock
) -> AsyncIterator[RedisRunLog]:
    """Open the log on a link."""
    async with script_batch(link) as scripts:
        yield RedisRunLog(link, scripts, form, RunKeys(prefix), retention, clock)


def _may_change(summary: RunSummary | None) -> bool:
    return summary is None or summary.outcome is None or summary.outcome in WAITING


def _text(reply: Any) -> str:
    return reply.decode() if isinstance(reply, bytes) else str(reply)
