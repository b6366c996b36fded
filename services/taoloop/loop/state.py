"""Where a run stands: the fold of its events, the same on every host that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import singledispatchmethod
from typing import Final

from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.correction.progress import Corrections, is_second, leaves_plan, runs_again
from taoloop.loop.people.waits import Waits, asked_again
from taoloop.loop.steps.gathering import gather
from taoloop.loop.steps.reopening import reopen, reopen_dependents
from taoloop.loop.steps.step_record import StepRecord, brings_untrusted_words
from taoloop.plan.acting import ActionStatus
from taoloop.plan.flow.fan_out import at_item, planned_step_id
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import ConfidenceLevel
from taoloop.plan.running import (
    ActionReturned,
    ApprovalExpiring,
    ApprovalOutcome,
    ApprovalRequired,
    CorrectionMade,
    HandoverDecision,
    HandoverRequired,
    InputRequired,
    ItemsGathered,
    LimitReached,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    RunSummary,
    StepSkipped,
    StepStarted,
    ThoughtMade,
    WaitingBegan,
)
from taoloop.plan.task import Outcome, ProvidedInput, Task, Usage
from taoloop.plan.thinking import Answer, CompletedStep, ThinkResponse

WAITING: Final = frozenset({Outcome.NEEDS_INPUT, Outcome.NEEDS_APPROVAL, Outcome.NEEDS_HUMAN})
"""Outcomes with which a run rests until a person acts."""


@dataclass(slots=True)
class RunState:
    """The run as its events tell it. Only `apply` changes it."""

    run_id: str
    task: Task = field(default_factory=Task)
    catalogue_digest: str = ""
    traceparent: str = ""
    started_at: datetime | None = None
    updated_at: datetime | None = None
    last_sequence: int = 0
    host_epoch: int = 0
    iteration: int = 0
    thought_id: str = ""
    plan: ThoughtPlan | None = None
    plan_is_left: bool = False
    """Whether the plan is not carried out any further: a thought, or a person, comes next."""
    corrections: Corrections = field(default_factory=Corrections)
    limits_reached: tuple[str, ...] = ()
    """The limits that were reached since a person, or nobody yet, has let the run go on; each once."""
    tainting_steps: tuple[str, ...] = ()
    """The steps that brought other people's text into the run, in order; nothing takes one away again."""
    plan_is_tainted: bool = False
    """Whether other people's text had entered the run before its latest thought, so that it may have shaped it."""
    plan_tainted_by: tuple[str, ...] = ()
    """The steps that had brought it."""
    thought: ThinkResponse | None = None
    steps: dict[str, StepRecord] = field(default_factory=dict)
    inputs: tuple[ProvidedInput, ...] = ()
    question: InputRequired | None = None
    decisions: tuple[ApprovalOutcome, ...] = ()
    answer: Answer | None = None
    finished: RunFinished | None = None
    usage: Usage = field(default_factory=Usage)
    result_bytes: int = 0
    waits: Waits = field(default_factory=Waits)
    active_seconds: float = 0.0
    _round_began: tuple[int, float] = (0, 0.0)
    """Thoughts and seconds that were used when a person last gave values, or let a run go on after a handover."""
    fruitless_take_overs: int = 0
    """How often the run was taken over since it last gained something."""
    caller_waits_until: datetime | None = None
    """Until when the run's caller waits; None once nobody waits, since the run was submitted or has rested."""
    _active_since: datetime | None = None
    _latest_before: datetime | None = None
    """When the event before the latest one was written."""

    @classmethod
    def from_events(cls, run_id: str, events: Iterable[RunEvent]) -> RunState:
        """Fold a run's events, oldest first."""
        state = cls(run_id)
        for event in events:
            state.apply(event)
        return state

    @property
    def is_at_rest(self) -> bool:
        """Whether nobody works on the run: it ended, or it waits for a person."""
        return self.finished is not None

    @property
    def has_ended(self) -> bool:
        """Whether the run is over: nobody can let it go on."""
        return self.finished is not None and self.finished.outcome not in WAITING

    @property
    def waits_for(self) -> Outcome | None:
        """What the run rests for until people have spoken; None when nothing is asked of anybody."""
        if self.waits.open_handovers:
            return Outcome.NEEDS_HUMAN
        if self.question is not None:
            return Outcome.NEEDS_INPUT
        return Outcome.NEEDS_APPROVAL if self.open_approvals else None

    @property
    def usage_of_round(self) -> Usage:
        """Return what was used, with the thoughts counted since a round began."""
        return replace(self.usage, iterations=self.usage.iterations - self._round_began[0])

    @property
    def is_tainted(self) -> bool:
        """Whether other people's text has entered the run."""
        return self.task.tainted_context or bool(self.tainting_steps)

    @property
    def doubtful_steps(self) -> tuple[str, ...]:
        """Return the steps with a valid result when the confidence of every such result is low; else none."""
        told = [each for each in self.steps.values() if not each.is_forgotten and not is_second(each.step_id)]
        results = [each.observation for each in told if each.is_done]
        doubtful = [each for each in results if each is None or each.confidence_level is ConfidenceLevel.LOW]
        return tuple(each.step_id for each in doubtful if each is not None) if len(doubtful) == len(results) else ()

    @property
    def calls_per_tool(self) -> Mapping[str, int]:
        """Return how often each tool was called."""
        counts: dict[str, int] = {}
        for record in self.steps.values():
            if record.has_called:
                counts[record.tool] = counts.get(record.tool, 0) + 1
            if record.earlier_calls:
                counts[record.tool] = counts.get(record.tool, 0) + record.earlier_calls
        return counts

    @property
    def open_approvals(self) -> tuple[ApprovalRequired, ...]:
        """Return the approvals that the run waits for, in the order of their steps."""
        return tuple(record.approval for record in self.steps.values() if record.approval is not None)

    @property
    def unfinished_plan(self) -> ThoughtPlan | None:
        """Return the plan that goes on before anything is thought again.

        A plan is unfinished until it is answered, or a correction or a person leaves it for another thought; a step
        of it for which leave was given is made all the same.
        """
        if self.plan is None or (self.plan_is_left and not any(map(self._is_decided, self.plan.steps))):
            return None
        return self.plan

    @property
    def unfollowed_thought(self) -> ThinkResponse | None:
        """Return the latest thought if it is no plan and nothing came of it yet, also because its host fell silent."""
        return None if self.plan is not None or self.plan_is_left else self.thought

    def completed(self) -> tuple[CompletedStep, ...]:
        """Return what the next thought may know of the steps so far."""
        told = (each for each in self.steps.values() if each.is_done and not each.is_forgotten)
        return tuple(each.completed() for each in told if not each.is_item and not each.is_left_out)

    def seconds_used(self, now: datetime) -> float:
        """Return how long the run has worked, without the time it waited for people."""
        running = (now - self._active_since).total_seconds() if self._active_since is not None else 0.0
        return self.active_seconds + max(0.0, running)

    def seconds_of_round(self, now: datetime) -> float:
        """Return the same, counted since a round began."""
        return self.seconds_used(now) - self._round_began[1]

    def summary(self) -> RunSummary:
        """Return the run as `GetRun` shows it."""
        finished = self.finished
        is_waiting = finished is not None and not self.has_ended
        return RunSummary(
            run_id=self.run_id,
            request_id=self.task.request_id,
            outcome=finished.outcome if finished is not None else None,
            started_at=self.started_at,
            updated_at=self.updated_at,
            last_sequence=self.last_sequence,
            answer=self.answer,
            input_required=self.question if is_waiting else None,
            approvals_required=self.open_approvals if is_waiting else (),
            handovers_required=self.waits.open_handovers if is_waiting else (),
            fault=finished.fault if finished is not None else None,
            usage=self.usage,
        )

    def apply(self, event: RunEvent) -> None:
        """Take one event in. An event that was applied before changes nothing."""
        if event.sequence <= self.last_sequence:
            return
        self._latest_before = self.updated_at
        self.last_sequence, self.host_epoch, self.updated_at = event.sequence, event.host_epoch, event.time
        self._take(event.body, event.time)

    @singledispatchmethod
    def _take(self, _body: object, _at: datetime) -> None:
        """Take no notice: waits and limits are told to the reader and decide nothing."""

    @_take.register
    def _start(self, started: RunStarted, at: datetime) -> None:
        self.task = started.task or Task()
        self.catalogue_digest = started.catalogue_digest
        self.traceparent = started.traceparent
        self.caller_waits_until = started.deadline
        self.started_at = self._active_since = at

    @_take.register
    def _think(self, thought: ThoughtMade, _at: datetime) -> None:
        response = thought.response
        if response is None:
            return
        self.fruitless_take_overs = 0
        self.plan_is_tainted, self.plan_tainted_by = self.is_tainted, self.tainting_steps
        self.iteration, self.thought_id, self.thought = response.iteration, response.thought_id, response
        self.plan = response.outcome if isinstance(response.outcome, ThoughtPlan) else None
        self.plan_is_left = False
        self.corrections.thought()
        spent = response.usage or Usage()
        self.usage = replace(self.usage.plus(spent), iterations=self.usage.iterations + 1)
        for step in self.plan.steps if self.plan is not None else ():
            self._record(step.step_id, step.tool).step = step

    @_take.register
    def _start_step(self, step: StepStarted, _at: datetime) -> None:
        planned = self.steps.get(planned_step_id(step.step_id))
        record = self._record(step.step_id, step.tool)
        record.begin(step, planned.gatherings if planned is not None else 0)
        if planned is not None and planned.step is not None:
            record.step = at_item(planned.step, step.item)

    @_take.register
    def _skip_step(self, skipped: StepSkipped, _at: datetime) -> None:
        unnamed = Fault(code=FaultCode.UPSTREAM_STEP_FAILED, stage=FaultStage.LOOP, message="The step was skipped.")
        record, planned = self._record(skipped.step_id, skipped.tool), self.steps.get(planned_step_id(skipped.step_id))
        record.skipped, record.gathering = skipped.fault or unnamed, planned.gatherings if planned is not None else 0

    @_take.register
    def _act(self, action: ActionReturned, _at: datetime) -> None:
        result = action.result
        if result is None:
            return
        self.fruitless_take_overs = 0
        record = self._record(result.step_id, result.tool)
        record.action, record.leave, record.job_handle = result, None, ABSENT
        if brings_untrusted_words(result) and result.step_id not in self.tainting_steps:
            self.tainting_steps = (*self.tainting_steps, result.step_id)
        if result.status is ActionStatus.APPROVAL_REQUIRED or record.same_as:
            return  # nothing was called
        self.usage = replace(self.usage, tool_calls=self.usage.tool_calls + 1)
        self.result_bytes += result.body.size_bytes if result.body is not None else 0

    @_take.register
    def _observe(self, observed: ResultObserved, _at: datetime) -> None:
        if observed.result is not None:
            self._record(observed.result.step_id, observed.result.tool).observation = observed.result
            self.corrections.observed(observed.result.step_id)
            if observed.result.valid:
                reopen_dependents(self.steps, observed.result.step_id)

    @_take.register
    def _correct(self, made: CorrectionMade, _at: datetime) -> None:
        self.corrections.take(made)
        self.plan_is_left = self.plan_is_left or leaves_plan(made)
        if runs_again(made):
            reopen(self.steps, made.step_id)

    @_take.register
    def _gather(self, gathered: ItemsGathered, _at: datetime) -> None:
        gather(self._record(gathered.step_id, gathered.tool), self.steps, gathered)

    @_take.register
    def _wait_for_job(self, waiting: WaitingBegan, _at: datetime) -> None:
        if waiting.job_handle is not ABSENT:
            self._record(waiting.step_id, waiting.tool).job_handle = waiting.job_handle

    @_take.register
    def _wait(self, approval: ApprovalRequired, at: datetime) -> None:
        self._record(approval.step_id, approval.tool).approval = approval
        self.waits.asked_at[approval.approval_id] = at

    @_take.register
    def _warn(self, warning: ApprovalExpiring, _at: datetime) -> None:
        self.waits.warned.add(warning.approval_id)

    @_take.register
    def _hand_over(self, required: HandoverRequired, at: datetime) -> None:
        self.waits.hand_over(required, at)
        self.plan_is_left = True
        if required.step_id in self.steps:
            self.steps[required.step_id].is_settled = True

    @_take.register
    def _ask(self, question: InputRequired, _at: datetime) -> None:
        self.question = question

    @_take.register
    def _answer(self, answer: Answer, _at: datetime) -> None:
        self.answer = answer
        self.usage = self.usage.plus(answer.usage or Usage())

    @_take.register
    def _limit(self, reached: LimitReached, _at: datetime) -> None:
        self.limits_reached = tuple(dict.fromkeys((*self.limits_reached, reached.limit)))

    @_take.register
    def _resume(self, resumed: RunResumed, at: datetime) -> None:
        self.waits.hear(resumed, self.last_sequence)
        if resumed.input is not None:
            self.inputs = (*self.inputs, resumed.input)
            self.question = None
            self._begin_round()
        if resumed.approval is not None:
            self._decide(resumed.approval)
        if resumed.handover is not None and resumed.handover.decision is HandoverDecision.RESUMED:
            self._begin_round()
            self._begin_anew(record for record in self.steps.values() if record.is_settled or record.is_doubtful)
        self._go_on(resumed, at)

    def _go_on(self, resumed: RunResumed, at: datetime) -> None:
        """Let the run's clock go on, and forget its caller once the run has rested."""
        if resumed.reason == "take_over":
            # Time in which nobody drove the run is not the run's, and what was done after its last event is done again.
            self.active_seconds = self.seconds_used(self._latest_before or at)
            self.fruitless_take_overs += 1
        elif self.finished is None:
            self.active_seconds = self.seconds_used(at)
        else:
            self.caller_waits_until, self.limits_reached = None, ()
        if resumed.catalogue_digest:
            self.catalogue_digest = resumed.catalogue_digest
        self.finished = None
        self._active_since = at

    @_take.register
    def _finish(self, finished: RunFinished, at: datetime) -> None:
        self.finished = finished
        self.active_seconds = self.seconds_used(at)
        self._active_since = None
        if self.has_ended:
            self.question = None

    def _begin_round(self) -> None:
        """Let another thought follow on what a person said, which answers every failure so far.

        Thoughts and seconds are counted anew, and every correction is at hand again.
        """
        self._round_began = (self.usage.iterations, self.active_seconds)
        for record in self.steps.values():
            record.is_settled = record.is_settled or (record.is_done and not record.has_succeeded)
        self.plan_is_left = True
        self.corrections.begin_anew()

    def _begin_anew(self, records: Iterable[StepRecord]) -> None:
        """Let the next thought plan as if these steps had never been tried."""
        for record in records:
            record.is_settled = record.is_forgotten = True
        self.thought = None  # the same plan once more is no standstill
        self.plan_is_left = True

    def _is_decided(self, step: PlanStep) -> bool:
        own = (each for each in self.steps.values() if step.step_id in {each.step_id, planned_step_id(each.step_id)})
        return any(record.leave is not None and not record.is_done for record in own)

    def _decide(self, outcome: ApprovalOutcome) -> None:
        self.decisions = (*self.decisions, outcome)
        for record in self.steps.values():
            if record.approval is None or record.approval.approval_id != outcome.approval_id:
                continue
            record.approval, record.leave = None, outcome
            if outcome.is_asked_again:
                record.skipped = asked_again(outcome)
                self._begin_anew([record])

    def _record(self, step_id: str, tool: str) -> StepRecord:
        return self.steps.setdefault(step_id, StepRecord(step_id, tool))
