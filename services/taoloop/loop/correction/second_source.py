"""Asks a second source for what a step brought, and says what holds then."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from taoloop.core.exact_json import JsonValue, dumps
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.pointers import parse
from taoloop.loop.correction.comparing import Comparison, compare
from taoloop.loop.correction.machine import Reaction
from taoloop.loop.correction.progress import second_of
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.model import PlanStep
from taoloop.plan.observing import ConfidenceLevel, ObservationResult
from taoloop.plan.schema_places import properties
from taoloop.tools.schemas import CompiledSchema

_LISTED: Final = 5
_LONGEST_VALUE: Final = 80


def second_step(step: PlanStep, tool: str, parameters: CompiledSchema) -> PlanStep:
    """Return the step that asks another tool for the same: with the same sources, as far as it takes them.

    Args:
        step: The step whose result is doubted or of no use.
        tool: The other tool.
        parameters: What it takes.
    """
    taken = set(properties(parameters.schema)) if isinstance(parameters.schema, dict) else set()
    return PlanStep(
        step_id=second_of(step.step_id),
        description=step.description,
        tool=tool,
        bindings=tuple(binding for binding in step.bindings if (parse(binding.pointer) or ("",))[0] in taken),
        expect=step.expect,
        timeout_seconds=step.timeout_seconds,
    )


def verdict(record: StepRecord, second: StepRecord | None, reaction: Reaction) -> ObservationResult:
    """Return what holds of a step after a second source was asked.

    A source that brought nothing changes nothing. A fallback's result serves. Two sources that agree on every field
    that both expose confirm each other, and the more certain result serves; two that do not are both set aside, and
    the fault names fields and values.

    Args:
        record: The step.
        second: The step that asked the other source; None when it was not asked.
        reaction: Why it was asked: FALLBACK or CROSS_CHECK.
    """
    first = record.observation or ObservationResult(step_id=record.step_id, tool=record.tool, valid=False)
    other = second.observation if second is not None else None
    if second is None or other is None or not other.valid:
        return replace(first, source_detail="the second source brought nothing")
    compared = compare(first.exposed, other.exposed) if reaction is Reaction.CROSS_CHECK else Comparison((), ())
    if compared.different:
        return _contradicted(record, first, second, compared)
    if first.valid and (not compared.same or first.confidence >= other.confidence):
        return replace(first, source_detail=_agreed(second.tool, compared)) if compared.same else first
    return preferred(record, second, _agreed(second.tool, compared) if compared.same else f"{second.tool} stands in")


def preferred(record: StepRecord, second: StepRecord, why: str) -> ObservationResult:
    """Return the second source's result as that of the step."""
    assert second.observation is not None
    return replace(second.observation, step_id=record.step_id, tool=record.tool, source_detail=why)


def _agreed(tool: str, compared: Comparison) -> str:
    return f"{tool} says the same of {', '.join(pointer or 'the whole' for pointer in compared.same[:_LISTED])}"


def _contradicted(
    record: StepRecord, first: ObservationResult, second: StepRecord, compared: Comparison
) -> ObservationResult:
    told = "; ".join(
        f"{each.pointer or 'the whole'}: {_short(each.first)} and {_short(each.second)}"
        for each in compared.different[:_LISTED]
    )
    actual: JsonValue = {
        each.pointer: {record.tool: each.first, second.tool: each.second} for each in compared.different
    }
    fault = Fault(
        code=FaultCode.SOURCES_DISAGREE,
        stage=FaultStage.LOOP,
        message=f"{record.tool} and {second.tool} disagree on {told}.",
        field=compared.different[0].pointer,
        actual=actual,
        suggestion=FaultCode.SOURCES_DISAGREE.remedy,
    )
    return replace(
        first, valid=False, confidence=0.0, confidence_level=ConfidenceLevel.LOW, fault=fault, execution_permitted=False
    )


def _short(value: JsonValue) -> str:
    text = dumps(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
