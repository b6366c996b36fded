"""Checks the answer to a run's question against what was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from taoloop.core.errors import FieldViolation, InvalidRequest, NotWaiting
from taoloop.core.exact_json import Absent, Json, JsonValue, equal
from taoloop.core.pointers import assign, join
from taoloop.loop.state import RunState
from taoloop.plan.running import InputRequired, ProvideInputRequest
from taoloop.plan.task import InputField, ProvidedInput
from taoloop.tools.schemas import CompiledSchema
from taoloop.values.cleaning.requests import clean_request


def find_repeat(state: RunState, request: ProvideInputRequest) -> int | None:
    """Return the number of the event that holds this answer when it was taken before, None when it is a new one."""
    wanted = request.input
    given = [known for known in state.inputs if wanted is not None and known.input_id == wanted.input_id]
    if wanted is None or not given:
        return None
    cleaned = ProvidedInput(input_id=wanted.input_id, values=_cleaned(wanted.values))
    return state.waits.said_at.get(wanted.input_id) if _same(given[-1], cleaned) else None


def accept_input(state: RunState, request: ProvideInputRequest) -> ProvidedInput:
    """Return the answer with its values placed where the tool's arguments have them, without marks that nobody sees.

    Raises:
        NotWaiting: The run waits for no answer, or for the answer to another question.
        InvalidRequest: A value is missing, unknown or does not fit; one violation each.
    """
    given, question = request.input, state.question
    if given is None:
        raise InvalidRequest("The request has no input.", violations=[FieldViolation("input", "is missing")])
    if question is None or question.input_id != given.input_id:
        waits = f"waits for {question.input_id}" if question is not None else "waits for no input"
        raise NotWaiting(
            f"Run {state.run_id} {waits}, not for {given.input_id}.",
            metadata={"run_id": state.run_id, "input_id": given.input_id},
        )
    values, violations = _place(_cleaned(given.values), question)
    if violations:
        what = "; ".join(f"{violation.field} {violation.description}" for violation in violations)
        raise InvalidRequest(f"The input does not fit: {what}.", violations=violations)
    return ProvidedInput(input_id=given.input_id, values=values)


def _cleaned(values: Json) -> Json:
    return values if isinstance(values, Absent) else _clean(values)


def _clean(value: JsonValue) -> JsonValue:
    """Return the value with each of its texts as a turn would be stored."""
    if isinstance(value, str):
        return clean_request(value).text
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return value


def _place(values: object, question: InputRequired) -> tuple[JsonValue, list[FieldViolation]]:
    if not isinstance(values, dict):
        return None, [FieldViolation("input.values_json", "must be a JSON object")]
    fields = {key: field for field in question.fields for key in _keys(field)}
    unknown = [
        FieldViolation(f"input.values_json/{key}", f"was not asked for; asked for: {_asked(question)}")
        for key in values
        if key not in fields
    ]
    placed: JsonValue = {}
    missing: list[FieldViolation] = []
    for field in question.fields:
        key = next((key for key in _keys(field) if key in values), None)
        if key is None:
            missing.append(FieldViolation(f"input.values_json{field.pointer}", "is missing"))
        else:
            missing.extend(_misfits(field, values[key]))
            placed = assign(placed, field.pointer, values[key])
    return placed, unknown + missing


def _keys(field: InputField) -> tuple[str, str]:
    """Return the two names of a field: its pointer, and the pointer's last part."""
    return field.pointer, field.pointer.rsplit("/", 1)[-1]


def _misfits(field: InputField, value: JsonValue) -> Iterator[FieldViolation]:
    if isinstance(field.schema, dict):
        for violation in CompiledSchema.compile(field.schema).violations(value):
            yield FieldViolation(f"input.values_json{field.pointer}{violation.pointer}", violation.message)


def _asked(question: InputRequired) -> str:
    return ", ".join(field.pointer for field in question.fields)


def _same(known: ProvidedInput, wanted: ProvidedInput) -> bool:
    """Return whether two answers hold the same values, however their keys are written."""
    return equal(_named(known.values), _named(wanted.values))


def _named(values: object, prefix: str = "") -> JsonValue:
    if not isinstance(values, dict):
        return {}
    flat: dict[str, JsonValue] = {}
    for key, value in values.items():
        pointer = key if key.startswith("/") else prefix + join(key)
        if isinstance(value, dict) and value:
            inner = _named(value, pointer)
            flat.update(inner if isinstance(inner, dict) else {})
        else:
            flat[pointer] = value
    return flat
