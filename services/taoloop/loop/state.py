"""Where a run stands: the fold of its events, the same on every host that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import singledispatchmethod

from taoloop.core.exact_json import Json
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, Provenance
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import ConfidenceLevel, ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    ApprovalOutcome,
    ApprovalRequired,
    InputRequired,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    RunSummary,
    StepSkipped,
    StepStarted,
    ThoughtMade,
)
from taoloop.plan.task import Outcome, ProvidedInput, Task, Usage
from taoloop.plan.thinking import Answer, CompletedStep, ThinkResponse
from taoloop.tools.signature import Trust


@dataclass(slots=True)
class StepRecord:
    """What is known of one step; later events fill more of it."""

    step_id: str
    tool: str
    step: PlanStep | None = None
    arguments: Json = None
    provenance: tuple[Provenance, ...] = ()
    action: ActionResult | None = None
    observation: ObservationResult | None = None
    skipped: Fault | None = None

    approval: ApprovalRequired | None = None
    """What the step waits for, until it is decided."""
    leave: ApprovalOutcome | None = None
    """What was decided about it, until the step runs again."""

    @property
    def is_waiting(self) -> bool:
        """Whether the step waits for a person's decision."""
        return self.approval is not None

    @property
    def is_done(self) -> bool:
        """Whether nothing more will happen to the step."""
        return self.skipped is not None or self.observation is not None

    @property
    def is_open(self) -> bool:
        """Whether the step waits for a person, or was left alone because another one does."""
        return not self.is_done and (self.is_waiting or self.action is None)

    @property
    def has_succeeded(self) -> bool:
        """Whether the step's result may be used."""
        return self.observation is not None and self.observation.valid

    @property
    def fault(self) -> Fault | None:
        """Why the step failed, when it did."""
        if self.skipped is not None:
            return self.skipped
        if self.observation is not None and not self.observation.valid:
            return self.observation.fault or (self.action.fault if self.action is not None else None)
        return None


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
    thought: ThinkResponse | None = None
    steps: dict[str, StepRecord] = field(default_factory=dict)
    inputs: tuple[ProvidedInput, ...] = ()
    question: InputRequired | None = None
    decisions: tuple[ApprovalOutcome, ...] = ()
    answer: Answer | None = None
    finished: RunFinished | None = None
    usage: Usage = field(default_factory=Usage)
    result_bytes: int = 0
    active_seconds: float = 0.0
    _active_since: datetime | None = None

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
    def waits_for_leave(self) -> bool:
        """Whether the run rests until a person decides."""
        return self.finished is not None and self.finished.outcome is Outcome.NEEDS_APPROVAL

    @property
    def is_tainted(self) -> bool:
        """Whether other people's text has entered the run."""
        return any(
            record.action is not None and record.action.trust is Trust.UNTRUSTED and record.action.served_by is not None
            for record in self.steps.values()
        )

    @property
    def doubtful_steps(self) -> tuple[str, ...]:
        """Return the steps with a valid result when the confidence of every such result is low; else none."""
        results = [record.observation for record in self.steps.values() if record.is_done]
        doubtful = [each for each in results if each is None or each.confidence_level is ConfidenceLevel.LOW]
        return tuple(each.step_id for each in doubtful if each is not None) if len(doubtful) == len(results) else ()

    @property
    def calls_per_tool(self) -> Mapping[str, int]:
        """Return how often each tool was called."""
        counts: dict[str, int] = {}
        for record in self.steps.values():
            if record.action is not None and record.action.status is not ActionStatus.APPROVAL_REQUIRED:
                counts[record.tool] = counts.get(record.tool, 0) + 1
        return counts

    @property
    def open_approvals(self) -> tuple[ApprovalRequired, ...]:
        """Return the approvals that the run waits for, in the order of their steps."""
        return tuple(record.approval for record in self.steps.values() if record.approval is not None)

    @property
    def unfinished_plan(self) -> ThoughtPlan | None:
        """Return the plan that goes on before anything is thought again: one of its steps had to wait for leave."""
        if self.plan is None or not any(self._is_decided(step) for step in self.plan.steps):
            return None
        return self.plan

    def completed(self) -> tuple[CompletedStep, ...]:
        """Return what the next thought may know of the steps so far."""
        return tuple(_completed(record) for record in self.steps.values() if record.is_done)

    def seconds_used(self, now: datetime) -> float:
        """Return how long the run has worked, without the time it waited for people."""
        running = (now - self._active_since).total_seconds() if self._active_since is not None else 0.0
        return self.active_seconds + max(0.0, running)

    def summary(self) -> RunSummary:
        """Return the run as `GetRun` shows it."""
        finished = self.finished
        return RunSummary(
            run_id=self.run_id,
            request_id=self.task.request_id,
            outcome=finished.outcome if finished is not None else None,
            started_at=self.started_at,
            updated_at=self.updated_at,
            last_sequence=self.last_sequence,
            answer=self.answer,
            input_required=self.question if finished is not None else None,
            approvals_required=self.open_approvals if self.waits_for_leave else (),
            fault=finished.fault if finished is not None else None,
            usage=self.usage,
        )

    def apply(self, event: RunEvent) -> None:
        """Take one event in. An event that was applied before changes nothing."""
        if event.sequence <= self.last_sequence:
            return
        self.last_sequence, self.host_epoch, self.updated_at = event.sequence, event.host_epoch, event.time
        self._take(event.body, event.time)

    @singledispatchmethod
    def _take(self, _body: object, _at: datetime) -> None:
        """Take no notice: corrections, waits and limits are told to the reader and decide nothing."""

    @_take.register
    def _start(self, started: RunStarted, at: datetime) -> None:
        self.task = started.task or Task()
        self.catalogue_digest = started.catalogue_digest
        self.traceparent = started.traceparent
        self.started_at = self._active_since = at

    @_take.register
    def _think(self, thought: ThoughtMade, _at: datetime) -> None:
        response = thought.response
        if response is None:
            return
        self.iteration, self.thought_id, self.thought = response.iteration, response.thought_id, response
        self.plan = response.outcome if isinstance(response.outcome, ThoughtPlan) else None
        spent = response.usage or Usage()
        self.usage = replace(self.usage.plus(spent), iterations=self.usage.iterations + 1)
        for step in self.plan.steps if self.plan is not None else ():
            self._record(step.step_id, step.tool).step = step

    @_take.register
    def _start_step(self, step: StepStarted, _at: datetime) -> None:
        record = self._record(step.step_id, step.tool)
        record.arguments, record.provenance = step.arguments, step.provenance

    @_take.register
    def _skip_step(self, skipped: StepSkipped, _at: datetime) -> None:
        unnamed = Fault(code=FaultCode.UPSTREAM_STEP_FAILED, stage=FaultStage.LOOP, message="The step was skipped.")
        self._record(skipped.step_id, skipped.tool).skipped = skipped.fault or unnamed

    @_take.register
    def _act(self, action: ActionReturned, _at: datetime) -> None:
        result = action.result
        if result is None:
            return
        record = self._record(result.step_id, result.tool)
        record.action, record.leave = result, None
        if result.status is ActionStatus.APPROVAL_REQUIRED:
            return  # nothing was called
        self.usage = replace(self.usage, tool_calls=self.usage.tool_calls + 1)
        self.result_bytes += result.body.size_bytes if result.body is not None else 0

    @_take.register
    def _observe(self, observed: ResultObserved, _at: datetime) -> None:
        if observed.result is not None:
            self._record(observed.result.step_id, observed.result.tool).observation = observed.result

    @_take.register
    def _wait(self, approval: ApprovalRequired, _at: datetime) -> None:
        self._record(approval.step_id, approval.tool).approval = approval

    @_take.register
    def _ask(self, question: InputRequired, _at: datetime) -> None:
        self.question = question

    @_take.register
    def _answer(self, answer: Answer, _at: datetime) -> None:
        self.answer = answer

    @_take.register
    def _resume(self, resumed: RunResumed, at: datetime) -> None:
        if resumed.input is not None:
            self.inputs = (*self.inputs, resumed.input)
        if resumed.approval is not None:
            self._decide(resumed.approval)
        self.question = self.finished = None
        self._active_since = at

    @_take.register
    def _finish(self, finished: RunFinished, at: datetime) -> None:
        self.finished = finished
        self.active_seconds = self.seconds_used(at)
        self._active_since = None
        if finished.outcome is not Outcome.NEEDS_INPUT:
            self.question = None

    def _is_decided(self, step: PlanStep) -> bool:
        record = self.steps.get(step.step_id)
        return record is not None and record.leave is not None and not record.is_done

    def _decide(self, outcome: ApprovalOutcome) -> None:
        self.decisions = (*self.decisions, outcome)
        for record in self.steps.values():
            if record.approval is not None and record.approval.approval_id == outcome.approval_id:
                record.approval, record.leave = None, outcome

    def _record(self, step_id: str, tool: str) -> StepRecord:
        return self.steps.setdefault(step_id, StepRecord(step_id, tool))


def _completed(record: StepRecord) -> CompletedStep:
    observation = record.observation
    if observation is None:
        return CompletedStep(step_id=record.step_id, tool=record.tool, arguments=record.arguments, fault=record.fault)
    return CompletedStep(
        step_id=record.step_id,
        tool=record.tool,
        arguments=record.arguments,
        exposed=observation.exposed,
        confidence=observation.confidence,
        trust=observation.trust,
        fault=record.fault,
    )
