"""Drives a run from wherever it stands to its end or to a rest: think, act, observe, answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, RunConflict, TaoError
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.answering.answerer import Answerer
from taoloop.loop.limits import RunLimits
from taoloop.loop.ports import RunMemory, ThoughtPort
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import StepRecord
from taoloop.loop.steps.dag import run_steps
from taoloop.loop.steps.runner import StepRunner, StepServices
from taoloop.loop.tool_directory import KnownTools, ToolDirectory
from taoloop.plan.fingerprint import thought_fingerprint
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.running import InputRequired, LimitReached, RunFinished, ThoughtMade
from taoloop.plan.task import Limits, Outcome, Permissions
from taoloop.plan.thinking import (
    Answer,
    Escalation,
    NeedInput,
    Refusal,
    RefusalReason,
    ThinkRequest,
    ThinkResponse,
)

# What a refusal of the planner means for the run.
_OUTCOME_OF_REFUSAL: Final = {RefusalReason.NO_TOOL: Outcome.NO_TOOL}
_CODE_OF_REFUSAL: Final = {
    RefusalReason.NO_TOOL: FaultCode.NO_TOOL,
    RefusalReason.NOT_ALLOWED: FaultCode.EFFECT_NOT_ALLOWED,
    RefusalReason.MISSING_USER_QUERY: FaultCode.MISSING_USER_QUERY,
    RefusalReason.INSUFFICIENT_CONTEXT: FaultCode.INSUFFICIENT_CONTEXT,
    RefusalReason.PLAN_FAILED: FaultCode.INVALID_PLAN,
}
# Failures of steps that a limit of the run refused; their field is its name.
_LIMITS: Final = {FaultCode.LIMIT_REACHED, FaultCode.LOOP_DETECTED}
# Failures after which only a person may go on.
_FOR_A_PERSON: Final = {FaultCode.OUTCOME_UNKNOWN, FaultCode.DECISION_BY_PERSON_NEEDED, FaultCode.REPEATED_WRITE}


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverServices:
    """What a driver needs of the world."""

    thought: ThoughtPort
    steps: StepServices
    directory: ToolDirectory
    clock: Clock
    answerer: Answerer = field(default_factory=Answerer)
    memory: RunMemory | None = None
    """What earlier runs and turns left; None remembers nothing."""


class RunDriver:
    """Drives one run. One driver has one run at a time; the run's log decides when two hosts disagree."""

    def __init__(self, services: DriverServices, writer: RunWriter, limits: RunLimits, max_parallel_steps: int) -> None:
        self._services = services
        self._writer = writer
        self._limits = limits.within(writer.state.task.limits or Limits())
        self._max_parallel_steps = max_parallel_steps

    async def drive(self, call: CallContext) -> None:
        """Bring the run to its end or to a rest; how it ended is its last event.

        Args:
            call: Tenant and deadline; the run's own wall time is applied besides.

        Raises:
            RunConflict: Another host owns the run now.
            BackendUnavailable: The log does not take the run's end.
        """
        used = self._writer.state.seconds_used(self._services.clock.now())
        own_seconds = self._limits.max_wall_time_seconds - used
        try:
            async with asyncio.timeout(call.deadline.bounded(max(0.0, own_seconds))):
                await self._iterate(replace(call, deadline=call.deadline.shortened(own_seconds)))
        except TimeoutError:
            await self._stop_late(by_caller=call.deadline.is_expired)
        except asyncio.CancelledError:
            await self._stop_cancelled()
            raise
        except RunConflict:
            raise
        except TaoError as error:
            await self._stop_broken(error, call)

    async def _iterate(self, call: CallContext) -> None:
        while not self._writer.state.is_at_rest:
            plan = self._writer.state.unfinished_plan
            if plan is not None:
                tools = await self._services.directory.tools(call)
                await self._carry_out(plan, tools, replace(call, request_id=self._writer.state.thought_id))
                continue
            reached = self._limits.reached(self._writer.state.usage, self._writer.state.result_bytes)
            if reached is not None:
                await self._stop_at_limit(*reached)
                return
            tools = await self._services.directory.tools(call)
            response = await self._services.thought.think(await self._request(tools, call), call)
            await self._writer.emit(ThoughtMade(response=response))
            await self._follow(response, tools, replace(call, request_id=response.thought_id))

    async def _follow(self, response: ThinkResponse, tools: KnownTools, call: CallContext) -> None:
        match response.outcome:
            case ThoughtPlan() as plan:
                await self._carry_out(plan, tools, call)
            case Answer() as answer:
                await self._answer(await self._services.answerer.of_planner(self._writer.state, answer, tools, call))
            case NeedInput() as need:
                await self._writer.emit(InputRequired(input_id=need.input_id, fields=need.fields))
                await self._finish(Outcome.NEEDS_INPUT)
            case Refusal() as refusal:
                await self._finish(
                    _OUTCOME_OF_REFUSAL.get(refusal.reason, Outcome.FAILED), fault=_fault_of_refusal(refusal)
                )
            case Escalation() as escalation:
                await self._finish(Outcome.NEEDS_HUMAN, fault=_person_needed(escalation.message))
            case None:
                await self._finish(Outcome.FAILED, fault=_plan_fault("The thought decided nothing."))

    async def _carry_out(self, plan: ThoughtPlan, tools: KnownTools, call: CallContext) -> None:
        runner = StepRunner(self._services.steps, self._writer, tools, self._limits, call)
        steps = self._writer.state.steps
        await run_steps(plan, steps, runner.run, runner.skip, self._max_parallel_steps)
        failed = [
            record
            for record in (steps[step.step_id] for step in plan.steps if not step.optional)
            if not record.is_open and _is_first_cause(record)
        ]
        if failed:
            await self._stop_failed(failed)
        elif self._writer.state.open_approvals:
            await self._finish(Outcome.NEEDS_APPROVAL)
        else:
            await self._answer(await self._services.answerer.of_plan(self._writer.state, plan, tools, call))

    async def _answer(self, answer: Answer | Fault) -> None:
        if isinstance(answer, Fault):
            await self._finish(Outcome.FAILED, fault=answer)
            return
        doubtful = self._writer.state.doubtful_steps
        if doubtful:
            await self._finish(Outcome.NEEDS_HUMAN, fault=_all_doubtful(doubtful))
            return
        await self._writer.emit(answer)
        await self._finish(Outcome.ANSWERED)

    async def _request(self, tools: KnownTools, call: CallContext) -> ThinkRequest:
        state = self._writer.state
        task = state.task
        memory = self._services.memory
        return ThinkRequest(
            run_id=state.run_id,
            iteration=state.iteration + 1,
            turns=task.turns,
            state=task.state,
            reference_time=task.reference_time,
            time_zone=task.time_zone,
            locale=task.locale,
            permissions=task.permissions or Permissions(),
            priority=task.priority,
            catalogue_digest=state.catalogue_digest,
            availability=tools.unavailable(),
            completed=state.completed(),
            inputs=state.inputs,
            output_schema=task.output_schema,
            seed=task.seed,
            tainted_context=state.is_tainted,
            memory=None if memory is None else await memory.recall(self._writer.tenant, state, call),
            step_count=state.usage.tool_calls,
            previous_thought_sha256="" if state.thought is None else thought_fingerprint(state.thought.outcome),
        )

    async def _stop_failed(self, failed: list[StepRecord]) -> None:
        faults = [record.fault or _plan_fault(f"Step {record.step_id} has no result.") for record in failed]
        person = next((fault for fault in faults if fault.code in _FOR_A_PERSON), None)
        limit = next((fault for fault in faults if fault.code in _LIMITS), None)
        if person is not None:
            await self._finish(Outcome.NEEDS_HUMAN, fault=person)
        elif limit is not None:
            value = float(getattr(self._limits, limit.field))
            await self._writer.emit(LimitReached(limit=limit.field, value=value))
            await self._finish(Outcome.LIMIT_REACHED, fault=limit)
        else:
            await self._finish(Outcome.FAILED, fault=faults[0])

    async def _stop_at_limit(self, limit: str, value: float) -> None:
        await self._writer.emit(LimitReached(limit=limit, value=value))
        fault = Fault(
            code=FaultCode.LIMIT_REACHED,
            stage=FaultStage.LOOP,
            message=f"The run reached its limit {limit} of {value:g}.",
            field=limit,
            suggestion=f"Raise limits.{limit} if the task needs more.",
        )
        await self._finish(Outcome.LIMIT_REACHED, fault=fault)

    async def _stop_late(self, *, by_caller: bool) -> None:
        if not by_caller:
            await self._stop_at_limit("max_wall_time", self._limits.max_wall_time_seconds)
            return
        fault = Fault(code=FaultCode.DEADLINE_EXCEEDED, stage=FaultStage.LOOP, message="The caller's deadline passed.")
        await self._finish(Outcome.FAILED, fault=fault)

    async def _stop_cancelled(self) -> None:
        # The one await that a cancellation may not cut off: the run's end has to be written.
        fault = Fault(code=FaultCode.CANCELLED, stage=FaultStage.LOOP, message="The run was cancelled.")
        await asyncio.shield(self._finish(Outcome.CANCELLED, fault=fault))

    async def _stop_broken(self, error: TaoError, call: CallContext) -> None:
        if error.code == "DEADLINE_EXCEEDED":
            await self._stop_late(by_caller=call.deadline.is_expired)
            return
        if error.reason == "CATALOGUE_MISMATCH":
            self._services.directory.forget()
        await self._finish(Outcome.FAILED, fault=fault_of(error))

    async def _finish(self, outcome: Outcome, *, fault: Fault | None = None) -> None:
        state = self._writer.state
        if state.is_at_rest:
            return
        seconds = state.seconds_used(self._services.clock.now())
        await self._writer.emit(
            RunFinished(outcome=outcome, fault=fault, usage=state.usage, duration_seconds=max(0.0, seconds))
        )


def fault_of(error: TaoError) -> Fault:
    """Return the fault of a run that a service, or the log, did not serve."""
    return Fault(
        code=FaultCode.SERVICE_UNAVAILABLE,
        stage=FaultStage.LOOP,
        message=f"{error.reason}: {error.message}",
        retriable=isinstance(error, BackendUnavailable) or error.retry_after_seconds is not None,
        retry_after_seconds=error.retry_after_seconds,
    )


def _is_first_cause(record: StepRecord) -> bool:
    """Return whether a step failed by itself; one that was skipped for another's failure says nothing new."""
    fault = record.fault
    return not record.has_succeeded and (fault is None or not fault.cause_step_id)


def _fault_of_refusal(refusal: Refusal) -> Fault:
    if refusal.faults:
        return refusal.faults[0]
    return Fault(
        code=_CODE_OF_REFUSAL[refusal.reason],
        stage=FaultStage.PLAN,
        message=refusal.message,
        actual=list(refusal.required_fields) if refusal.required_fields else ABSENT,
    )


def _person_needed(message: str) -> Fault:
    return Fault(code=FaultCode.DECISION_BY_PERSON_NEEDED, stage=FaultStage.PLAN, message=message)


def _all_doubtful(step_ids: tuple[str, ...]) -> Fault:
    message = f"Every result that an answer could rest on has a low confidence: {', '.join(step_ids)}."
    return Fault(
        code=FaultCode.DECISION_BY_PERSON_NEEDED,
        stage=FaultStage.LOOP,
        message=message,
        suggestion="Look at the results' stages and sources, and decide whether they will do.",
    )


def _plan_fault(message: str) -> Fault:
    return Fault(code=FaultCode.INVALID_PLAN, stage=FaultStage.PLAN, message=message)
