"""Takes one step from its bindings to a judged result: resolve, execute, observe."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError
from taoloop.core.exact_json import ABSENT, Json, JsonValue, digest
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.tasks import first_error
from taoloop.core.telemetry import names
from taoloop.loop.correction.fixing import fixed
from taoloop.loop.limits import RunLimits
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.steps.calling import LAST_WORD_SECONDS, StepCall, ToolCaller, is_a_job
from taoloop.loop.steps.due import items_of, why_left_out
from taoloop.loop.steps.judging import ResultJudge
from taoloop.loop.steps.repeats import first_good, is_repeated, loop_fault
from taoloop.loop.steps.services import StepServices
from taoloop.loop.steps.shared_reads import SharedReads, Turn
from taoloop.loop.steps.step_record import StepRecord
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.plan.calls import call_key
from taoloop.plan.flow.fan_out import at_item, item_step_id, planned_step_id
from taoloop.plan.model import PlanStep
from taoloop.plan.resolve import Resolution, ResolveContext, StepResult, resolve_step
from taoloop.plan.running import (
    ActionReturned,
    ApprovalRequired,
    EventBody,
    ItemsGathered,
    LimitReached,
    ResultObserved,
    StepSkipped,
    StepStarted,
)
from taoloop.values.conversions import ConversionContext

_LATE: Final = frozenset({FaultCode.TOOL_TIMEOUT, FaultCode.DEADLINE_EXCEEDED, FaultCode.JOB_TIMEOUT})


class StepRunner:
    """Runs the steps of one plan for one run.

    Args:
        services: The services to call.
        writer: Where events go; its state is the run so far.
        tools: The tools as the executor listed them.
        limits: The run's limits.
        call: Tenant, deadline and the thought's id, sent along with every call.
        max_parallel_steps: Most calls at the same time; jobs that are waited for, and steps that wait for the result of
            the same read, are none.
    """

    def __init__(
        self,
        services: StepServices,
        writer: RunWriter,
        tools: KnownTools,
        limits: RunLimits,
        call: CallContext,
        max_parallel_steps: int,
    ) -> None:
        self._services = services
        self._writer = writer
        self._tools = tools
        self._limits = limits
        self._caller = ToolCaller(services, writer, tools, call)
        self._judge = ResultJudge(services, writer, call)
        self._slots = asyncio.Semaphore(max_parallel_steps)
        self._reads = SharedReads()
        self._started_calls: dict[str, int] = dict(writer.state.calls_per_tool)

    async def skip(self, step: PlanStep, fault: Fault) -> None:
        """Note that a step does not run."""
        await self._writer.emit(StepSkipped(step_id=step.step_id, tool=step.tool, fault=fault))

    async def run(self, step: PlanStep) -> None:
        """Run one step, or one for each of its items; what came of it is in the run's state afterwards."""
        left_out = why_left_out(step, self._writer.state)
        if left_out is not None:
            await self.skip(step, left_out)
        elif step.for_each is None:
            await self._run_one(step)
        else:
            await self._run_items(step)

    async def _run_items(self, step: PlanStep) -> None:
        """Run a step for the items that are due, and put the results together once all are there."""
        items = items_of(step, self._writer.state, self._limits.max_items)
        if isinstance(items, Fault):
            await self.skip(step, items)
            return
        due = {index: item for index, item in enumerate(items) if self._is_due(step, index)}
        to_call = {digest(item) for index, item in due.items() if not self._has_result(step, index)}
        if self._started_calls.get(step.tool, 0) + len(to_call) > self._limits.max_calls_per_tool:
            await self.skip(step, self._no_more_calls(step.tool, len(to_call)))  # half of the items would serve nobody
            return
        with first_error():
            async with asyncio.TaskGroup() as group:
                for index in due:
                    one = at_item(step, index)
                    group.create_task(self._run_one(one, index), name=f"step {one.step_id}")
        records = [self._record(item_step_id(step.step_id, index)) for index in range(len(items))]
        if all(record is not None and record.is_done for record in records):
            failed = tuple(record.step_id for record in records if record is not None and not record.has_succeeded)
            await self._writer.emit(
                ItemsGathered(step_id=step.step_id, tool=step.tool, items=len(items), failed=failed)
            )

    def _is_due(self, step: PlanStep, index: int) -> bool:
        """Tell whether an item is to run: it has not ended, or it failed before its step is tried once more."""
        record, planned = self._record(item_step_id(step.step_id, index)), self._record(step.step_id)
        if record is None or record.is_waiting or not record.is_done:
            return record is None or not record.is_waiting
        return not record.has_succeeded and planned is not None and record.gathering < planned.gatherings

    def _has_result(self, step: PlanStep, index: int) -> bool:
        record = self._record(item_step_id(step.step_id, index))
        return record is not None and record.has_result

    async def _run_one(self, step: PlanStep, item: int = 0) -> None:
        record = self._record(step.step_id)
        if record is not None and (record.has_result or record.is_in_flight) and await self._go_on(step, record):
            return
        resolution = self._resolve(step)
        if not isinstance(resolution, Resolution):
            await self.skip(step, resolution[0])
            return
        call = StepCall(
            step=step,
            arguments=resolution.arguments,
            provenance=resolution.provenance,
            may_be_made=record is not None and record.is_in_flight,
        )
        started = StepStarted(
            step_id=step.step_id,
            tool=step.tool,
            arguments=call.arguments,
            provenance=call.provenance,
            attempt=record.attempt + 1 if record is not None else 1,
            item_of=planned_step_id(step.step_id),
            item=item,
        )
        if not self._caller.is_read(step.tool):
            with self._reads.write():
                await self._make(call, started, Turn())
            return
        async with self._reads.turn(call_key(step.tool, call.arguments)) as turn:
            if turn.shared is None:
                await self._make(call, started, turn)
            else:
                await self._serve(call, started, turn.shared, "shared")

    async def _go_on(self, step: PlanStep, record: StepRecord) -> bool:
        """Go on with what another host began; False when the call is to be made anew, which the executor knows."""
        call = StepCall(step=step, arguments=_present(record.arguments), provenance=record.provenance)
        if record.action is not None:
            verdict = await self._judge.observe(step, call.arguments, record.action)
            await self._writer.emit(ResultObserved(result=verdict))
            return True
        if record.job_handle is ABSENT:
            return False
        begun = ActionResult(
            step_id=step.step_id, tool=step.tool, status=ActionStatus.PENDING, job_handle=record.job_handle
        )
        self._started_calls[step.tool] = self._started_calls.get(step.tool, 0) + 1
        with nullcontext() if self._caller.is_read(step.tool) else self._reads.write():
            await self._judged(call, await self._caller.followed(call, begun, self._caller.bounded(step)))
        return True

    async def _make(self, call: StepCall, started: StepStarted, turn: Turn) -> None:
        """Make a call that no other step makes, unless the run has made it too often."""
        step = call.step
        # A call that was begun on another host was within the limits, and who skips it says that it was not made.
        if not call.may_be_made and await self._is_stopped(call, started):
            return
        self._started_calls[step.tool] = self._started_calls.get(step.tool, 0) + 1
        async with self._slots:
            context = self._caller.bounded(step)  # what a step waits for its turn is not its own time
            await self._writer.emit(started)
            result = await self._caller.execute(call)
        if is_a_job(result):
            result = await self._caller.job_of(call, result, context)
        turn.bring(result)
        if result.status is ActionStatus.APPROVAL_REQUIRED:
            await self._wait_for_leave(call, result)
            return
        if step.timeout_seconds is not None and _has_used_up(context.deadline, result):
            await self._judged(call, result, LimitReached(limit="step_timeout", value=step.timeout_seconds))
        else:
            await self._judged(call, result)

    async def _is_stopped(self, call: StepCall, started: StepStarted) -> bool:
        """Stop a call that the run's limits forbid, and tell whether they do."""
        step, limits, state = call.step, self._limits, self._writer.state
        if is_repeated(state.steps.values(), step, call.arguments, limits.max_equal_calls):
            await self._stop_loop(call, started)
        elif self._started_calls.get(step.tool, 0) >= limits.max_calls_per_tool:
            await self.skip(step, self._no_more_calls(step.tool))
        elif state.result_bytes >= limits.max_result_bytes:
            await self.skip(step, self._no_more_bytes())
        else:
            return False
        return True

    async def _stop_loop(self, call: StepCall, started: StepStarted) -> None:
        """Give a read that brings nothing new the result that the run has; without one the step fails."""
        step, most = call.step, self._limits.max_equal_calls
        known = first_good(self._writer.state.steps.values(), step.tool, call.arguments)
        if known is None or known.action is None or not self._caller.is_read(step.tool):
            self._count(step.tool, "refused")
            await self.skip(step, loop_fault(step.tool, most))
            return
        await self._writer.emit(LimitReached(limit="max_equal_calls", value=float(most)))
        await self._serve(call, started, known.action, "served")

    async def _serve(self, call: StepCall, started: StepStarted, known: ActionResult, how: str) -> None:
        """Let a step have the result of the same call, without a request; it is judged by what this step expects."""
        self._count(call.step.tool, how)
        weighs_less = known.served_by in {ServedBy.FALLBACK, ServedBy.CACHE}
        result = replace(
            known,
            step_id=call.step.step_id,
            served_by=known.served_by if weighs_less else ServedBy.DUPLICATE,
            response_time_seconds=None,
            total_time_seconds=None,
            attempts=(),
        )
        await self._judged(call, result, replace(started, same_as=known.step_id))

    async def _judged(self, call: StepCall, result: ActionResult, *before: EventBody) -> None:
        """Have a result judged, and write both down at once; what came back is not lost when nobody can judge it."""
        returned = ActionReturned(result=result)
        try:
            verdict = await self._judge.observe(call.step, call.arguments, result)
        except BaseException:
            with suppress(TaoError):  # why the step is stopped says more
                await self._writer.emit(*before, returned)
            raise
        await self._writer.emit(*before, returned, ResultObserved(result=verdict))

    async def _wait_for_leave(self, call: StepCall, result: ActionResult) -> None:
        """Note that the step waits for a person; nothing was called, so nothing is counted or judged."""
        step = call.step
        self._started_calls[step.tool] -= 1
        await self._writer.emit(
            ActionReturned(result=result),
            ApprovalRequired(
                approval_id=result.approval_id,
                expires_at=result.approval_expires_at,
                step_id=step.step_id,
                tool=step.tool,
                arguments=call.arguments,
                reason=result.approval_reason,
            ),
        )

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
                    record.step_id: StepResult(_present(record.observation.data), record.trust)
                    for record in state.steps.values()
                    if record.observation is not None and record.observation.valid
                },
                inputs=state.inputs,
                conversion=ConversionContext(
                    reference_time=task.reference_time or self._services.clock.now(),
                    time_zone=task.time_zone,
                    locale=task.locale,
                ),
                tainted_context=state.plan_is_tainted,
                mend=fixed if state.corrections.is_fixed(planned_step_id(step.step_id) or step.step_id) else None,
            ),
        )

    def _record(self, step_id: str) -> StepRecord | None:
        return self._writer.state.steps.get(step_id)

    def _no_more_calls(self, tool: str, wanted: int = 1) -> Fault:
        return Fault(
            code=FaultCode.LIMIT_REACHED,
            stage=FaultStage.LOOP,
            message=f"The run may call {tool} {self._limits.max_calls_per_tool} times.",
            field="max_calls_per_tool",
            expected=f"at most {self._limits.max_calls_per_tool} calls",
            actual=self._started_calls.get(tool, 0) + wanted,
            suggestion="Raise limits.max_calls_per_tool if the task needs more.",
        )

    def _no_more_bytes(self) -> Fault:
        return Fault(
            code=FaultCode.LIMIT_REACHED,
            stage=FaultStage.LOOP,
            message=f"The tools have answered {self._limits.max_result_bytes} bytes, all that the run may take.",
            field="max_result_bytes",
            expected=f"less than {self._limits.max_result_bytes} bytes",
            actual=self._writer.state.result_bytes,
            suggestion="Raise limits.max_result_bytes if the task needs more, or let its tools return less.",
        )

    def _count(self, tool: str, outcome: str) -> None:
        label = tool if tool in self._tools.by_name else "unknown"
        self._services.metrics.counter(names.REPEATED_CALLS).labels(tool=label, outcome=outcome).inc()


def _has_used_up(deadline: Deadline, result: ActionResult) -> bool:
    """Tell whether a call ended for its time: it was cut off, or its job goes on beyond it."""
    if result.status is ActionStatus.PENDING:
        return deadline.remaining_seconds() <= LAST_WORD_SECONDS
    return deadline.is_expired and result.fault is not None and result.fault.code in _LATE


def _present(value: Json) -> JsonValue:
    return None if value is ABSENT else value
