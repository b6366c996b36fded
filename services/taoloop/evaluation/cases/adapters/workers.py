"""Entries of the thought queue in the hands of a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.evaluation.cases.adapters.loops import new_telemetry
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.plan.task import Priority
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.thought.model import Lease, LeaseEnd, QueueState, ThinkFailure, ThinkJob, ThinkReply
from taoloop.thought.worker import MAX_DELIVERIES, ThoughtWorker, WorkerConfig

_JOB_SECONDS: Final = 30.0


class _OneEntry:
    """A `JobSource` that hands out one entry, then another one in its first delivery, and notes what becomes of them.

    Args:
        first: The entry that the case is about.
        second: It shows that the worker goes on.
        is_raising: Whether an entry cannot be set aside.
    """

    def __init__(self, first: Lease, second: Lease, *, is_raising: bool) -> None:
        self.ended: dict[str, str] = {}
        self._waiting = [first, second]
        self._is_raising = is_raising
        self.is_drained = asyncio.Event()

    async def take(self, count: int, wait_seconds: float) -> Sequence[Lease]:  # noqa: ARG002 - the port's
        """See `JobSource.take`."""
        if self._waiting:
            return [self._waiting.pop(0)]
        await asyncio.sleep(0)
        return []

    async def renew(self, leases: Sequence[Lease]) -> Mapping[tuple[Priority, str], LeaseEnd]:  # noqa: ARG002 - the port's
        """See `JobSource.renew`."""
        return {}

    async def answer(self, lease: Lease, reply: ThinkReply | None) -> bool:  # noqa: ARG002 - the port's
        """See `JobSource.answer`."""
        self._end(lease, "process")
        return True

    async def set_aside(self, lease: Lease, cause: str, failure: ThinkFailure) -> None:  # noqa: ARG002 - the port's
        """See `JobSource.set_aside`."""
        if self._is_raising:
            self._end(lease, "keep_pending")
            raise BackendUnavailable("The dead letters are away.")
        self._end(lease, "dead_letter_then_ack")

    async def leave(self, leases: Sequence[Lease]) -> None:
        """See `JobSource.leave`."""

    async def state(self) -> QueueState:
        """See `JobSource.state`."""
        return QueueState(streams={})

    async def is_ready(self) -> bool:
        """See `JobSource.is_ready`."""
        return True

    def _end(self, lease: Lease, action: str) -> None:
        self.ended[lease.entry_id] = action
        if len(self.ended) == 2:
            self.is_drained.set()


class _Thoughtless:
    """A `Mind` whose thoughts are empty."""

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str) -> ThinkResponse:  # noqa: ARG002 - the port's
        """See `Mind.think`."""
        return ThinkResponse()


async def _delivery(case_input: CaseInput) -> Said:
    if case_input["max_deliveries"] != MAX_DELIVERIES:
        raise Unsupported(f"the most deliveries are {MAX_DELIVERIES} and no setting")
    clock, telemetry = SystemClock(), new_telemetry()
    source = _OneEntry(
        _lease("1-0", case_input["times_delivered"], clock),
        _lease("2-0", 1, clock),
        is_raising=case_input.get("dead_letter_write") == "raises",
    )
    # A second slot: an entry that cannot be ended keeps its own until the worker gives up on it.
    worker = ThoughtWorker(source, _Thoughtless(), WorkerConfig(slots=2, outage_seconds=0.1), clock, telemetry)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.run(), name="worker")
        await source.is_drained.wait()
        worker.stop()
    await telemetry.aclose()
    return {"action": source.ended["1-0"], "worker_alive": source.ended["2-0"] == "process"}


def _lease(entry_id: str, deliveries: int, clock: SystemClock) -> Lease:
    job = ThinkJob(
        job_id=entry_id,
        tenant="default",
        request=ThinkRequest(run_id="0" * 32, iteration=1),
    )
    return Lease(entry_id=entry_id, job=job, deadline=Deadline.after(_JOB_SECONDS, clock), deliveries=deliveries)


# The worker knows no count of its own beside the queue's, so `app_failures` has nothing to change.
DELIVERY = Adapter(
    feed=_delivery, required=("times_delivered", "max_deliveries"), optional=("app_failures", "dead_letter_write")
)
