"""The front's side of the thought queue on Redis Streams."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from redis.asyncio import Redis

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import (
    BackendOutOfMemory,
    BackendUnavailable,
    DeadlineExceeded,
    QueueFull,
    TenantQueueFull,
)
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog
from taoloop.core.tasks import beside
from taoloop.core.telemetry import names
from taoloop.plan.task import Priority
from taoloop.thought.model import QueueLimits, ThinkJob, ThinkReply
from taoloop.thought.queue.job_codec import UnreadableEntry
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import GROUP
from taoloop.thought.queue.queue_scripts import queue_script
from taoloop.thought.queue.server_time import ServerTime
from taoloop.wire.redis.redis_errors import refusals_told
from taoloop.wire.redis.redis_replies import stream_entries
from taoloop.wire.redis.script_batch import Argument, ScriptBatch, script_batch

READ_COUNT: Final = 64
READ_BLOCK_SECONDS: Final = 1.0
MAX_READ_REPLIES: Final = 256
"""Replies that stay in a front's stream after they were read."""
# A reply that was announced while this front was away is found by asking again; asking is idempotent.
ASK_AGAIN_SECONDS: Final = 2.0
# How long the note of who waits outlives the job: an entry that is leased when its time ends is still told to somebody.
NOTE_MARGIN_SECONDS: Final = 60.0
_MARGIN_MS: Final = int(NOTE_MARGIN_SECONDS * 1000)
# How long a front that is busy with nothing else tries to take a job back; what it leaves expires by itself.
WITHDRAW_SECONDS: Final = 5.0

_log = EventLog(__name__)


@dataclass(slots=True)
class _Waiting:
    """A job that callers of this front wait for.

    Attributes:
        callers: How many they are.
        reply: What they wait for.
        pauses: What each of them waits by: one that goes away must not take the others along.
    """

    callers: int = 0
    reply: ThinkReply | None = None
    pauses: list[asyncio.Future[None]] = field(default_factory=list)

    async def told(self, seconds: float) -> ThinkReply | None:
        """Return the reply as soon as it is there; None when it does not come in time."""
        if self.reply is not None:
            return self.reply
        loop = asyncio.get_running_loop()
        pause = loop.create_future()
        self.pauses.append(pause)
        # A timer costs a third of `asyncio.wait` with a limit, which counts in a hop.
        timer = loop.call_later(seconds, _end, pause)
        try:
            await pause
        finally:
            timer.cancel()
            self.pauses.remove(pause)
        return self.reply

    def tell(self, reply: ThinkReply) -> None:
        """Wake those who wait."""
        self.reply = reply
        for pause in self.pauses:
            _end(pause)


class RedisJobQueue:
    """A `JobQueue` on one Redis or Valkey. Use it as `redis_job_queue` opens it.

    Args:
        access: The queue.
        scripts: Sends scripts on the queue's link.
        limits: How much the queue takes.
    """

    def __init__(self, access: QueueAccess, scripts: ScriptBatch, limits: QueueLimits) -> None:
        self._access = access
        self._link = access.link
        self._codec = access.codec
        self._keys = access.keys
        self._clock = access.clock
        self._scripts = scripts
        self._limits = limits
        self._terms = {priority: _terms(limits, priority) for priority in Priority}
        self._streams = {
            Priority.INTERACTIVE: (self._keys.jobs(Priority.INTERACTIVE), self._keys.jobs(Priority.BACKGROUND)),
            Priority.BACKGROUND: (self._keys.jobs(Priority.BACKGROUND), self._keys.jobs(Priority.INTERACTIVE)),
        }
        self._time = ServerTime(access.clock)
        self._front_id = new_id(access.clock)
        self._waiting: dict[str, _Waiting] = {}
        self._withdrawn: asyncio.Queue[ThinkJob] = asyncio.Queue()

    def __repr__(self) -> str:
        jobs = self._keys.jobs(Priority.INTERACTIVE)
        return f"<RedisJobQueue [{len(self._waiting)} waiting of {self._limits.max_jobs}] {jobs}>"

    async def ask(self, job: ThinkJob, deadline: Deadline) -> ThinkReply:
        """See `JobQueue.ask`."""
        # Two callers may wait for one job; both get the one reply.
        waiting = self._waiting.setdefault(job.job_id, _Waiting())
        waiting.callers += 1
        is_over = False
        try:
            stored = await self._put(job, deadline, within=deadline)
            reply = stored if stored is not None else await self._reply(job, waiting, deadline)
            is_over = True
        except QueueFull:
            is_over = True
            raise
        finally:
            waiting.callers -= 1
            if waiting.callers == 0:
                del self._waiting[job.job_id]
                if not is_over:
                    self._withdrawn.put_nowait(job)
        return reply

    async def is_ready(self) -> bool:
        """See `JobQueue.is_ready`."""
        return await self._link.is_alive()

    async def _reply(self, job: ThinkJob, waiting: _Waiting, deadline: Deadline) -> ThinkReply:
        """Wait for the reply, and look after the job now and then: its server may have lost it."""
        while True:
            reply = await waiting.told(deadline.bounded(ASK_AGAIN_SECONDS))
            if reply is None and deadline.is_expired:
                raise _too_late(job)
            reply = reply or await self._asked_again(job, deadline)
            if reply is not None:
                return reply

    async def _asked_again(self, job: ThinkJob, deadline: Deadline) -> ThinkReply | None:
        """Return the reply of an accepted job if it is there; put a job that is lost in the queue again.

        The job was accepted: an outage, or a queue that others have filled since, is waited out. Each look is short,
        so that a reply which comes meanwhile is not kept waiting; the job is wanted until the caller's deadline.
        """
        soon = deadline.shortened(ASK_AGAIN_SECONDS)
        try:
            verdict = await self._enqueue(job, deadline, (), within=soon)
            if verdict[0] == b"missing":
                _log.warning("job_lost_and_queued_again", job_id=job.job_id)
                return await self._put(job, deadline, within=soon)
        except BackendUnavailable:
            return None
        except QueueFull as error:
            _log.warning("lost_job_not_queued_again", job_id=job.job_id, reason=error.reason)
            return None
        return self._codec.read_reply(verdict[1]) if verdict[0] == b"reply" else None

    async def _put(self, job: ThinkJob, deadline: Deadline, *, within: Deadline) -> ThinkReply | None:
        """Put the job in the queue unless it is there, or return the reply that it has already."""
        fields = self._codec.entry(job)
        try:
            verdict = await self._enqueue(job, deadline, fields, within=within)
            if verdict[0] == b"late" and not deadline.is_expired:
                # The server's clock has jumped ahead since it was last heard of; now it is known again.
                verdict = await self._enqueue(job, deadline, fields, within=within)
        except BackendOutOfMemory:
            self._count_refused("memory")
            raise
        word = verdict[0].decode()
        if word == "reply":
            return self._codec.read_reply(verdict[1])
        if word == "late":
            raise _too_late(job)
        if word != "queued":
            self._count_refused(word)
            raise self._refusal(word, verdict[1].decode(), job)
        return None

    async def _enqueue(self, job: ThinkJob, deadline: Deadline, fields: Sequence[Argument], *, within: Deadline) -> Any:
        """Return what the script says.

        Args:
            job: The job.
            deadline: When nobody waits for it any more: how long entry and note live.
            fields: Of its entry; none to ask only.
            within: How long to wait for the script.
        """
        if not self._time.is_known:
            await self._learn_time(within)
        job_id = job.job_id
        keys = (*self._streams[job.priority], self._keys.note(job_id), self._keys.reply(job_id))
        life_ms = int(deadline.remaining_seconds() * 1000)
        # What lies on its way while the server is away must not be waited for longer than its caller does.
        until_ms = int(self._time.moment(deadline) * 1000)
        arguments = (self._front_id, *self._terms[job.priority], life_ms, _MARGIN_MS, until_ms, *fields)
        asked_at = self._clock.monotonic()
        verdict = await self._run("enqueue", (*keys, self._keys.tenant(job.tenant)), arguments, within)
        if verdict[0] in (b"queued", b"late"):
            self._time.note(int(verdict[1]), int(verdict[2]), asked_at)
        return verdict

    async def _learn_time(self, within: Deadline) -> None:
        """Ask the server for its time, by which alone it can be told until when a first job is waited for."""
        asked_at = self._clock.monotonic()
        told = await self._run("renew", self._streams[Priority.INTERACTIVE][:1], (GROUP, self._front_id), within)
        self._time.note(int(told[0]), int(told[1]), asked_at)

    async def _run(self, name: str, keys: Sequence[str], arguments: Sequence[Argument], within: Deadline) -> Any:
        with refusals_told():
            return await self._scripts.run(queue_script(name), keys, arguments, within)

    def _count_refused(self, reason: str) -> None:
        self._access.telemetry.metrics.counter(names.QUEUE_REFUSED).labels(reason=reason).inc()

    def _refusal(self, word: str, jobs: str, job: ThinkJob) -> QueueFull:
        """Return the error for one of the limits, with its figure."""
        if word == "tenant_full":
            most = str(self._limits.max_tenant_jobs)
            return TenantQueueFull(
                f"The tenant {job.tenant} has {jobs} jobs in the queue; a tenant may have {most}.",
                metadata={"tenant": job.tenant, "jobs": jobs, "max_tenant_jobs": most},
                retry_after_seconds=1.0,
            )
        most = str(self._limits.max_jobs if word == "full" else self._limits.of(job.priority))
        of = "" if word == "full" else f" {job.priority.value}"
        return QueueFull(
            f"The queue holds {jobs}{of} jobs; it may hold {most}.",
            metadata={"jobs": jobs, "max_jobs": most, "priority": job.priority.value},
            retry_after_seconds=1.0,
        )

    async def read_replies(self) -> None:
        """Hand replies to who waits for them, until cancelled; an outage is ridden out."""
        last, kept = b"0-0", 0
        while True:
            try:
                with refusals_told():
                    entries = await self._replies_after(last)
                    # What was read is removed many at a time, and when there is time for it.
                    if kept >= MAX_READ_REPLIES or (kept and not entries):
                        kept = 0
                        await self._link.run(partial(_trim, self._stream, last), Deadline.after(1.0, self._clock))
            except BackendUnavailable as error:
                _log.warning("replies_not_read", reason=error.reason)
                await self._clock.sleep(READ_BLOCK_SECONDS)
                continue
            kept += len(entries)
            for entry_id, fields in entries:
                last = entry_id
                self._deliver(fields)

    async def _replies_after(self, last: bytes) -> list[tuple[bytes, dict[bytes, bytes]]]:
        reply = await self._link.run(partial(_read, self._stream, last), Deadline.after(3600.0, self._clock))
        return stream_entries(reply)

    async def take_back(self) -> None:
        """Take jobs back for which nobody waits any more, until cancelled."""
        while True:
            await self._take_back(await self._withdrawn.get())

    async def close(self) -> None:
        """Take back what is left to take back, and remove the stream of replies that nobody reads any more."""
        while not self._withdrawn.empty():
            await self._take_back(self._withdrawn.get_nowait())
        with contextlib.suppress(BackendUnavailable):
            soon = Deadline.after(WITHDRAW_SECONDS, self._clock)
            await self._link.run(lambda client: client.delete(self._stream), soon)

    async def _take_back(self, job: ThinkJob) -> None:
        keys = [self._keys.note(job.job_id), self._keys.tenant(job.tenant)]
        soon = Deadline.after(WITHDRAW_SECONDS, self._clock)
        try:
            await self._run("withdraw", keys, (self._front_id, GROUP), soon)
        except BackendUnavailable as error:
            left = self._withdrawn.qsize()
            # They expire by themselves; a later front must not wait for an outage once for each of them.
            while not self._withdrawn.empty():
                self._withdrawn.get_nowait()
            _log.warning("jobs_not_taken_back", jobs=left + 1, reason=error.reason)

    @property
    def _stream(self) -> str:
        return self._keys.fronts + self._front_id

    def _deliver(self, fields: dict[bytes, bytes]) -> None:
        waiting = self._waiting.get(fields.get(b"job", b"").decode(errors="replace"))
        if waiting is None or waiting.reply is not None:
            return
        try:
            waiting.tell(self._codec.read_reply(fields.get(b"reply", b"")))
        except UnreadableEntry as error:
            _log.error("reply_unreadable", reason=str(error))


def _end(pause: asyncio.Future[None]) -> None:
    if not pause.done():
        pause.set_result(None)


def _terms(limits: QueueLimits, priority: Priority) -> tuple[int, int, int]:
    return limits.max_jobs, limits.of(priority), limits.max_tenant_jobs


def _too_late(job: ThinkJob) -> DeadlineExceeded:
    return DeadlineExceeded(f"No worker answered job {job.job_id} in time.", metadata={"job_id": job.job_id})


async def _read(stream: str, last: bytes, client: Redis) -> Any:
    return await client.xread({stream: last}, count=READ_COUNT, block=int(READ_BLOCK_SECONDS * 1000))


async def _trim(stream: str, last: bytes, client: Redis) -> Any:
    return await client.xtrim(stream, minid=last, approximate=False)


@contextlib.asynccontextmanager
async def redis_job_queue(access: QueueAccess, limits: QueueLimits) -> AsyncIterator[RedisJobQueue]:
    """Open the front's side: replies are read, and jobs taken back, while the block runs."""
    async with script_batch(access.link) as scripts:
        queue = RedisJobQueue(access, scripts, limits)
        try:
            async with beside(thought_replies=queue.read_replies(), thought_withdrawals=queue.take_back()):
                yield queue
        finally:
            await queue.close()
