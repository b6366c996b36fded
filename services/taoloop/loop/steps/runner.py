"""Takes one step from its bindings to a judged result: resolve, execute, observe."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, TaoError
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.ids import new_id
from taoloop.loop.limits import RunLimits
from taoloop.loop.ports import ActionPort, ObservationPort
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.steps.repeats import loop_fault
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, Provenance
from taoloop.plan.model import PlanStep
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.plan.resolve import Resolution, ResolveContext, StepResult, resolve_step
from taoloop.plan.running import (
    ActionReturned,
    ApprovalRequired,
    ResultObserved,
    StepSkipped,
    StepStarted,
    WaitingBegan,
)
from taoloop.plan.task import Permissions
from taoloop.tools.signature import Effect
from taoloop.values.conversions import ConversionContext

T = TypeVar("T")

FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 1.0

LAST_WORD_SECONDS: Final = 0.5
"""How long before its deadline a step stops waiting for a job, so that the job's handle is still recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepServices:
    """What a step needs of the world."""

    action: ActionPort
    observation: ObservationPort
    clock: Clock


class StepRunner:
    """Runs the steps of one plan for one run.

    Args:
        services: The services to call.
        writer: Where events go; its state is the run so far.
        tools: The tools as the executor listed them.
        limits: The run's limits.
        call: Tenant, deadline and the thought's id, sent along with every call.
    """

    def __init__(
        self, services: StepServices, writer: RunWriter, tools: KnownTools, limits: RunLimits, call: CallContext
    ) -> None:
        self._services = services
        self._writer = writer
        self._tools = tools
        self._limits = limits
        self._call = call
        self._started_calls: dict[str, int] = dict(writer.state.calls_per_tool)

    async def skip(self, step: PlanStep, fault: Fault) -> None:
        """Note that a step does not run."""
        await self._writer.emit(StepSkipped(step_id=step.step_id, tool=step.tool, fault=fault))

    async def run(self, step: PlanStep) -> None:
        """Run one step; what came of it is in the run's state afterwards."""
        resolution = self._resolve(step)
        if not isinstance(resolution, Resolution):
            await self.skip(step, resolution[0])
            return
        over = self._repeated(step, resolution.arguments) or self._count_call(step.tool)
        if over is not None:
            await self.skip(step, over)
            return
        await self._writer.emit(
            StepStarted(
                step_id=step.step_id,
                tool=step.tool,
                arguments=resolution.arguments,
                provenance=resolution.provenance,
            )
        )
        result = await self._execute(step, resolution.arguments, resolution.provenance)
        await self._writer.emit(ActionReturned(result=result))
        if result.status is ActionStatus.APPROVAL_REQUIRED:
            await self._wait_for_leave(step, resolution.arguments, result)
            return
        await self._writer.emit(ResultObserved(result=await self._observe(step, resolution.arguments, result)))

    def _resolve(self, step: PlanStep) -> Resolution | tuple[Fault, ...]:
        state = self._writer.state
        task = state.task
        return resolve_step(
            step,
            ResolveContext(
                parameters=self._tools.parameters(step.tool),
                turns=task.turns,
                state=task.state,
                results={
                    record.step_id: StepResult(_present(record.observation.data), record.observation.trust)
                    for record in state.steps.values()
                    if record.observation is not None and record.observation.valid
                },
                inputs=state.inputs,
                conversion=ConversionContext(
                    reference_time=task.reference_time or self._services.clock.now(),
                    time_zone=task.time_zone,
                    locale=task.locale,
                ),
                tainted_context=state.is_tainted,
            ),
        )

    def _repeated(self, step: PlanStep, arguments: JsonValue) -> Fault | None:
        records = self._writer.state.steps.values()
        return loop_fault(records, step.tool, arguments, self._limits.max_equal_calls)

    def _count_call(self, tool: str) -> Fault | None:
        """Count the call that is about to start, or return why it may not."""
        used = self._started_calls.get(tool, 0)
        if used >= self._limits.max_calls_per_tool:
            return Fault(
                code=FaultCode.LIMIT_REACHED,
                stage=FaultStage.LOOP,
                message=f"The run may call {tool} {self._limits.max_calls_per_tool} times.",
                field="max_calls_per_tool",
            )
        self._started_calls[tool] = used + 1
        return None

    async def _execute(self, step: PlanStep, arguments: JsonValue, provenance: tuple[Provenance, ...]) -> ActionResult:
        state = self._writer.state
        request = ExecuteRequest(
            request_id=new_id(self._services.clock),
            run_id=state.run_id,
            thought_id=self._call.request_id,
            iteration=state.iteration,
            step_id=step.step_id,
            tool=step.tool,
            arguments=arguments,
            provenance=provenance,
            catalogue_digest=state.catalogue_digest,
            permissions=state.task.permissions or Permissions(),
            timeout_seconds=step.timeout_seconds,
            tainted_context=state.is_tainted,
            approval_id=self._approval_id(step),
        )
        result = await self._answered(step, request)
        return await self._waited_for(step, request, result) if _is_a_job(result) else result

    async def _waited_for(self, step: PlanStep, request: ExecuteRequest, result: ActionResult) -> ActionResult:
        """Ask about a pending job until it is over, or its step's or the run's time nearly is.

        The executor keeps the pace: it answers when the job's next query was made, or when the time that it is
        given here is over. A step that ends pending carries the handle, so that nothing of the job is lost.
        """
        deadline = self._call.deadline.shortened(step.timeout_seconds or float("inf"))
        await self._writer.emit(WaitingBegan(reason="job", until=deadline.moment()))
        while _is_a_job(result):
            left = deadline.remaining_seconds() - LAST_WORD_SECONDS
            if left <= 0:
                break
            again = replace(
                request,
                request_id=new_id(self._services.clock),
                job_handle=result.job_handle,
                timeout_seconds=left,
            )
            result = await self._answered(step, again)
            await self._services.clock.sleep(FIRST_PAUSE_SECONDS)
        return result

    async def _answered(self, step: PlanStep, request: ExecuteRequest) -> ActionResult:
        try:
            return await self._patiently(lambda: self._services.action.execute(request, self._call))
        except TaoError as error:
            return self._no_result(step, error)

    def _approval_id(self, step: PlanStep) -> str:
        """Return the approval that was decided for the step; empty when none was asked for."""
        record = self._writer.state.steps.get(step.step_id)
        return record.leave.approval_id if record is not None and record.leave is not None else ""

    async def _wait_for_leave(self, step: PlanStep, arguments: JsonValue, result: ActionResult) -> None:
        """Note that the step waits for a person; nothing was called, so nothing is counted or judged."""
        self._started_calls[step.tool] -= 1
        await self._writer.emit(
            ApprovalRequired(
                approval_id=result.approval_id,
                expires_at=result.approval_expires_at,
                step_id=step.step_id,
                tool=step.tool,
                arguments=arguments,
            )
        )

    async def _observe(self, step: PlanStep, arguments: JsonValue, result: ActionResult) -> ObservationResult:
        state = self._writer.state
        request = ObserveRequest(
            result=result,
            arguments=arguments,
            expect=step.expect,
            output_schema=step.output_schema,
            catalogue_digest=state.catalogue_digest,
            reference_time=state.task.reference_time,
            projection=step.projection,
        )
        try:
            return await self._patiently(lambda: self._services.observation.observe(request, self._call))
        except TaoError as error:
            # Nobody judged the result: it is not used, and no permission follows from it.
            return ObservationResult(
                step_id=step.step_id, tool=step.tool, valid=False, fault=_service_fault("observation", error)
            )

    async def _patiently(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Repeat a call while the service is away and time is left; both services make a repeat harmless."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return await attempt()
            except BackendUnavailable:
                if self._call.deadline.remaining_seconds() <= pause * 2:
                    raise
            await self._services.clock.sleep(random.uniform(pause / 2, pause))
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    def _no_result(self, step: PlanStep, error: TaoError) -> ActionResult:
        """Return the envelope for a call of which the executor said nothing: a write may have happened."""
        tool = self._tools.by_name.get(step.tool)
        is_refused = error.code in ("INVALID_ARGUMENT", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED")
        is_read = tool is not None and tool.effect is Effect.READ
        status = ActionStatus.FAILED if is_read or is_refused else ActionStatus.OUTCOME_UNKNOWN
        fault = _service_fault("action", error)
        if status is ActionStatus.OUTCOME_UNKNOWN:
            fault = Fault(
                code=FaultCode.OUTCOME_UNKNOWN,
                stage=FaultStage.ACTION,
                message=f"Whether {step.tool} took effect is not known: {error.message}",
                suggestion="Look the effect up before anything is repeated.",
            )
        return ActionResult(
            run_id=self._writer.state.run_id,
            thought_id=self._call.request_id,
            step_id=step.step_id,
            tool=step.tool,
            status=status,
            parsed=ABSENT,
            fault=fault,
        )


def _is_a_job(result: ActionResult) -> bool:
    """Tell whether the call goes on outside and can be asked about."""
    return result.status is ActionStatus.PENDING and result.job_handle is not ABSENT


def _service_fault(service: str, error: TaoError) -> Fault:
    return Fault(
        code=FaultCode.DEADLINE_EXCEEDED if error.code == "DEADLINE_EXCEEDED" else FaultCode.SERVICE_UNAVAILABLE,
        stage=FaultStage.ACTION if service == "action" else FaultStage.OBSERVATION,
        message=f"The {service} service did not serve the call: {error.reason}: {error.message}",
        retriable=error.code == "UNAVAILABLE",
        retry_after_seconds=error.retry_after_seconds if error.code == "UNAVAILABLE" else None,
    )


def _present(value: Json) -> JsonValue:
    return None if value is ABSENT else value
