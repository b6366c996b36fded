"""Makes one step's call: executed by the action service, waited for when it is a job, bounded by the step's time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.errors import MessageTooLarge, TaoError
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.core.ids import new_id
from taoloop.loop.patience import FIRST_PAUSE_SECONDS
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.steps.lost_calls import nothing_came, unknown_outcome
from taoloop.loop.steps.services import StepServices, service_fault
from taoloop.loop.steps.taint import steering_of
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, JobCare, Provenance
from taoloop.plan.model import PlanStep
from taoloop.plan.running import WaitingBegan
from taoloop.plan.task import Permissions
from taoloop.tools.signature import Effect

LAST_WORD_SECONDS: Final = 0.5
"""How long before its deadline a step stops waiting for a job, so that the job's handle is still recorded; and how much
longer than its own time a step waits for the executor, which ends the call in time and says how."""


_SAID_OF_JOBS: Final = frozenset({FaultCode.JOB_FAILED, FaultCode.JOB_CANCELLED, FaultCode.OUTCOME_UNKNOWN})
"""Faults that say themselves what became of a job; after any other one it may go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCall:
    """A call that is to be made.

    Attributes:
        step: The step.
        arguments: Its arguments.
        provenance: Where each of them came from.
        may_be_made: Whether a host that fell silent may have made it already.
    """

    step: PlanStep
    arguments: JsonValue
    provenance: tuple[Provenance, ...]
    may_be_made: bool = False


class ToolCaller:
    """Has the calls of a run's steps made.

    Args:
        services: The services to call.
        writer: Where events go; its state is the run so far.
        tools: The tools as the executor listed them.
        call: Tenant, deadline and the thought's id, sent along with every call.
    """

    def __init__(self, services: StepServices, writer: RunWriter, tools: KnownTools, call: CallContext) -> None:
        self._services = services
        self._writer = writer
        self._tools = tools
        self._call = call

    def bounded(self, step: PlanStep, *, grace_seconds: float = 0.0) -> CallContext:
        """Return the context of a step's calls: of its own time, the run's and the caller's the smallest counts.

        Args:
            step: The step, which begins now.
            grace_seconds: What is added to its own time.
        """
        if step.timeout_seconds is None:
            return self._call
        return replace(self._call, deadline=self._call.deadline.shortened(step.timeout_seconds + grace_seconds))

    async def execute(self, call: StepCall) -> ActionResult:
        """Make the call; a tool that works on after its answer leaves it pending."""
        context = self.bounded(call.step, grace_seconds=LAST_WORD_SECONDS)
        return await self._answered(self._request(call), context, may_be_made=call.may_be_made)

    async def job_of(self, call: StepCall, begun: ActionResult, context: CallContext) -> ActionResult:
        """Wait for the job that a call began, and return what came of it.

        Its handle is written down first: a host that takes the run over asks for the job instead of beginning another.
        """
        step = call.step
        until = context.deadline.moment()
        await self._writer.emit(
            WaitingBegan(reason="job", until=until, step_id=step.step_id, tool=step.tool, job_handle=begun.job_handle)
        )
        return await self.followed(call, begun, context)

    async def followed(self, call: StepCall, result: ActionResult, context: CallContext) -> ActionResult:
        """Ask about a pending job until it is over, or its step's or the run's time nearly is.

        The executor keeps the pace: it answers when the job's next query was made, or when the time that it is
        given here is over. A step that ends pending carries the handle, so that nothing of the job is lost.
        """
        while is_a_job(result):
            left = context.deadline.remaining_seconds() - LAST_WORD_SECONDS
            if left <= 0:
                break
            again = replace(self._request(call), job_handle=result.job_handle, timeout_seconds=left)
            result = await self._answered(again, context, may_be_made=True)
            await self._services.clock.sleep(FIRST_PAUSE_SECONDS)
        if result.fault is None or is_a_job(result) or self.is_read(call.step.tool):
            return result
        if result.fault.code in _SAID_OF_JOBS:
            return result
        # Whoever is refused an answer, for example since the tool is switched off, has not stopped the job.
        fault = unknown_outcome(call.step.tool, result.fault.message)
        return replace(result, status=ActionStatus.OUTCOME_UNKNOWN, fault=fault)

    def _request(self, call: StepCall) -> ExecuteRequest:
        state, step = self._writer.state, call.step
        steering = steering_of(state, step)
        record = state.steps.get(step.step_id)
        leave = record.leave if record is not None else None
        return ExecuteRequest(
            request_id=new_id(self._services.clock),
            run_id=state.run_id,
            thought_id=self._call.request_id,
            iteration=state.iteration,
            step_id=step.step_id,
            tool=step.tool,
            arguments=call.arguments,
            provenance=call.provenance,
            catalogue_digest=state.catalogue_digest,
            permissions=state.task.permissions or Permissions(),
            timeout_seconds=step.timeout_seconds,
            tainted_context=steering.is_tainted,
            tainted_by=steering.step_ids,
            approval_id=leave.approval_id if leave is not None else "",
            job_care=JobCare.KEEP,
        )

    def is_read(self, tool: str) -> bool:
        """Tell whether a tool is known to change nothing."""
        known = self._tools.by_name.get(tool)
        return known is not None and known.effect is Effect.READ

    async def _answered(self, request: ExecuteRequest, context: CallContext, *, may_be_made: bool) -> ActionResult:
        async def attempt() -> ActionResult:
            nonlocal may_be_made
            try:
                return await self._services.action.execute(request, context)
            except TaoError as error:
                # What an earlier attempt has begun, a later one that is refused does not undo.
                may_be_made = may_be_made or not _is_refused(error)
                raise

        async def tell(_: TaoError, seconds: float) -> None:
            until = self._services.clock.now() + timedelta(seconds=seconds)
            await self._writer.emit(
                WaitingBegan(reason="backend", until=until, step_id=request.step_id, tool=request.tool)
            )

        try:
            return await self._services.patience.with_service(attempt, context.deadline, tell)
        except TaoError as error:
            return self._no_result(request, error, may_be_made=may_be_made)

    def _no_result(self, request: ExecuteRequest, error: TaoError, *, may_be_made: bool) -> ActionResult:
        """Return the envelope for a call of which the executor said nothing: a write may have happened."""
        fault = service_fault("action", error)
        if may_be_made and not self.is_read(request.tool):
            fault = unknown_outcome(request.tool, error.message)
        run_id, thought_id = self._writer.state.run_id, self._call.request_id
        result = nothing_came(run_id, thought_id, request.step_id, request.tool, fault)
        return replace(result, job_handle=request.job_handle)


def _is_refused(error: TaoError) -> bool:
    """Tell whether the executor did not begin the call; a message that is too large may be the answer to it."""
    codes = ("INVALID_ARGUMENT", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED")
    return error.code in codes and not isinstance(error, MessageTooLarge)


def is_a_job(result: ActionResult) -> bool:
    """Tell whether the call goes on outside and can be asked about."""
    return result.status is ActionStatus.PENDING and result.job_handle is not ABSENT
