"""Writes the end of a run whose log was away when the run was given up."""

from __future__ import annotations

from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, RunConflict, UnknownRun
from taoloop.core.faults import Fault
from taoloop.loop.ports import RunLog
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.plan.running import RunFinished
from taoloop.plan.task import Outcome

PAUSE_SECONDS: Final = 1.0
"""Between two looks at a log that is away."""


async def write_end_late(
    log: RunLog, tenant: str, run_id: str, fault: Fault, clock: Clock, *, timeout_seconds: float
) -> RunState | None:
    """Look for the log again and again until it has the run's end; a run must not stay open for ever.

    What the log holds decides: an event whose acknowledgement was lost is there, and the end comes after it. A run
    that somebody else has ended or taken over is left alone.

    Args:
        log: The log that was away.
        tenant: Whose run it is.
        run_id: The run.
        fault: Why it was given up.
        clock: Paces the looks.
        timeout_seconds: How long one look may take.

    Returns:
        The run as it ended, or None when it is not ours to end.
    """
    while True:
        await clock.sleep(PAUSE_SECONDS)
        try:
            events = await log.read(tenant, run_id, 1, Deadline.after(timeout_seconds, clock))
            state = RunState.from_events(run_id, events)
            if not state.is_at_rest:
                ending = RunFinished(
                    outcome=Outcome.FAILED,
                    fault=fault,
                    usage=state.usage,
                    duration_seconds=state.seconds_used(clock.now()),
                )
                await RunWriter(log, tenant, state, clock, timeout_seconds).emit(ending)
        except BackendUnavailable:
            continue
        except (UnknownRun, RunConflict):
            return None
        return state
