"""Follows a run's events for a caller: from the log, on whatever host the run is driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from taoloop.core.calls import CallContext
from taoloop.core.errors import DeadlineExceeded
from taoloop.loop.ports import RunLog
from taoloop.loop.state import WAITING
from taoloop.plan.running import RunEvent, RunFinished, RunResumed


async def watch(
    log: RunLog, run_id: str, from_sequence: int, call: CallContext, *, through_waits: bool = False
) -> AsyncGenerator[RunEvent]:
    """Yield a run's events from a sequence number on until the run has ended or rests.

    Args:
        log: Holds the events.
        run_id: The run.
        from_sequence: Number of the first event wanted; 0 and 1 both start at the beginning.
        call: Who asks, and until when.
        through_waits: Whether to go on while the run waits for people.

    Raises:
        UnknownRun: No such run for this tenant.
        DeadlineExceeded: The caller's time is up before the run's.
    """
    written = await log.read(call.tenant, run_id, 1, call.deadline)
    last = max(from_sequence, 1) - 1
    is_over = False
    for event in written:
        is_over = _is_over(event, through_waits, is_over)
        if event.sequence > last:
            last = event.sequence
            yield event
    if is_over:
        return
    async for event in log.follow(call.tenant, run_id, written[-1].sequence + 1, call.deadline):
        if event.sequence > last:
            yield event
        if _is_over(event, through_waits, False):
            return
    raise DeadlineExceeded(f"The caller's deadline passed while run {run_id} went on.")


def _is_over(event: RunEvent, through_waits: bool, was_over: bool) -> bool:
    """Return whether nothing that the caller wants follows this event; a warning to a resting run changes nothing."""
    match event.body:
        case RunFinished(outcome=outcome):
            return not through_waits or outcome not in WAITING
        case RunResumed():
            return False
        case _:
            return was_over
