"""Follows a run over broken connections and dead hosts: every event once, in order, none left out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from taoloop.client.repeating import Repeats
from taoloop.core.calls import CallContext
from taoloop.core.errors import InternalError, TaoError
from taoloop.plan.running import RunEvent
from taoloop.wire.clients import LoopClient


async def followed(
    client: LoopClient,
    run_id: str,
    from_sequence: int,
    call: CallContext,
    repeats: Repeats,
    *,
    through_waits: bool = False,
) -> AsyncGenerator[RunEvent, None]:
    """Yield a run's events until it ends or rests; a call that breaks is made again from the next event on.

    Args:
        client: Reaches the service.
        run_id: The run.
        from_sequence: Number of the first event wanted, at least 1.
        call: Who calls, and until when.
        repeats: Says when the call is made again.
        through_waits: Whether to go on while the run waits for people; else a wait ends the events, too.

    Raises:
        UnknownRun: No such run for this tenant.
        DeadlineExceeded: The caller's time is up before the run's.
        BackendUnavailable: No host answered until then.
        InternalError: The service left an event out.
    """
    wanted = max(from_sequence, 1)
    failures = 0
    while True:
        try:
            async with aclosing(client.watch(run_id, wanted, call, through_waits=through_waits)) as events:
                async for event in events:
                    if event.sequence < wanted:
                        continue
                    if event.sequence > wanted:
                        raise _left_out(run_id, wanted, event.sequence)
                    wanted += 1
                    failures = 0
                    yield event
        except TaoError as error:
            failures += 1
            await repeats.wait("Watch", error, failures, call.deadline)
        else:
            return


def _left_out(run_id: str, wanted: int, came: int) -> InternalError:
    return InternalError(
        f"Event {came} of run {run_id} came where event {wanted} was due.",
        metadata={"run_id": run_id, "wanted_sequence": str(wanted), "sequence": str(came)},
    )
