"""What is known of one step of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus, Provenance
from taoloop.plan.flow.fan_out import planned_step_id
from taoloop.plan.model import PlanStep
from taoloop.plan.observing import ConfidenceLevel, ObservationResult
from taoloop.plan.running import ApprovalOutcome, ApprovalRequired, StepStarted
from taoloop.plan.thinking import CompletedStep
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
    attempt: int = 0
    """How often the step was started."""
    earlier_calls: int = 0
    """How often its tool was called before a correction let the step run once more."""
    is_reopened: bool = False
    """Whether a correction lets the step run once more, which it has not begun to."""
    same_as: str = ""
    """The step that made the same call, whose result serves this one; empty when the step calls by itself."""
    job_handle: Json = ABSENT
    """Handle of the job that the step waits for, until it is over."""
    gatherings: int = 0
    """How often the results of the step's items were put together, for one that runs once per item."""
    gathering: int = 0
    """For an item: how often that had happened when it was last begun or skipped."""
    missing: Fault | None = None
    """Why the result, which serves all the same, lacks some of the step's items; its `actual` names them."""

    approval: ApprovalRequired | None = None
    """What the step waits for, until it is decided."""
    leave: ApprovalOutcome | None = None
    """What was decided about it, until the step runs again."""
    is_settled: bool = False
    """Whether a person has spoken since the step failed, so that nothing more is tried against its failure."""
    is_forgotten: bool = False
    """Whether what was in the step's way is gone, so that no later thought is told of it."""

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
    def is_item(self) -> bool:
        """Whether the step is one item of a planned step."""
        return bool(planned_step_id(self.step_id))

    @property
    def is_left_out(self) -> bool:
        """Whether the step did not run for a condition that was false, which is no failure."""
        return self.skipped is not None and self.skipped.code == FaultCode.CONDITION_NOT_MET

    @property
    def has_called(self) -> bool:
        """Whether the step's own call was made; one that another step's result served made none."""
        is_over = self.action is not None and self.action.status is not ActionStatus.APPROVAL_REQUIRED
        return is_over and not self.same_as

    @property
    def is_in_flight(self) -> bool:
        """Whether the step was begun, and nothing is known of what became of its call."""
        has_begun = self.attempt > 0 and not self.is_reopened
        return has_begun and not self.is_done and not self.is_waiting and self.action is None

    @property
    def has_result(self) -> bool:
        """Whether the call is over and its result waits to be judged."""
        return not self.is_done and self.action is not None and self.action.status not in _GOES_ON

    @property
    def has_succeeded(self) -> bool:
        """Whether the step's result may be used."""
        return self.observation is not None and self.observation.valid

    @property
    def trust(self) -> Trust:
        """Whose words the result holds: what untrusted words asked for is untrusted as well."""
        is_trusted = self.observation is not None and self.observation.trust is Trust.TRUSTED
        return Trust.TRUSTED if is_trusted and not _feeds_untrusted(self.provenance) else Trust.UNTRUSTED

    @property
    def is_doubtful(self) -> bool:
        """Whether the step's result may be used, and hardly be trusted."""
        return self.observation is not None and self.observation.confidence_level is ConfidenceLevel.LOW

    @property
    def fault(self) -> Fault | None:
        """Why the step failed, when it did."""
        if self.skipped is not None:
            return None if self.is_left_out else self.skipped
        if self.observation is not None and not self.observation.valid:
            return self.observation.fault or (self.action.fault if self.action is not None else None)
        return None

    def completed(self) -> CompletedStep:
        """Return what the next thought may know of the step."""
        observation = self.observation
        if observation is None:
            return CompletedStep(step_id=self.step_id, tool=self.tool, arguments=self.arguments, fault=self.fault)
        return CompletedStep(
            step_id=self.step_id,
            tool=self.tool,
            arguments=self.arguments,
            exposed=observation.exposed,
            confidence=observation.confidence,
            trust=self.trust,
            fault=self.fault,
            is_gathered=self.gatherings > 0,
        )

    def begin(self, started: StepStarted, gatherings: int) -> None:
        """Take note that the step was started, or started once more after a correction or on another host.

        Args:
            started: The event.
            gatherings: For an item, how often its step's results were put together before.
        """
        self.earlier_calls += 1 if self.has_called else 0  # an item that failed, and runs again with its step
        self.arguments, self.provenance, self.same_as = started.arguments, started.provenance, started.same_as
        self.attempt, self.gathering = self.attempt + 1, gatherings
        self.action = self.observation = self.skipped = None
        self.job_handle, self.is_reopened = ABSENT, False

    def reopen(self) -> None:
        """Take note that a correction lets the step run once more, as if it had not run."""
        self.earlier_calls += 1 if self.action is not None and not self.same_as else 0
        self.action = self.observation = self.skipped = self.leave = self.missing = None
        self.is_reopened = True


def brings_untrusted_words(action: ActionResult) -> bool:
    """Tell whether an untrusted tool has said something; a failure or a part of an answer counts as well."""
    has_words = action.served_by is not None or action.body is not None or any(each.code for each in action.attempts)
    return has_words and action.trust is Trust.UNTRUSTED


MAY_HAVE_ACTED: Final = frozenset({ActionStatus.SUCCEEDED, ActionStatus.PENDING, ActionStatus.OUTCOME_UNKNOWN})
"""What came of a call that, where it writes, may have changed something."""

_GOES_ON: Final = frozenset({ActionStatus.PENDING, ActionStatus.APPROVAL_REQUIRED})


def _feeds_untrusted(provenance: tuple[Provenance, ...]) -> bool:
    return any(source.trust is Trust.UNTRUSTED for source in provenance)
