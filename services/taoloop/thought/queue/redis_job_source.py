"""The worker's side of the thought queue on Redis Streams."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.logs import EventLog
from taoloop.core.tasks import beside
from taoloop.core.telemetry import names
from taoloop.plan.task import Priority
from taoloop.thought.model import Lease, LeaseEnd, QueueState, ThinkFailure, ThinkReply
from taoloop.thought.queue.job_codec import UnreadableEntry
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import GROUP
from taoloop.thought.queue.queue_scripts import queue_script
from taoloop.thought.queue.redis_queue_state import idle_consumers, read_queue_state
from taoloop.thought.queue.redis_taking import HANDED_BACK, BackgroundShare, RedisTaking, Taken
from taoloop.thought.queue.server_time import ServerTime
from taoloop.wire.redis.redis_errors import refusals_told
from taoloop.wire.redis.script_batch import Argument, ScriptBatch, script_batch

REPLY_LIFE_SECONDS: Final = 300.0
MAX_FRONT_REPLIES: Final = 1_000
"""Most replies that wait for one front; where one lags further behind, it asks again and finds them by their jobs."""
MAX_LETTER_VALUE_BYTES: Final = 1024 * 1024
"""Longest field of an entry that a dead letter keeps."""

_ENDS: Final = {b"lost": LeaseEnd.LOST, b"gone": LeaseEnd.ABANDONED}
_log = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConfig:
    """How a worker stands to the queue.

    Attributes:
        consumer: Its name in the group, unique among the living.
        lease_seconds: After this long an entry that was neither answered nor renewed goes to somebody else.
        background_share: The background's share of what is handed out while interactive jobs wait too, below 1.
        max_dead_letters: Most entries that are kept after they were set aside.
        patience_seconds: How long one operation may take, outages included.
        forget_seconds: When a consumer that holds nothing and is not heard of counts as dead.
    """

    consumer: str
    lease_seconds: float = 10.0
    background_share: float = 0.2
    max_dead_letters: int = 1_000
    patience_seconds: float = 30.0
    forget_seconds: float = 3600.0


class RedisJobSource:
    """A `JobSource` on one Redis or Valkey. Use it as `redis_job_source` opens it.

    Args:
        access: The queue.
        scripts: Sends scripts on the queue's link.
        config: How the worker stands to the queue.
    """

    def __init__(self, access: QueueAccess, scripts: ScriptBatch, config: SourceConfig) -> None:
        self._access = access
        self._keys = access.keys
        self._scripts = scripts
        self._config = config
        self._time = ServerTime(access.clock)
        self._held: set[tuple[Priority, str]] = set()
        share = BackgroundShare(config.background_share)
        self._taking = RedisTaking(access, config.consumer, config.lease_seconds, share, self._time)

    def __repr__(self) -> str:
        return (
            f"<RedisJobSource [{len(self._held)} leases] {self._config.consumer} of {GROUP} "
            f"on {self._keys.jobs(Priority.INTERACTIVE)}>"
        )

    async def take(self, count: int, wait_seconds: float) -> Sequence[Lease]:
        """See `JobSource.take`."""
        if not self._time.is_known:
            await self.renew(())
        deleted = self._taking.deleted
        with refusals_told():
            taken = await self._taking.take(count, wait_seconds, self._held, self._deadline())
        if self._taking.deleted > deleted:
            self._access.telemetry.metrics.counter(names.QUEUE_DELETED).inc(self._taking.deleted - deleted)
        leases = [self._lease(entry) for entry in taken]
        self._held.update(lease.key for lease in leases)
        return leases

    async def renew(self, leases: Sequence[Lease]) -> Mapping[tuple[Priority, str], LeaseEnd]:
        """See `JobSource.renew`."""
        keys = [self._keys.jobs(Priority.INTERACTIVE)]
        for lease in leases:
            keys += [self._keys.jobs(lease.priority), self._keys.note(_job_id(lease))]
        arguments = [GROUP, self._config.consumer, *(lease.entry_id for lease in leases)]
        asked_at = self._access.clock.monotonic()
        reply = await self._run("renew", keys, arguments)
        self._time.note(int(reply[0]), int(reply[1]), asked_at)
        states = zip(leases, reply[2:], strict=True)
        ended = {lease.key: _ENDS[state] for lease, state in states if state in _ENDS}
        # A lease that is another's is forgotten at once; an abandoned one is still to be ended.
        self._held.difference_update(key for key, end in ended.items() if end is LeaseEnd.LOST)
        return ended

    async def answer(self, lease: Lease, reply: ThinkReply | None) -> bool:
        """See `JobSource.answer`."""
        if lease.job is None:
            raise ValueError("an entry that cannot be read has no answer")
        job = lease.job
        keys = [
            self._keys.jobs(lease.priority),
            self._keys.note(job.job_id),
            self._keys.reply(job.job_id),
            self._keys.tenant(job.tenant),
        ]
        data = self._access.codec.reply(reply) if reply is not None else b""
        arguments: list[Argument] = [GROUP, lease.entry_id, self._config.consumer, job.job_id, data]
        life_ms, *terms = self._reply_terms()
        if reply is not None and isinstance(reply.outcome, ThinkFailure) and reply.outcome.retry_after_seconds:
            # Who comes back when the failure says so must not be given it again.
            life_ms = min(life_ms, max(1, int(reply.outcome.retry_after_seconds * 500)))
        verdict = await self._run("answer", keys, [*arguments, life_ms, *terms])
        self._held.discard(lease.key)
        return bool(verdict != b"lost")

    async def set_aside(self, lease: Lease, cause: str, failure: ThinkFailure) -> None:
        """See `JobSource.set_aside`."""
        job_id, tenant = (lease.job.job_id, lease.job.tenant) if lease.job is not None else ("", "")
        keys = [
            self._keys.jobs(lease.priority),
            self._keys.dead,
            self._keys.note(job_id),
            self._keys.reply(job_id),
            self._keys.tenant(tenant),
        ]
        arguments: list[Argument] = [GROUP, lease.entry_id, self._config.consumer, cause, lease.deliveries]
        arguments += [self._config.max_dead_letters, MAX_LETTER_VALUE_BYTES, job_id]
        arguments += [self._access.codec.reply(ThinkReply(failure)), *self._reply_terms()]
        await self._run("set_aside", keys, arguments)
        self._held.discard(lease.key)

    async def leave(self, leases: Sequence[Lease]) -> None:
        """See `JobSource.leave`."""
        if leases:
            keys = [self._keys.jobs(lease.priority) for lease in leases]
            entries = [lease.entry_id for lease in leases]
            await self._run("hand_back", keys, [GROUP, self._config.consumer, HANDED_BACK, *entries])
        await self._dismiss(self._config.consumer)
        self._held.clear()

    async def tidy(self) -> None:
        """Remove consumers that hold nothing and were not heard of for long: workers that died.

        Raises:
            BackendUnavailable: The queue does not answer.
        """
        forget_seconds = self._config.forget_seconds
        with refusals_told():
            found = await self._access.link.run(
                lambda client: idle_consumers(client, self._keys, forget_seconds), self._deadline()
            )
        for consumer in found - {self._config.consumer}:
            await self._dismiss(consumer)

    async def keep_tidy(self) -> None:
        """Tidy now and then, until cancelled."""
        while True:
            # All workers do so; they need not do it at the same time.
            await self._access.clock.sleep(self._config.forget_seconds * random.uniform(0.5, 1.0))
            try:
                await self.tidy()
            except BackendUnavailable as error:
                _log.warning("queue_not_tidied", reason=error.reason)

    async def state(self) -> QueueState:
        """See `JobSource.state`."""
        with refusals_told():
            return await self._access.link.run(
                lambda client: read_queue_state(client, self._keys, self._time), self._deadline()
            )

    async def is_ready(self) -> bool:
        """See `JobSource.is_ready`."""
        return await self._access.link.is_alive()

    async def _run(self, name: str, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
        with refusals_told():
            return await self._scripts.run(queue_script(name), keys, arguments, self._deadline())

    def _deadline(self) -> Deadline:
        return Deadline.after(self._config.patience_seconds, self._access.clock)

    async def _dismiss(self, consumer: str) -> None:
        for priority in Priority:
            await self._run("dismiss", [self._keys.jobs(priority)], [GROUP, consumer])

    def _reply_terms(self) -> tuple[Argument, ...]:
        return int(REPLY_LIFE_SECONDS * 1000), self._keys.fronts, MAX_FRONT_REPLIES

    def _lease(self, entry: Taken) -> Lease:
        waited_seconds = self._time.age_seconds(entry.entry_id)
        entry_id = entry.entry_id.decode()
        try:
            queued = self._access.codec.job(entry.fields)
        except UnreadableEntry as error:
            return Lease(
                entry_id=entry_id,
                priority=entry.priority,
                job=None,
                deadline=self._deadline(),
                waited_seconds=waited_seconds,
                deliveries=entry.deliveries,
                fault=str(error),
            )
        return Lease(
            entry_id=entry_id,
            priority=entry.priority,
            job=queued.job,
            deadline=self._time.deadline(queued.expires_seconds),
            waited_seconds=waited_seconds,
            deliveries=entry.deliveries,
        )


def _job_id(lease: Lease) -> str:
    return lease.job.job_id if lease.job is not None else ""


@asynccontextmanager
async def redis_job_source(access: QueueAccess, config: SourceConfig) -> AsyncIterator[RedisJobSource]:
    """Open the worker's side; at the end its name leaves the group, unless it still holds something."""
    async with script_batch(access.link) as scripts:
        source = RedisJobSource(access, scripts, config)
        try:
            async with beside(queue_tidying=source.keep_tidy()):
                yield source
        finally:
            try:
                await source.leave(())
            except BackendUnavailable as error:
                _log.warning("queue_not_left", consumer=config.consumer, reason=error.reason)
