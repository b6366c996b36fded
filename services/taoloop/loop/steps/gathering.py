"""Puts the results of a step's items together to the result of the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.correction.classes import FaultClass, class_of
from taoloop.loop.steps.step_record import MAY_HAVE_ACTED, StepRecord
from taoloop.plan.flow.fan_out import item_step_id
from taoloop.plan.observing import ConfidenceLevel, ObservationResult
from taoloop.plan.running import ItemsGathered
from taoloop.tools.signature import Trust

# Of several failures the one that only a person may go on after is the step's.
_GRAVEST: Final = (FaultCode.OUTCOME_UNKNOWN, FaultCode.REPEATED_WRITE, FaultCode.DECISION_BY_PERSON_NEEDED)
_NO_OTHER_WAY: Final = frozenset({FaultClass.PERSON_NEEDED, FaultClass.NOT_PERMITTED})
_LEVELS: Final = (ConfidenceLevel.LOW, ConfidenceLevel.MEDIUM, ConfidenceLevel.HIGH)
_MAX_NAMED: Final = 5


def gather(record: StepRecord, steps: Mapping[str, StepRecord], gathered: ItemsGathered) -> None:
    """Give a step that ran once per item its result: the list of the items' results.

    It is as trusted, and as sure, as the least of them. Where items failed the step failed, unless it is optional and
    some succeeded: then its result is the list of those, and `missing` says what it lacks. A failure that only a person
    may go on after is never passed over, nor is one that may have changed something.

    Args:
        record: The step.
        steps: The run's steps by id, the items among them.
        gathered: How many items there are, and which failed.
    """
    ids = [item_step_id(record.step_id, index) for index in range(gathered.items)]
    items = [steps[step_id] for step_id in ids if step_id in steps]
    brought = [item for item in items if item.has_succeeded]
    failed = [item for item in items if not item.has_succeeded]
    is_optional = record.step is not None and record.step.optional
    is_valid = not gathered.failed or (is_optional and bool(brought) and not any(map(_is_grave, failed)))
    record.gatherings += 1
    record.skipped = None
    fault = _fault(failed, gathered) if gathered.failed else None
    record.missing = fault if is_valid else None
    record.arguments = [_value(item.arguments) for item in brought]
    record.provenance = tuple(source for item in brought for source in item.provenance)
    record.observation = ObservationResult(
        step_id=record.step_id,
        tool=record.tool,
        valid=is_valid,
        data=[_value(item.observation.data) for item in brought if item.observation is not None],
        exposed=[_value(item.observation.exposed) for item in brought if item.observation is not None],
        confidence=_confidence(brought) if is_valid else 0.0,
        confidence_level=_level(brought) if is_valid else ConfidenceLevel.LOW,
        trust=Trust.UNTRUSTED if any(item.trust is Trust.UNTRUSTED for item in brought) else Trust.TRUSTED,
        fault=None if is_valid else fault,
    )


def _is_grave(item: StepRecord) -> bool:
    """Tell whether an item that failed may have changed something, or is for a person."""
    has_acted = item.action is not None and bool(item.action.effect_id) and item.action.status in MAY_HAVE_ACTED
    return has_acted or (item.fault is not None and item.fault.code in _GRAVEST)


def _fault(failed: Sequence[StepRecord], gathered: ItemsGathered) -> Fault:
    """Return the fault of a step some of whose items failed: that of its gravest item, naming them all."""
    faults = [item.fault for item in failed if item.fault is not None]
    cause = min(faults, key=_rank, default=None)
    named = ", ".join(f"{item.step_id} {item.fault.code}" for item in failed[:_MAX_NAMED] if item.fault is not None)
    more = f" and {len(gathered.failed) - _MAX_NAMED} more" if len(gathered.failed) > _MAX_NAMED else ""
    return Fault(
        code=cause.code if cause is not None else FaultCode.UPSTREAM_STEP_FAILED,
        stage=cause.stage if cause is not None else FaultStage.LOOP,
        message=f"{len(gathered.failed)} of {gathered.items} items failed: {named}{more}."
        + (f" {cause.message}" if cause is not None else ""),
        field=cause.field if cause is not None else "",
        actual=[*gathered.failed],
        retriable=bool(faults) and all(fault.retriable for fault in faults),
        retry_after_seconds=max((fault.retry_after_seconds or 0.0 for fault in faults), default=0.0) or None,
        suggestion=cause.suggestion if cause is not None else "",
    )


def _rank(fault: Fault) -> int:
    """Return 0 for the gravest faults, 1 for those that allow no other way, so that none is tried for the others."""
    if fault.code in _GRAVEST:
        return 0
    return 1 if class_of(fault.code) in _NO_OTHER_WAY else 2


def _confidence(brought: Sequence[StepRecord]) -> float:
    return min((item.observation.confidence for item in brought if item.observation is not None), default=1.0)


def _level(brought: Sequence[StepRecord]) -> ConfidenceLevel:
    levels = [
        _LEVELS.index(item.observation.confidence_level)
        for item in brought
        if item.observation is not None and item.observation.confidence_level is not None
    ]
    return _LEVELS[min(levels, default=len(_LEVELS) - 1)]


def _value(value: Json) -> JsonValue:
    return None if value is ABSENT else value
