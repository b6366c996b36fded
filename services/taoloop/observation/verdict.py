"""The verdict: what the stages found, put together as one observation with its confidence and its fault."""

from __future__ import annotations

from dataclasses import dataclass, field

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault, FaultStage
from taoloop.observation.confidence import confidence, stage_scores
from taoloop.observation.exposure import ExposedTree, Exposure, expose
from taoloop.observation.stages.model import Flaw, Outcome
from taoloop.observation.suggestions import ASK_FOR_APPROVAL, WAIT, suggestion
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.observing import Consistency, ObservationResult
from taoloop.tools.signature import Trust

_NO_EFFECT_STATUSES = frozenset({ActionStatus.FAILED, ActionStatus.REJECTED, ActionStatus.APPROVAL_REQUIRED})


@dataclass(slots=True)
class Trail:
    """What the stages of one observation have found so far.

    Attributes:
        passed: Short ids of what passed.
        flaws: What did not.
        data: The normalised body; absent until there is one.
        soft: How many soft checks passed, of how many.
        consistency: Whether the result is as expected; None while nothing was.
    """

    passed: list[str] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)
    data: Json = ABSENT
    soft: tuple[int, int] = (0, 0)
    consistency: Consistency | None = None

    def add(self, outcome: Outcome) -> bool:
        """Take what a stage found, and tell whether the next one may run."""
        self.passed.extend(outcome.passed)
        self.flaws.extend(outcome.flaws)
        return not outcome.flaws


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the judged result came from.

    Attributes:
        weight: How much the source counts, 0 to 1.
        trust: Whose words the result holds.
        is_write: Whether the call may change something.
        exposed: What prompts may see; None shows everything.
    """

    weight: float
    trust: Trust
    is_write: bool
    exposed: ExposedTree | None = None


def verdict(result: ActionResult, trail: Trail, source: Source) -> ObservationResult:
    """Return the observation of a result that was judged.

    The result is valid when no check that makes it invalid failed. Effects may rest on it (`execution_permitted`)
    only when it is valid and its words are trusted.
    """
    hard = [found for found in trail.flaws if found.failure.hard]
    is_valid = not hard
    stages = stage_scores(
        hard=not any(found.failure.stage != "consistency" for found in hard),
        soft=trail.soft,
        is_consistent=None if trail.consistency is None else trail.consistency is Consistency.OK,
    )
    fault = None if is_valid else result.fault or fault_of(hard[0])
    shown = Exposure(ABSENT) if trail.data is ABSENT else expose(trail.data, source.exposed)
    return ObservationResult(
        step_id=result.step_id,
        tool=result.tool,
        valid=is_valid,
        data=trail.data,
        exposed=shown.exposed,
        confidence=confidence(stages, source.weight),
        stages=stages,
        audit_trail=tuple(trail.passed),
        failures=tuple(found.failure for found in trail.flaws),
        consistency=trail.consistency,
        omitted=shown.omitted,
        fault=fault,
        suggested_next="" if fault is None else _hint(result, fault, source),
        execution_permitted=is_valid and source.trust is Trust.TRUSTED,
        trust=source.trust,
    )


def pending(result: ActionResult, trust: Trust) -> ObservationResult:
    """Return the observation of a result that is not there yet: nothing was judged and nothing failed."""
    return ObservationResult(
        step_id=result.step_id,
        tool=result.tool,
        valid=False,
        stages=stage_scores(hard=None, soft=(0, 0), is_consistent=None),
        audit_trail=("status_pending",),
        suggested_next=WAIT,
        trust=trust,
    )


def fault_of(found: Flaw) -> Fault:
    """Return the fault that the next thought reads for this failure."""
    failure = found.failure
    return Fault(
        code=found.code.value,
        stage=FaultStage.OBSERVATION.value,
        message=failure.message,
        field=failure.pointer,
        expected=failure.expected,
        actual=failure.actual,
        suggestion=found.code.remedy,
        candidates=found.candidates,
    )


def _hint(result: ActionResult, fault: Fault, source: Source) -> str:
    if result.status is ActionStatus.APPROVAL_REQUIRED:
        return ASK_FOR_APPROVAL
    may_have_effect = source.is_write and result.status not in _NO_EFFECT_STATUSES
    return suggestion(fault.code, may_have_effect=may_have_effect)
