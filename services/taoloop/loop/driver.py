"""Drives a run from wherever it stands to its end or to a rest: think, act, observe, correct, answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.errors import RunConflict, TaoError
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.ids import new_id
from taoloop.loop.answering.answerer import Answerer, Unanswered
from taoloop.loop.correction.classes import FaultClass
from taoloop.loop.correction.corrector import Corrected, CorrectionServices, Corrector
from taoloop.loop.correction.failure import Situation
from taoloop.loop.correction.finding import failed_thought, plan_fault
from taoloop.loop.ending import RunEnd, decisive
from taoloop.loop.limits import RunLimits
from taoloop.loop.ports import RunMemory, ThoughtPort
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.loop.steps.dag import faults_of_order, run_steps
from taoloop.loop.steps.jobs_let_go import let_jobs_go
from taoloop.loop.steps.runner import StepRunner
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import KnownTools, ToolDirectory
from taoloop.plan.fingerprint import thought_fingerprint
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.running import EventBody, RunResumed, ThoughtMade, WaitingBegan
from taoloop.plan.task import Limits, Outcome, Permissions, ToolAvailability, Usage
from taoloop.plan.thinking import Answer, NeedInput, Refusal, RefusalReason, ThinkRequest, ThinkResponse

FAILED_IN_RUN = "failed_in_run"
"""Why a tool is not offered to a thought: it did not serve earlier in the same run."""


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
    corrections: CorrectionServices = field(default_factory=CorrectionServices)


class RunDriver:
    """Drives one run. One driver has one run at a time; the run's log decides when two hosts disagree."""

    def __init__(self, services: DriverServices, writer: RunWriter, limits: RunLimits, max_parallel_steps: int) -> None:
        self._services = services
        self._writer = writer
        self._limits = limits.within(writer.state.task.limits or Limits())
        self._max_parallel_steps = max_parallel_steps
        self._end = RunEnd(writer, self._limits, services.clock, services.directory.is_read)

    async def drive(self, call: CallContext) -> None:
        """Bring the run to its end or to a rest; how it ended is its last event.

        Args:
            call: Tenant and deadline; the run's own wall time is applied besides.

        Raises:
            RunConflict: Another host owns the run now.
            BackendUnavailable: The log does not take the run's end.
        """
        used = self._writer.state.seconds_of_round(self._services.clock.now())
        own_seconds = self._limits.max_wall_time_seconds - used
        try:
            async with asyncio.timeout(call.deadline.bounded(max(0.0, own_seconds))):
                await self._iterate(replace(call, deadline=call.deadline.shortened(own_seconds)))
        except TimeoutError:
            await self._end.late(by_caller=call.deadline.is_expired)
        except asyncio.CancelledError as cancelled:
            await self._end.cancelled(str(cancelled))
            services = self._services.steps
            await asyncio.shield(let_jobs_go(services.action, self._writer.state, self._writer.tenant, services.clock))
            raise
        except RunConflict:
            raise
        except TaoError as error:
            await self._end.broken(error, by_caller=call.deadline.is_expired)

    async def _iterate(self, call: CallContext) -> None:
        state = self._writer.state
        while not state.is_at_rest:
            plan = state.unfinished_plan
            if plan is not None:
                tools = await self._services.directory.tools(call)
                await self._carry_out(plan, tools, replace(call, request_id=state.thought_id))
                continue
            thought = state.unfollowed_thought
            if thought is not None:
                tools = await self._services.directory.tools(call)
                await self._follow(thought, tools, replace(call, request_id=thought.thought_id))
                continue
            if await self._end.still_waits():
                return
            reached = self._limits.reached(state.usage_of_round, state.result_bytes)
            if reached is not None:
                await self._end.at_limit(*reached)
                return
            tools = await self._services.directory.tools(call)
            response = await self._think(tools, call)
            await self._writer.emit(ThoughtMade(response=response))

    async def _think(self, tools: KnownTools, call: CallContext) -> ThinkResponse:
        request = await self._request(tools, call)

        async def attempt() -> ThinkResponse:
            return await self._services.thought.think(request, call)

        async def tell(_: TaoError, seconds: float) -> None:
            until = self._services.clock.now() + timedelta(seconds=seconds)
            await self._writer.emit(WaitingBegan(reason="queue", until=until))

        try:
            response = await self._services.steps.patience.with_service(attempt, call.deadline, tell)
            return _in_order(response, self._writer.state)
        except TaoError as error:
            if error.reason != "CATALOGUE_MISMATCH":
                raise
            return _mismatch(error, request, new_id(self._services.clock))

    async def _follow(self, response: ThinkResponse, tools: KnownTools, call: CallContext) -> None:
        match response.outcome:
            case Answer() as answer:
                await self._answer(answer, tools, call)
            case NeedInput() as need:
                state = self._writer.state
                reached = self._limits.reached_for_good(state.usage, state.result_bytes)
                if reached is None:
                    await self._end.needs_input(need.input_id, need.fields)
                else:  # no thought could make anything of what the user says
                    await self._end.at_limit(*reached)
            case _:
                situation = self._situation(tools, call)
                corrector = self._corrector(situation)
                await self._react(corrector, corrector.chosen(failed_thought(situation, response)), tools, call)

    async def _carry_out(self, plan: ThoughtPlan, tools: KnownTools, call: CallContext) -> None:
        state = self._writer.state
        corrector = self._corrector(self._situation(tools, call))
        chosen: tuple[Corrected, ...] | None = None
        while chosen is None:
            # A runner of its own for each pass: reads of one pass are shared, and a retry wants another result.
            services = self._services.steps
            runner = StepRunner(services, self._writer, tools, self._limits, call, self._max_parallel_steps)
            await corrector.ask_second_sources(plan, runner.run)
            await run_steps(plan, state.steps, runner.run, runner.skip)
            chosen = await corrector.correct(plan)
        if chosen:
            await self._react(corrector, chosen, tools, call)
        elif not await self._end.still_waits() and not state.plan_is_left:
            # Where the plan is left, a person has set a step aside, and a thought comes next.
            await self._answer(plan, tools, call)

    async def _react(
        self, corrector: Corrector, chosen: Sequence[Corrected], tools: KnownTools, call: CallContext
    ) -> None:
        """Do what several failures come to outside of the plan.

        While a person is asked for leave, nobody else is asked and nothing is thought: the run rests, and what failed
        is seen to when the plan goes on.
        """
        made = decisive(chosen)
        reaction = made[0].edge.reaction
        if reaction.waits_for_leave and self._writer.state.open_approvals:
            await self._end.still_waits()
            return
        if reaction.thinks_again:
            await self._writer.emit(*(each.event for each in made), *await self._pinned_anew(made, call))
        else:
            await self._end.after(made, tools)
        corrector.report(made)

    async def _pinned_anew(self, made: Sequence[Corrected], call: CallContext) -> list[EventBody]:
        """Return the event that pins the run to the tools of now, where the plan was made for others."""
        if not any(each.edge.kind is FaultClass.PLAN_OUTDATED for each in made):
            return []
        self._services.directory.forget()
        now = (await self._services.directory.tools(call)).catalogue_digest
        is_same = now == self._writer.state.catalogue_digest
        return [] if is_same else [RunResumed(reason="catalogue", catalogue_digest=now)]

    async def _answer(self, answering: ThoughtPlan | Answer, tools: KnownTools, call: CallContext) -> None:
        """Answer by a plan whose steps have run, or with what a planner answered; never by doubtful results alone."""
        state, answerer = self._writer.state, self._services.answerer
        if state.doubtful_steps:
            await self._end.all_doubtful(state.doubtful_steps)
            return
        if isinstance(answering, Answer):
            answer = await answerer.of_planner(state, answering, tools, call)
        else:
            answer = await answerer.of_plan(state, answering, tools, call)
        if isinstance(answer, Unanswered):
            await self._end.finish(Outcome.FAILED, fault=answer.fault, spent=answer.usage)
        else:
            await self._end.answered(answer)

    async def _request(self, tools: KnownTools, call: CallContext) -> ThinkRequest:
        state = self._writer.state
        task = state.task
        memory = self._services.memory
        withheld = state.corrections.withheld_tools()
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
            availability=_without(tools.unavailable(), withheld),
            completed=state.completed(),
            inputs=state.inputs,
            output_schema=task.output_schema,
            seed=task.seed,
            tainted_context=state.is_tainted,
            memory=None if memory is None else await memory.recall(self._writer.tenant, state, call),
            strict=state.corrections.thinks_strictly,
            step_count=state.usage.tool_calls,
            notes=state.waits.notes,
            previous_thought_sha256="" if state.thought is None else thought_fingerprint(state.thought.outcome),
        )

    def _situation(self, tools: KnownTools, call: CallContext) -> Situation:
        return Situation(
            run=self._writer.state,
            tools=tools,
            limits=self._limits,
            deadline=call.deadline,
            rules=self._services.corrections.rules,
        )

    def _corrector(self, situation: Situation) -> Corrector:
        return Corrector(self._services.corrections, self._writer, situation, self._services.clock)


def _without(unavailable: Sequence[ToolAvailability], withheld: Sequence[str]) -> tuple[ToolAvailability, ...]:
    """Return the tools that a thought cannot use, with those that failed earlier in the run."""
    known = {entry.tool for entry in unavailable}
    more = (ToolAvailability(tool=tool, available=False, reason=FAILED_IN_RUN) for tool in withheld)
    return (*unavailable, *(entry for entry in more if entry.tool not in known))


def _in_order(response: ThinkResponse, state: RunState) -> ThinkResponse:
    """Return the thought; one for another iteration, or whose plan cannot be carried out as it stands, has failed."""
    plan, iteration = response.outcome, state.iteration + 1
    faults = faults_of_order(plan, state.steps) if isinstance(plan, ThoughtPlan) else ()
    if response.iteration != iteration:  # the run would count on from there, and ask for the same thought again
        faults = (plan_fault(f"The thought is for iteration {response.iteration}; {iteration} was asked for."), *faults)
    if not faults:
        return response
    refusal = Refusal(reason=RefusalReason.PLAN_FAILED, message=faults[0].message, faults=faults)
    return replace(response, outcome=refusal, iteration=iteration)


def _mismatch(error: TaoError, request: ThinkRequest, thought_id: str) -> ThinkResponse:
    """Return the thought that was not made since the run's catalogue is not the planner's; it counts as one."""
    fault = Fault(code=FaultCode.CATALOGUE_MISMATCH, stage=FaultStage.PLAN, message=error.message)
    return ThinkResponse(
        outcome=Refusal(reason=RefusalReason.PLAN_FAILED, message=error.message, faults=(fault,)),
        thought_id=thought_id,
        run_id=request.run_id,
        iteration=request.iteration,
        usage=Usage(iterations=1),
    )
