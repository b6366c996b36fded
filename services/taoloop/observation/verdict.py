"""The verdict: what the stages found, put together as one observation with its confidence and its fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault, FaultStage
from taoloop.observation.confidence import ConfidenceLevels, confidence, stage_scores
from taoloop.observation.exposing import DEFAULT_MAX_EXPOSED_BYTES, Exposer, Exposure
from taoloop.observation.soft.ports import SoftLabel
from taoloop.observation.stages.details import details
from taoloop.observation.stages.model import Flaw, Outcome, Stage
from taoloop.observation.suggestions import ASK_FOR_APPROVAL, WAIT, suggestion
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.observing import Consistency, Drift, ObservationResult, StageScore
from taoloop.tools.signature import Trust

PENDING: Final = "status_pending"
"""All that the audit trail of a result has that the tool still works on."""

_NO_EFFECT_STATUSES: Final = frozenset({ActionStatus.FAILED, ActionStatus.REJECTED, ActionStatus.APPROVAL_REQUIRED})
_CONSISTENCY: Final = Stage.CONSISTENCY.value
_NOT_SHOWN: Final = Exposure(exposed=ABSENT)


@dataclass(slots=True)
class Trail:
    """What the stages of one observation have found so far.

    Attributes:
        passed: Short ids of what passed.
        flaws: What did not.
        data: The normalised body; absent until there is one.
        soft: How many soft checks passed, a half for one that nearly did, of how many.
        consistency: Whether the result is as expected; None while nothing was.
        drift: What was never seen of the tool.
        note: How the data was chosen, for who reads the confidence; empty for nothing to say.
        label: What the tool's words surely tell of; None for nothing.
    """

    passed: list[str] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)
    data: Json = ABSENT
    soft: tuple[float, int] = (0, 0)
    consistency: Consistency | None = None
    drift: tuple[Drift, ...] = ()
    note: str = ""
    label: SoftLabel | None = None

    def add(self, outcome: Outcome) -> bool:
        """Take what a stage found, and tell whether the next one may run."""
        self.passed += outcome.passed
        if outcome.flaws:
            self.flaws += outcome.flaws
            return False
        return True

    def count_soft(self, passed: float, total: int) -> None:
        """Count soft checks."""
        self.soft = (self.soft[0] + passed, self.soft[1] + total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a result came from, and who shows what it holds.

    Attributes:
        weight: How much the source counts, 0 to 1.
        trust: Whose words the result holds.
        is_write: Whether the call may change something.
        exposer: What shows the data and the failures; None where nothing is known of the tool.
        detail: What the weight is made of, in words.
    """

    weight: float
    trust: Trust
    is_write: bool
    exposer: Exposer | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How the verdicts of a service say what they say.

    Attributes:
        levels: Where the levels of the confidence begin.
        max_exposed_bytes: Longest JSON text that is exposed.
    """

    levels: ConfidenceLevels = field(default_factory=ConfidenceLevels)
    max_exposed_bytes: int = DEFAULT_MAX_EXPOSED_BYTES


_Scores = tuple[tuple[StageScore, StageScore, StageScore], float]


def verdict(
    result: ActionResult, trail: Trail, source: Source, presentation: Presentation, projection: str = ""
) -> ObservationResult:
    """Return the observation of a result that was judged.

    The result is valid when no check that makes it invalid failed. Effects may rest on it (`execution_permitted`)
    only when it is valid and its words are trusted.

    Args:
        result: The result.
        trail: What the stages found.
        source: Where it came from.
        presentation: How verdicts are put.
        projection: The goal that the data is shown for; empty for none.
    """
    passed = tuple(trail.passed)
    flaws, hard = _hidden(trail.flaws, source.exposer) if trail.flaws else ((), ())
    is_valid = not hard
    scores = _scores if trail.flaws else _scores_without_flaw
    stages, certain = scores(passed, flaws, trail.soft, trail.consistency, trail.note, source.weight)
    fault = None if is_valid else result.fault or fault_of(hard[0])
    shown = _shown(trail.data, source.exposer, projection, presentation.max_exposed_bytes)
    return ObservationResult(
        step_id=result.step_id,
        tool=result.tool,
        valid=is_valid,
        data=trail.data,
        exposed=shown.exposed,
        confidence=certain,
        confidence_level=presentation.levels.of(certain),
        source_weight=source.weight,
        source_detail=source.detail,
        stages=stages,
        audit_trail=passed,
        failures=tuple([found.failure for found in flaws]) if flaws else (),
        consistency=trail.consistency,
        omitted=shown.omitted,
        omitted_count=shown.omitted_count,
        redacted=shown.redacted,
        exposed_is_cut=shown.is_cut,
        fault=fault,
        suggested_next="" if fault is None else _hint(result, fault, source, trail.label),
        execution_permitted=is_valid and source.trust is Trust.TRUSTED,
        trust=source.trust,
        drift=_masked(trail.drift, source.exposer) if trail.drift else (),
    )


def _hidden(flaws: Sequence[Flaw], exposer: Exposer | None) -> tuple[tuple[Flaw, ...], tuple[Flaw, ...]]:
    """Return the flaws as they may be shown, and of them those that make the result invalid."""
    shown = tuple(flaws) if exposer is None else exposer.hide(flaws)
    return shown, tuple(found for found in shown if found.failure.hard)


def _scores(  # all that enters the scores, which is the key by which they are remembered
    passed: tuple[str, ...],
    flaws: tuple[Flaw, ...],
    soft: tuple[float, int],
    consistency: Consistency | None,
    note: str,
    weight: float,
) -> _Scores:
    """Return the three stages with what they are made of, and the confidence."""
    stages = stage_scores(
        hard=not any(found.failure.hard and found.failure.stage != _CONSISTENCY for found in flaws),
        soft=soft,
        is_consistent=None if consistency is None else consistency is Consistency.OK,
        details=details(passed, flaws, soft, note),
    )
    return stages, confidence(stages, weight)


_scores_without_flaw: Final = lru_cache(maxsize=1024)(_scores)
"""Most results have no flaw, and then what passed is one of few lists: each is scored once."""


def _shown(data: Json, exposer: Exposer | None, projection: str, max_bytes: int) -> Exposure:
    if data is ABSENT or exposer is None:
        return _NOT_SHOWN
    return exposer.expose(data, projection, max_bytes=max_bytes)


def pending(result: ActionResult, trust: Trust) -> ObservationResult:
    """Return the observation of a result that is not there yet: nothing was judged and nothing failed."""
    return ObservationResult(
        step_id=result.step_id,
        tool=result.tool,
        valid=False,
        stages=stage_scores(hard=None, soft=(0, 0), is_consistent=None),
        audit_trail=(PENDING,),
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


def _hint(result: ActionResult, fault: Fault, source: Source, label: SoftLabel | None) -> str:
    if result.status is ActionStatus.APPROVAL_REQUIRED:
        return ASK_FOR_APPROVAL
    may_have_effect = source.is_write and result.status not in _NO_EFFECT_STATUSES
    return suggestion(fault.code, may_have_effect=may_have_effect, label=label)


def _masked(drift: tuple[Drift, ...], exposer: Exposer | None) -> tuple[Drift, ...]:
    """Return the drift with what the contract redacts taken out of its values."""
    if exposer is None:
        return drift
    return tuple(replace(each, value=exposer.redactor.excerpt(each.value, each.pointer)) for each in drift)
