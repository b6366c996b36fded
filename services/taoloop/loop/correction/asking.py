"""Which of a user's values a tool could not use, and the question for another one."""

from __future__ import annotations

from typing import Final

from taoloop.core.exact_json import ABSENT, Absent, JsonValue, dumps
from taoloop.core.faults import Fault
from taoloop.core.pointers import find
from taoloop.loop.correction.fixing import Reading, reading_at, readings
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.model import InputValue, QuerySpan
from taoloop.plan.schema_places import place
from taoloop.plan.task import InputField, InputReason
from taoloop.tools.schemas import CompiledSchema
from taoloop.values.conversions import as_text

MAX_CANDIDATES: Final = 20
"""Most values that a question lists."""

_MAX_SAID: Final = 80
"""How much of a value a question repeats."""

_QUESTIONS: Final = {
    (InputReason.INVALID, False): "{tool} cannot do anything with {value} for {name}. Please give another value.",
    (InputReason.AMBIGUOUS, False): "{value} can mean several values of {name}. Which one is meant?",
    (InputReason.INVALID, True): "{tool} 无法处理 {name} 的值 {value}，请提供其他值。",
    (InputReason.AMBIGUOUS, True): "{name} 的值 {value} 有多种含义，请指明是哪一个。",
}


def value_at_fault(fault: Fault, record: StepRecord, parameters: CompiledSchema) -> str:
    """Return the pointer of the one value of the user's that a call failed for; empty when that is not known."""
    given = _given(record)
    if fault.field:
        return fault.field if fault.field in given else ""
    unknown = [found.pointer for found in _readings(record, parameters) if not found.is_right]
    if len(unknown) == 1 and unknown[0] in given:
        return unknown[0]
    return given[0] if len(given) == 1 else ""


def candidates_of(fault: Fault, record: StepRecord, parameters: CompiledSchema, pointer: str) -> tuple[str, ...]:
    """Return the values that would do at a place of the arguments, as far as they are known."""
    if fault.candidates:
        return fault.candidates[:MAX_CANDIDATES]
    found = _reading(fault, record, parameters, pointer)
    if found is not None:
        return () if found.is_right else (found.matches or found.values)[:MAX_CANDIDATES]
    node = place(_schema(parameters), pointer)
    listed = node.get("enum") if isinstance(node, dict) else None
    return tuple(as_text(value) for value in listed if value is not None)[:MAX_CANDIDATES] if listed else ()


def question(
    fault: Fault, record: StepRecord, parameters: CompiledSchema, pointer: str, called: str, *, is_chinese: bool
) -> InputField:
    """Return the question for another value.

    Args:
        fault: Why the one at hand is of no use.
        record: The step that it was for.
        parameters: The tool's parameters.
        pointer: The value's place in the arguments.
        called: What users know the tool by.
        is_chinese: Whether the user is spoken to in Chinese, else in English.
    """
    found = _reading(fault, record, parameters, pointer)
    is_ambiguous = found is not None and len(found.matches) > 1
    reason = InputReason.AMBIGUOUS if is_ambiguous else InputReason.INVALID
    node = place(_schema(parameters), pointer)
    words = _QUESTIONS[reason, is_chinese].format(
        tool=called, name=pointer.rsplit("/", 1)[-1], value=_said(record, pointer)
    )
    return InputField(
        pointer=pointer,
        tool=record.tool,
        schema=dict(node) if isinstance(node, dict) else ABSENT,
        reason=reason,
        candidates=candidates_of(fault, record, parameters, pointer),
        question=words,
    )


def _given(record: StepRecord) -> list[str]:
    """Return the places of the arguments that hold the user's own words or answers."""
    bindings = record.step.bindings if record.step is not None else ()
    return [binding.pointer for binding in bindings if isinstance(binding.source, QuerySpan | InputValue)]


def _said(record: StepRecord, pointer: str) -> str:
    bindings = record.step.bindings if record.step is not None else ()
    source = next((binding.source for binding in bindings if binding.pointer == pointer), None)
    if isinstance(source, QuerySpan):
        return f"“{source.text[:_MAX_SAID]}”"
    value = find(record.arguments, pointer)
    return "—" if isinstance(value, Absent) else dumps(value)[:_MAX_SAID]


def _readings(record: StepRecord, parameters: CompiledSchema) -> tuple[Reading, ...]:
    arguments: JsonValue = record.arguments if isinstance(record.arguments, dict) else {}
    return readings(arguments, parameters.schema)


def _reading(fault: Fault, record: StepRecord, parameters: CompiledSchema, pointer: str) -> Reading | None:
    found = next((each for each in _readings(record, parameters) if each.pointer == pointer), None)
    if found is None and not isinstance(fault.actual, Absent):
        found = reading_at(parameters.schema, pointer, fault.actual)
    return found


def _schema(parameters: CompiledSchema) -> dict[str, JsonValue]:
    return parameters.schema if isinstance(parameters.schema, dict) else {}
