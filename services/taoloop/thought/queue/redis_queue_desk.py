"""What operators do with the queue: see how it stands, read dead letters, queue them again or discard them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from taoloop.core.deadlines import Deadline
from taoloop.plan.task import Priority
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.model import QueueState
from taoloop.thought.queue.job_codec import UnreadableEntry
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import GROUP
from taoloop.thought.queue.queue_scripts import queue_script
from taoloop.thought.queue.redis_queue_state import read_queue_state
from taoloop.thought.queue.server_time import ServerTime
from taoloop.wire.redis.script_batch import run_script

PAGE: Final = 100
_TIME_SCRIPT: Final = "renew"  # of no leases: it then says the time of the server that has the queue


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueWorker:
    """A worker as the queue knows it.

    Attributes:
        name: Its name in the group; `handed-back` holds what workers gave back when they stopped.
        leased: Jobs in its hands.
        idle_seconds: How long it was not heard of; a worker asks at least once a second.
    """

    name: str
    leased: int
    idle_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A request that was set aside.

    Attributes:
        letter_id: Its id among the dead letters.
        cause: Why.
        job_id: Tenant, run and iteration; empty when the entry has none that can be read.
        tenant: Whose; empty when it is not known.
        deliveries: How often it was handed out.
        age_seconds: How long ago it was set aside.
        priority: Which jobs it waited among.
        size_bytes: Of its request; 0 when it has none.
        request: The request; None when it cannot be read.
    """

    letter_id: str
    cause: str
    job_id: str
    tenant: str
    deliveries: int
    age_seconds: float
    priority: Priority
    size_bytes: int
    request: ThinkRequest | None

    @property
    def can_be_requeued(self) -> bool:
        """Whether it is a whole request."""
        return self.request is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterQuery:
    """Which dead letters are meant; all of them when nothing is said.

    Attributes:
        ids: Only these; any when empty.
        tenant: Only this tenant's.
        cause: Only those whose cause holds this text, in any case.
    """

    ids: frozenset[str] = frozenset()
    tenant: str = ""
    cause: str = ""

    def takes(self, letter: DeadLetter) -> bool:
        """Return whether a letter is meant."""
        return (
            (not self.ids or letter.letter_id in self.ids)
            and (not self.tenant or letter.tenant == self.tenant)
            and self.cause.lower() in letter.cause.lower()
        )


class QueueDesk:
    """An operator's view of one queue.

    Args:
        access: The queue.
        timeout_seconds: How long one operation may take.
    """

    def __init__(self, access: QueueAccess, timeout_seconds: float = 10.0) -> None:
        self._access = access
        self._keys = access.keys
        self._timeout_seconds = timeout_seconds
        self._time = ServerTime(access.clock)

    def __repr__(self) -> str:
        return f"<QueueDesk of {self._keys.prefix} on {self._access.link!r}>"

    async def state(self) -> QueueState:
        """Return how much is in the queue.

        Raises:
            BackendUnavailable: The queue does not answer.
        """
        await self._note_time()
        return await self._access.link.run(
            lambda client: read_queue_state(client, self._keys, self._time), self._deadline()
        )

    async def workers(self) -> tuple[QueueWorker, ...]:
        """Return the workers that the queue knows, those heard of last first.

        Raises:
            BackendUnavailable: The queue does not answer.
        """
        rows = await self._access.link.run(self._consumers, self._deadline())
        found: dict[str, QueueWorker] = {}
        for row in rows:
            name, idle_seconds = row["name"].decode(errors="replace"), row["idle"] / 1000
            known = found.get(name)
            found[name] = QueueWorker(
                name=name,
                leased=row["pending"] + (known.leased if known else 0),
                idle_seconds=min(idle_seconds, known.idle_seconds) if known else idle_seconds,
            )
        return tuple(sorted(found.values(), key=lambda worker: (worker.idle_seconds, worker.name)))

    async def letters(self, query: LetterQuery, limit: int) -> tuple[DeadLetter, ...]:
        """Return dead letters, the newest first.

        Raises:
            BackendUnavailable: The queue does not answer.
        """
        await self._note_time()
        found: list[DeadLetter] = []
        last = "+"
        while len(found) < limit:
            entries = await self._page(last)
            if not entries:
                break
            found += [letter for letter in map(self._letter, entries) if query.takes(letter)]
            last = f"({entries[-1][0].decode()}"
        return tuple(found[:limit])

    async def requeue(self, letter_id: str, worth_seconds: float) -> str:
        """Put a letter back in the queue, as if it were asked for now.

        Args:
            letter_id: The letter's id.
            worth_seconds: How long it may wait and be worked on.

        Returns:
            `requeued`; `missing` when there is no such letter; `incomplete` when it is no whole request.

        Raises:
            BackendUnavailable: The queue does not answer. Whether it was done is not known; a repeat is harmless.
        """
        keys = (self._keys.dead, self._keys.jobs(Priority.INTERACTIVE), self._keys.jobs(Priority.BACKGROUND))
        arguments = (letter_id, int(worth_seconds * 1000), self._keys.note(""), self._keys.reply(""))
        script = queue_script("requeue")
        reply = await self._access.link.run(
            lambda client: run_script(client, script, keys, arguments), self._deadline()
        )
        return str(reply.decode())

    async def discard(self, letter_ids: Iterable[str]) -> int:
        """Remove letters for good; return how many there were.

        Raises:
            BackendUnavailable: The queue does not answer.
        """
        ids = tuple(letter_ids)
        if not ids:
            return 0
        return int(await self._access.link.run(lambda client: client.xdel(self._keys.dead, *ids), self._deadline()))

    async def _page(self, last: str) -> Sequence[tuple[bytes, Mapping[bytes, bytes]]]:
        reply: Any = await self._access.link.run(
            lambda client: client.xrevrange(self._keys.dead, max=last, count=PAGE), self._deadline()
        )
        return list(reply)

    async def _consumers(self, client: Redis) -> list[Any]:
        rows: list[Any] = []
        for priority in Priority:
            try:
                rows += await client.xinfo_consumers(self._keys.jobs(priority), GROUP)
            except ResponseError as error:
                if "NOGROUP" not in str(error) and "no such key" not in str(error):
                    raise
        return rows

    async def _note_time(self) -> None:
        keys, arguments = (self._keys.jobs(Priority.INTERACTIVE),), (GROUP, "")
        script = queue_script(_TIME_SCRIPT)
        asked_at = self._access.clock.monotonic()
        reply = await self._access.link.run(
            lambda client: run_script(client, script, keys, arguments), self._deadline()
        )
        self._time.note(int(reply[0]), int(reply[1]), asked_at)

    def _letter(self, entry: tuple[bytes, Mapping[bytes, bytes]]) -> DeadLetter:
        letter_id, fields = entry
        try:
            request = self._access.codec.job(fields).job.request
        except UnreadableEntry:
            request = None
        is_background = fields.get(b"stream", b"").decode(errors="replace") == self._keys.jobs(Priority.BACKGROUND)
        deliveries = fields.get(b"deliveries", b"0")
        return DeadLetter(
            letter_id=letter_id.decode(),
            cause=_text(fields, b"cause"),
            job_id=_text(fields, b"job"),
            tenant=_text(fields, b"tenant"),
            deliveries=int(deliveries) if deliveries.isdigit() else 0,
            age_seconds=self._time.age_seconds(letter_id),
            priority=Priority.BACKGROUND if is_background else Priority.INTERACTIVE,
            size_bytes=len(fields.get(b"request", b"")),
            request=request,
        )

    def _deadline(self) -> Deadline:
        return Deadline.after(self._timeout_seconds, self._access.clock)


def _text(fields: Mapping[bytes, bytes], name: bytes) -> str:
    return fields.get(name, b"").decode(errors="replace")
