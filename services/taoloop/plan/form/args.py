"""The `args` of a step in the JSON form: literals and source objects, read into bindings and written from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.plan.form.fields import FaultList, Fields
from taoloop.plan.form.spans import quoted_span, span_text
from taoloop.plan.model import (
    Binding,
    ContractValue,
    ContractValueKind,
    Convert,
    Generated,
    InputValue,
    ItemValue,
    Literal,
    QuerySpan,
    RequestClock,
    StatePath,
    StepOutput,
    Template,
    TemplatePart,
)
from taoloop.plan.task import Turn

Source = (
    QuerySpan | StatePath | StepOutput | ContractValue | InputValue | ItemValue | RequestClock | Template | Generated
)

_CONTRACT: Final = {f"${kind.value}": kind for kind in ContractValueKind}
_NAMES: Final = (
    "$query",
    "$state",
    "$ref",
    "$item",
    "$input",
    *_CONTRACT,
    "$clock",
    "$template",
    "$generated",
    "$literal",
)
_DOTTED = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_PART_SOURCES: Final = QuerySpan | StatePath | StepOutput | InputValue | ItemValue


@dataclass(frozen=True, slots=True)
class ArgsScope:
    """What the short forms of sources are read against.

    Attributes:
        step_ids: Ids of the steps that a reference may name.
        turns: The conversation; None when the plan is read without a request.
        faults: Where faults go.
    """

    step_ids: frozenset[str]
    turns: Sequence[Turn] | None
    faults: FaultList


def read_args(value: JsonValue, place: str, scope: ArgsScope) -> tuple[Binding, ...]:
    """Read the object of arguments at `place` into one binding per leaf, in the order of the text."""
    if not isinstance(value, dict):
        scope.faults.add(place, "The arguments are not an object.")
        return ()
    if is_source(value):
        scope.faults.add(place, "The arguments as a whole cannot come from one source.")
        return ()
    return tuple(_read_members(value, place, "", scope))


def is_source(value: JsonValue) -> bool:
    """Tell whether an object is a source: one of its names starts with `$`."""
    return isinstance(value, dict) and any(name.startswith("$") for name in value)


def write_args(bindings: Iterable[Binding]) -> JsonValue:
    """Write bindings as the object of arguments; containers whose names are 0, 1, 2 … become arrays."""
    root: dict[str, JsonValue] = {}
    for binding in bindings:
        tokens = _tokens(binding.pointer)
        node = root
        for token in tokens[:-1]:
            below = node.setdefault(token, {})
            if not isinstance(below, dict) or is_source(below):
                below = node[token] = {}
            node = below
        node[tokens[-1]] = _write_binding(binding)
    return {name: _with_arrays(member) for name, member in root.items()}


def write_source(source: Source) -> dict[str, JsonValue]:
    """Write a source as its object, without conversion and expectation."""
    match source:
        case QuerySpan():
            return {"$query": {"turn": source.turn, "start": source.start, "end": source.end, "text": source.text}}
        case StatePath():
            return {"$state": source.pointer}
        case StepOutput():
            return {"$ref": write_reference(source)}
        case ItemValue():
            return {"$item": source.pointer}
        case ContractValue():
            return {f"${source.kind.value}": source.pointer}
        case InputValue():
            return {"$input": {"input_id": source.input_id, "pointer": source.pointer}}
        case RequestClock():
            return {"$clock": True}
        case Template():
            return {"$template": [_write_part(part) for part in source.parts]}
        case Generated():
            return {"$generated": source.text}


def write_reference(source: StepOutput) -> JsonValue:
    """Write a reference as `step/pointer`, or as an object where the text would be read otherwise."""
    if "/" in source.step_id or not source.pointer.startswith("/"):
        return {"step": source.step_id, "pointer": source.pointer}
    return source.step_id + source.pointer


def read_reference(value: JsonValue, place: str, scope: ArgsScope) -> StepOutput | None:
    """Read a reference: `step/pointer`, `step.path`, `step`, or an object of `step` and `pointer`."""
    if isinstance(value, str) and value:
        return _reference_text(value, scope.step_ids)
    fields = Fields(value, place, scope.faults, {"step_id": "step", "path": "pointer"})
    step, pointer = fields.text("step", is_required=True), _pointer(fields, "pointer")
    fields.finish()
    return StepOutput(step_id=step, pointer=pointer) if step else None


def _reference_text(text: str, step_ids: frozenset[str]) -> StepOutput:
    if "/" in text:
        step, slash, rest = text.partition("/")
        return StepOutput(step_id=step, pointer=slash + rest)
    heads = [step for step in step_ids if text == step or text.startswith((f"{step}.", f"{step}["))]
    step = max(heads, key=len) if heads else re.split(r"[.\[]", text, maxsplit=1)[0]
    tokens = (found[1] or found[2] for found in _DOTTED.finditer(text[len(step) :]))
    return StepOutput(step_id=step, pointer=pointers.join(*tokens))


def _read_members(value: JsonValue, place: str, pointer: str, scope: ArgsScope) -> Iterable[Binding]:
    if isinstance(value, dict) and value and not is_source(value):
        if list(value) == [str(index) for index in range(len(value))]:
            scope.faults.add(place, "An object whose names are 0, 1, 2 … has no place in arguments.")
            return
        for name, member in value.items():
            yield from _read_members(member, place + pointers.join(name), pointer + pointers.join(name), scope)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _read_members(item, place + pointers.join(index), pointer + pointers.join(index), scope)
    elif isinstance(value, dict) and value:
        binding = _read_source(value, place, pointer, scope)
        if binding is not None:
            yield binding
    elif pointer:
        yield Binding(pointer=pointer, value=value)


def _read_source(value: dict[str, JsonValue], place: str, pointer: str, scope: ArgsScope) -> Binding | None:
    fields = Fields(value, place, scope.faults)
    names = [name for name in value if name.startswith("$")]
    if len(names) != 1 or names[0] not in _NAMES:
        scope.faults.add(
            place, "A source has exactly one name that starts with $, one of the candidates.", candidates=_NAMES
        )
        return None
    name = names[0]
    convert, expected = _read_convert(fields), fields.raw("value")
    raw = fields.raw(name)
    fields.finish()
    if isinstance(raw, Absent):
        return None
    if name == "$literal":
        return Binding(pointer=pointer, value=raw, convert=convert)
    if name == "$query" and isinstance(raw, str) and scope.turns is None:
        return Binding(pointer=pointer, value=raw, convert=convert)
    source = _source(name, raw, place + pointers.join(name), pointer, scope)
    return None if source is None else Binding(pointer=pointer, source=source, convert=convert, value=expected)


def _source(name: str, raw: JsonValue, place: str, pointer: str, scope: ArgsScope) -> Source | None:
    if name == "$query":
        return _query(raw, place, scope)
    if name == "$ref":
        return read_reference(raw, place, scope)
    if name == "$input":
        fields = Fields(raw, place, scope.faults)
        source = InputValue(input_id=fields.text("input_id", is_required=True), pointer=_pointer(fields, "pointer"))
        fields.finish()
        return source
    if name in _CONTRACT:
        return _contract(_CONTRACT[name], raw, place, pointer, scope)
    if name == "$clock":
        return RequestClock() if raw is True else _refused(scope, place, "true")
    if name == "$template":
        return _template(raw, place, scope)
    if not isinstance(raw, str):
        return _refused(scope, place, "a string")
    if name == "$generated":
        return Generated(text=raw)
    if not _is_pointer(raw):
        return _refused(scope, place, "a JSON pointer")
    return ItemValue(pointer=raw) if name == "$item" else StatePath(pointer=raw)


def _query(raw: JsonValue, place: str, scope: ArgsScope) -> QuerySpan | None:
    if isinstance(raw, str):
        found = quoted_span(raw, scope.turns or ())
        if found is None:
            scope.faults.add(
                place, "The quoted text does not occur in what the user said.", code=FaultCode.UNRESOLVED_REFERENCE,
                actual=raw,
            )  # fmt: skip
        return found
    if isinstance(raw, list):
        raw = dict(zip(("turn", "start", "end"), raw, strict=False)) if len(raw) == 3 else {}
    fields = Fields(raw, place, scope.faults)
    span = QuerySpan(
        turn=fields.count("turn", is_required=True),
        start=fields.count("start", is_required=True),
        end=fields.count("end", is_required=True),
        text=fields.text("text"),
    )
    fields.finish()
    if fields.raw("text") is ABSENT:
        span = replace(span, text=span_text(span, scope.turns or ()) or "")
    return span


def _contract(kind: ContractValueKind, raw: JsonValue, place: str, pointer: str, scope: ArgsScope) -> Source | None:
    """`true` takes the keyword of the parameter's own subschema, a number the member of its `enum`."""
    schema_place = "".join(
        pointers.join("items") if token.isdecimal() else pointers.join("properties", token)
        for token in pointers.parse(pointer)
    )
    is_enum = kind is ContractValueKind.ENUM
    if isinstance(raw, str) and _is_pointer(raw):
        return ContractValue(kind=kind, pointer=raw)
    if is_enum and isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0:
        return ContractValue(kind=kind, pointer=schema_place + pointers.join("enum", raw))
    if raw is True and not is_enum:
        return ContractValue(kind=kind, pointer=schema_place + pointers.join(kind.value))
    return _refused(scope, place, f"{'an index' if is_enum else 'true'} or a JSON pointer")


def _template(raw: JsonValue, place: str, scope: ArgsScope) -> Source | None:
    if not isinstance(raw, list):
        return _refused(scope, place, "an array of strings and sources")
    parts: list[TemplatePart] = []
    for index, item in enumerate(raw):
        here = place + pointers.join(index)
        if isinstance(item, str):
            parts.append(TemplatePart(source=Literal(text=item)))
            continue
        binding = _read_source(item, here, "", scope) if isinstance(item, dict) and item else None
        if binding is not None and isinstance(binding.source, _PART_SOURCES) and not _has_extras(binding):
            parts.append(TemplatePart(source=binding.source))
        elif binding is not None and binding.source is None and isinstance(binding.value, str):
            parts.append(TemplatePart(source=Literal(text=binding.value)))
        else:
            _refused(scope, here, "a string, $query, $state, $ref, $item or $input without conversion")
    return Template(parts=tuple(parts))


def _has_extras(binding: Binding) -> bool:
    return binding.convert is not None or binding.value is not ABSENT


def _read_convert(fields: Fields) -> Convert | None:
    raw = fields.raw("convert")
    if isinstance(raw, Absent):
        return None
    if isinstance(raw, str):
        return Convert(to=raw)
    inner = Fields(raw, fields.place_of("convert"), fields.faults, {"as": "to"})
    convert = Convert(to=inner.text("to", is_required=True), options=inner.raw("options"))
    inner.finish()
    return convert


def _pointer(fields: Fields, name: str) -> str:
    text = fields.text(name)
    if not _is_pointer(text):
        fields.faults.add(fields.place_of(name), "The text is not a JSON pointer.", actual=text)
        return ""
    return text


def _tokens(pointer: str) -> tuple[str, ...]:
    """Return a parameter's path; what is no pointer, which the check refuses, stays visible as one name."""
    return pointers.parse(pointer) if pointer and _is_pointer(pointer) else (pointer,)


def _is_pointer(text: str) -> bool:
    try:
        pointers.parse(text)
    except pointers.PointerSyntaxError:
        return False
    return True


def _refused(scope: ArgsScope, place: str, expected: str) -> Source | None:
    """Record the fault; the None that comes back stands for the source that could not be read."""
    scope.faults.add(place, f"The source takes {expected}.", expected=expected)
    return None


def _write_binding(binding: Binding) -> JsonValue:
    if binding.source is None:
        return _write_literal(binding)
    written = write_source(binding.source)
    _write_convert(written, binding.convert)
    if not isinstance(binding.value, Absent):
        written["value"] = binding.value
    return written


def _write_literal(binding: Binding) -> JsonValue:
    value: Json = binding.value
    if isinstance(value, Absent):
        return {"$literal": None}
    if binding.convert is None and not (isinstance(value, dict | list) and value):
        return value
    written: dict[str, JsonValue] = {"$literal": value}
    _write_convert(written, binding.convert)
    return written


def _write_convert(written: dict[str, JsonValue], convert: Convert | None) -> None:
    if convert is None:
        return
    if isinstance(convert.options, Absent):
        written["convert"] = convert.to
    else:
        written["convert"] = {"to": convert.to, "options": convert.options}


def _write_part(part: TemplatePart) -> JsonValue:
    source = part.source
    if source is None:
        return ""
    return source.text if isinstance(source, Literal) else write_source(source)


def _with_arrays(value: JsonValue) -> JsonValue:
    """Turn containers made from pointers back into arrays; source objects and leaves stay."""
    if not isinstance(value, dict) or is_source(value) or not value:
        return value
    members = {name: _with_arrays(member) for name, member in value.items()}
    if all(str(index) in members for index in range(len(members))):
        return [members[str(index)] for index in range(len(members))]
    return members
