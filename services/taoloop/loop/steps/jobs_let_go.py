"""Cancels the jobs of a run that was cancelled: nobody asks for them any more."""

from __future__ import annotations

import asyncio
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError
from taoloop.core.exact_json import ABSENT
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog
from taoloop.loop.ports import ActionPort
from taoloop.loop.state import RunState
from taoloop.plan.acting import ActionStatus, ExecuteRequest, JobCare
from taoloop.plan.task import Outcome, Permissions

CANCEL_SECONDS: Final = 3.0
"""How long the executor has for one of them; it asks the tool for 2 s at most."""

_log: Final = EventLog(__name__)


async def let_jobs_go(action: ActionPort, state: RunState, tenant: str, clock: Clock) -> None:
    """Ask the executor to cancel the jobs that a cancelled run waited for.

    A run whose time is over leaves its jobs alone: they are still wanted, and their handles stand in its log. What the
    executor cannot be told ends by the job's own time.
    """
    if state.finished is None or state.finished.outcome is not Outcome.CANCELLED:
        return

    async def let_go(request: ExecuteRequest) -> None:
        try:
            await action.execute(request, CallContext(deadline=Deadline.after(CANCEL_SECONDS, clock), tenant=tenant))
        except TaoError as error:
            _log.warning("job_not_let_go", step_id=request.step_id, reason=error.reason)

    async with asyncio.TaskGroup() as group:
        for record in state.steps.values():
            result = record.action
            if result is None or result.job_handle is ABSENT or result.status is ActionStatus.SUCCEEDED:
                continue
            request = ExecuteRequest(
                request_id=new_id(clock),
                run_id=state.run_id,
                thought_id=state.thought_id,
                iteration=state.iteration,
                step_id=record.step_id,
                tool=record.tool,
                arguments=record.arguments,
                provenance=record.provenance,
                permissions=state.task.permissions or Permissions(),
                job_handle=result.job_handle,
                job_care=JobCare.CANCEL,
            )
            group.create_task(let_go(request), name=f"job of {record.step_id}")
