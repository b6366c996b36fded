"""The front's side of the thought queue on Redis Streams."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from importlib.resources import files
from typing import Any, Final

from redis.asyncio import Redis

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, DeadlineExceeded, QueueFull
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog
from taoloop.core.tasks import first_error
from taoloop.core.telemetry import Telemetry, names
from taoloop.thought.model import ThinkJob, ThinkReply
from taoloop.thought.queue.job_codec import JobCodec, UnreadableEntry
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.wire.redis.redis_link import RedisLink
from taoloop.wire.redis.redis_replies import stream_entries

READ_COUNT: Final = 64
READ_BLOCK_SECONDS: Final = 1.0
# A reply that was announced while this front was away is found by asking again; asking is idempotent.
ASK_AGAIN_SECONDS: Final = 2.0
# How long the note of who waits outlives the job: an entry that is leased when its time ends is still told to somebody.
NOTE_MARGIN_SECONDS: Final = 60.0

_log = EventLog(__name__)


class RedisJobQueue:
    """A `JobQueue` on one Redis or Valkey. Use it as `redis_job_queue` builds it.

    Args:
        link: The connection.
        codec: Jobs and replies to bytes and back.
        keys: Names of the keys.
        max_jobs: Most jobs that may wait or be leased.
        clock: For deadlines.
        telemetry: Where refusals are counted.
    """

    def __init__(
        self, link: RedisLink, codec: JobCodec, keys: QueueKeys, max_jobs: int, clock: Clock, telemetry: Telemetry
    ) -> None:
        self._link = link
        self._codec = codec
        self._keys = keys
        self._max_jobs = max_jobs
        self._clock = clock
        self._telemetry = telemetry
        self._front_id = new_id(clock)
        self._waiting: dict[str, asyncio.Future[ThinkReply]] = {}
        self._enqueue = link.client.register_script(script("enqueue"))

    def __repr__(self) -> str:
        return f"<RedisJobQueue [{len(self._waiting)} waiting of {self._max_jobs}] {self._keys.jobs}>"

    async def ask(self, job: ThinkJob, deadline: Deadline) -> ThinkReply:
        """See `JobQueue.ask`."""
        # Two callers may wait for one job; both get the one reply.
        future = self._waiting.get(job.job_id)
        if future is None:
            future = self._waiting[job.job_id] = asyncio.get_running_loop().create_future()
        try:
            while not future.done():
                stored = await self._put(job, deadline)
                if stored is not None:
                    return stored
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(deadline.bounded(ASK_AGAIN_SECONDS)):
                        await asyncio.shield(future)
                if deadline.is_expired and not future.done():
                    raise DeadlineExceeded(
                        f"No worker answered job {job.job_id} in time.", metadata={"job_id": job.job_id}
                    )
            return future.result()
        finally:
            if self._waiting.get(job.job_id) is future:
                del self._waiting[job.job_id]

    async def is_ready(self) -> bool:
        """See `JobQueue.is_ready`."""
        return await self._link.is_alive()

    async def _put(self, job: ThinkJob, deadline: Deadline) -> ThinkReply | None:
        """Put the job in the queue unless it is there, or return the reply that it has already."""
        keys = [self._keys.jobs, self._keys.note(job.job_id), self._keys.reply(job.job_id)]
        note_ms = int((deadline.remaining_seconds() + NOTE_MARGIN_SECONDS) * 1000)
        arguments = [self._front_id, self._max_jobs, note_ms, *self._codec.entry(job)]
        verdict: Any = await self._link.run(lambda _: self._enqueue(keys=keys, args=arguments), deadline)
        match verdict[0]:
            case b"reply":
                return self._codec.read_reply(verdict[1])
            case b"full":
                self._telemetry.metrics.counter(names.QUEUE_REFUSED).labels(reason="full").inc()
                raise QueueFull(
                    f"The queue holds {verdict[1].decode()} jobs, the most it may.",
                    metadata={"jobs": verdict[1].decode(), "max_jobs": str(self._max_jobs)},
                    retry_after_seconds=1.0,
                )
            case _:
                return None

    async def read_replies(self) -> None:
        """Hand replies to who waits for them, until cancelled; an outage is ridden out."""
        stream = self._keys.fronts + self._front_id
        last = b"0-0"
        while True:
            try:
                reply = await self._link.run(partial(_read, stream, last), Deadline.after(3600.0, self._clock))
            except BackendUnavailable as error:
                _log.warning("replies_not_read", reason=error.reason)
                await self._clock.sleep(READ_BLOCK_SECONDS)
                continue
            for entry_id, fields in stream_entries(reply):
                last = entry_id
                self._deliver(fields)

    def _deliver(self, fields: dict[bytes, bytes]) -> None:
        future = self._waiting.get(fields.get(b"job", b"").decode(errors="replace"))
        if future is None or future.done():
            return
        try:
            future.set_result(self._codec.read_reply(fields.get(b"reply", b"")))
        except UnreadableEntry as error:
            _log.error("reply_unreadable", reason=str(error))


async def _read(stream: str, last: bytes, client: Redis) -> Any:
    return await client.xread({stream: last}, count=READ_COUNT, block=int(READ_BLOCK_SECONDS * 1000))


@contextlib.asynccontextmanager
async def redis_job_queue(queue: RedisJobQueue) -> AsyncIterator[RedisJobQueue]:
    """Read replies while the block runs."""
    with first_error():
        async with asyncio.TaskGroup() as group:
            reader = group.create_task(queue.read_replies(), name="thought replies")
            try:
                yield queue
            finally:
                reader.cancel()


def script(name: str) -> str:
    """Return the text of one of the queue's scripts."""
    return files("taoloop.thought.queue").joinpath("scripts", f"{name}.lua").read_text(encoding="utf-8")
