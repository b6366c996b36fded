"""Resolving: bindings become the arguments of a call, each fetched, converted and checked by code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, equal
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import Provenance
from taoloop.plan.form.spans import span_text
from taoloop.plan.model import (
    Binding,
    ContractValue,
    Generated,
    InputValue,
    Literal,
    PlanStep,
    QuerySpan,
    RequestClock,
    StatePath,
    StepOutput,
    Template,
)
from taoloop.plan.rules.sources import contract_value
from taoloop.plan.schema_places import is_array
from taoloop.plan.task import ProvidedInput, Turn
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Trust
from taoloop.values.calendars import zone_of
from taoloop.values.conversions import ConversionContext, as_text, convert
from taoloop.values.refusals import ValueRefused


@dataclass(frozen=True, slots=True)
class StepResult:
    """What an earlier step came to.

    Attributes:
        data: The normalised result, whole.
        trust: Whose words it holds.
    """

    data: JsonValue
    trust: Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveContext:
    """Everything that bindings can point into.

    Attributes:
        parameters: The tool's parameter schema, compiled.
        turns: The stored conversation.
        state: The session's state.
        results: Results of the steps that succeeded, by id.
        inputs: Answers of the caller.
        conversion: Reference time, time zone, locale and week start for words.
        tainted_context: Whether untrusted text could have shaped the plan; generated text is then untrusted.
        mend: Corrects arguments by their schema before they are checked; None leaves them as they are.
    """

    parameters: CompiledSchema
    turns: Sequence[Turn] = ()
    state: Json = ABSENT
    results: Mapping[str, StepResult] = field(default_factory=dict)
    inputs: Sequence[ProvidedInput] = ()
    conversion: ConversionContext = field(default_factory=ConversionContext)
    tainted_context: bool = False
    mend: Callable[[dict[str, JsonValue], object], dict[str, JsonValue]] | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """Arguments that may be sent, and where each came from.

    Attributes:
        arguments: They keep the tool's parameter schema.
        provenance: One entry per binding, in the order of the bindings.
    """

    arguments: dict[str, JsonValue]
    provenance: tuple[Provenance, ...]


class _Unresolved(Exception):
    """One binding has no value."""

    def __init__(self, code: FaultCode, message: str, actual: Json = ABSENT, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.actual = actual
        self.candidates = tuple(candidates)


def resolve_step(step: PlanStep, context: ResolveContext) -> Resolution | tuple[Fault, ...]:
    """Fetch, convert and check every argument of a step.

    A reference that is the whole value keeps its type; inside of a template a scalar becomes text. An expected value
    must come out. The assembled arguments must keep the parameter schema.

    Returns:
        The arguments, or every fault at once; `field` is the pointer of the parameter in the arguments.
    """
    values: list[tuple[str, JsonValue]] = []
    provenance: list[Provenance] = []
    faults: list[Fault] = []
    for binding in step.bindings:
        try:
            values.append((binding.pointer, _value(binding, context)))
            provenance.append(_provenance(binding, context))
        except _Unresolved as unresolved:
            faults.append(_fault(binding, unresolved))
    if faults:
        return tuple(faults)
    arguments, faults = _assembled(values, context.parameters)
    if context.mend is not None:
        arguments = context.mend(arguments, context.parameters.schema)
    faults += _violations(arguments, context.parameters) if not faults else []
    return tuple(faults) if faults else Resolution(arguments, tuple(provenance))


def _value(binding: Binding, context: ResolveContext) -> JsonValue:
    value = _fetched(binding.source, context)
    if binding.convert is not None:
        try:
            value = convert(binding.convert.to, value, context.conversion, binding.convert.options)
        except ValueRefused as refused:
            raise _Unresolved(FaultCode.CONVERSION_REFUSED, refused.message, value, refused.candidates) from refused
        except KeyError as exc:
            message = f"There is no conversion to {binding.convert.to!r}."
            raise _Unresolved(FaultCode.CONVERSION_REFUSED, message) from exc
    if not isinstance(binding.value, Absent) and not equal(value, binding.value):
        raise _Unresolved(FaultCode.VALUE_MISMATCH, "Another value stands there than the plan expects.", value)
    return value


def _fetched(source: object, context: ResolveContext) -> JsonValue:
    fetch = _FETCH.get(type(source))
    if fetch is None:
        raise _Unresolved(FaultCode.UNRESOLVED_REFERENCE, "The argument has no source.")
    return fetch(source, context)


def _span(source: QuerySpan, context: ResolveContext) -> JsonValue:
    stored = span_text(source, context.turns)
    if stored is None:
        raise _Unresolved(FaultCode.UNRESOLVED_REFERENCE, "The span lies outside of the conversation.")
    if source.text != stored:
        raise _Unresolved(FaultCode.VALUE_MISMATCH, "Another text stands at the span.", stored)
    return stored


def _state(source: StatePath, context: ResolveContext) -> JsonValue:
    return _looked_up(context.state, source.pointer, "The session's state")


def _step(source: StepOutput, context: ResolveContext) -> JsonValue:
    result = context.results.get(source.step_id)
    if result is None:
        raise _Unresolved(FaultCode.UNRESOLVED_REFERENCE, f"The step {source.step_id!r} has no result.")
    return _looked_up(result.data, source.pointer, f"The result of {source.step_id!r}")


def _input(source: InputValue, context: ResolveContext) -> JsonValue:
    for given in reversed(context.inputs):
        if given.input_id == source.input_id:
            return _looked_up(given.values, source.pointer, f"The input {source.input_id!r}")
    raise _Unresolved(FaultCode.UNRESOLVED_REFERENCE, f"Nobody has answered the input {source.input_id!r}.")


def _contract(source: ContractValue, context: ResolveContext) -> JsonValue:
    value = contract_value(context.parameters.schema, source)
    if isinstance(value, Absent):
        raise _Unresolved(FaultCode.UNRESOLVED_REFERENCE, f"The contract has no {source.kind} at {source.pointer!r}.")
    return value


def _clock(_: RequestClock, context: ResolveContext) -> JsonValue:
    moment: datetime | None = context.conversion.reference_time
    if moment is None:
        raise _Unresolved(FaultCode.UNRESOLVED_REFERENCE, "The request has no reference time.")
    try:
        return moment.astimezone(zone_of(context.conversion.time_zone)).isoformat()
    except ValueRefused as refused:
        raise _Unresolved(FaultCode.CONVERSION_REFUSED, refused.message) from refused


def _template(source: Template, context: ResolveContext) -> JsonValue:
    try:
        return "".join(as_text(_fetched(part.source, context)) for part in source.parts)
    except ValueRefused as refused:
        message = "A part of the template is null, an array or an object."
        raise _Unresolved(FaultCode.CONVERSION_REFUSED, message) from refused


def _stated(source: Literal | Generated, _: ResolveContext) -> JsonValue:
    return source.text


# One fetcher per kind of source; the type is looked up once, which the signature cannot say.
_FETCH: Mapping[type, Callable[..., JsonValue]] = {
    QuerySpan: _span,
    StatePath: _state,
    StepOutput: _step,
    InputValue: _input,
    ContractValue: _contract,
    RequestClock: _clock,
    Template: _template,
    Literal: _stated,
    Generated: _stated,
}

_NAMES: Mapping[type, str] = {
    QuerySpan: "query_span",
    StatePath: "state_path",
    StepOutput: "step_output",
    InputValue: "input_value",
    ContractValue: "contract_value",
    RequestClock: "request_clock",
    Template: "template",
    Generated: "generated",
}


def _looked_up(value: Json, pointer: str, owner: str) -> JsonValue:
    try:
        if not isinstance(value, Absent):
            return pointers.lookup(value, pointer)
    except (pointers.PointerNotFound, pointers.PointerSyntaxError) as exc:
        raise _Unresolved(FaultCode.UNRESOLVED_REFERENCE, f"{owner} has nothing at {pointer!r}.", pointer) from exc
    raise _Unresolved(FaultCode.UNRESOLVED_REFERENCE, f"{owner} holds nothing.", pointer)


def _provenance(binding: Binding, context: ResolveContext) -> Provenance:
    source = binding.source
    parts = [part.source for part in source.parts] if isinstance(source, Template) else [source]
    steps = [part.step_id for part in parts if isinstance(part, StepOutput)]
    untrusted = [step for step in steps if context.results[step].trust is Trust.UNTRUSTED]
    is_models = context.tainted_context and any(isinstance(part, Literal | Generated) for part in parts)
    return Provenance(
        pointer=binding.pointer,
        source=_NAMES[type(source)],
        step_id=(untrusted or steps or [""])[0],
        trust=Trust.UNTRUSTED if untrusted or is_models else Trust.TRUSTED,
    )


def _assembled(
    values: Sequence[tuple[str, JsonValue]], parameters: CompiledSchema
) -> tuple[dict[str, JsonValue], list[Fault]]:
    """Put the values at their pointers; arrays are filled in the order of their indexes."""
    arguments: JsonValue = {}
    faults: list[Fault] = []
    for pointer, value in sorted(values, key=lambda item: _natural(item[0])):
        try:
            _make_containers(arguments, pointer, parameters)
            arguments = pointers.assign(arguments, pointer, deepcopy(value))  # results are never changed
        except (pointers.PointerNotFound, pointers.PointerSyntaxError):
            faults.append(_parameter_fault(pointer, "There is no such place in the arguments.", actual=value))
    if not isinstance(arguments, dict):
        faults.append(_parameter_fault("", "The arguments are not an object.", actual=arguments))
        return {}, faults
    return arguments, faults


def _make_containers(arguments: JsonValue, pointer: str, parameters: CompiledSchema) -> None:
    """Make what is missing on the way: arrays where the schema says so, which a pointer alone cannot tell."""
    tokens = pointers.parse(pointer)
    schema = parameters.schema if isinstance(parameters.schema, dict) else {}
    for length in range(1, len(tokens)):
        prefix = pointers.join(*tokens[:length])
        try:
            pointers.lookup(arguments, prefix)
        except pointers.PointerNotFound:
            is_list = tokens[length].isdecimal() and is_array(schema, prefix)
            pointers.assign(arguments, prefix, [] if is_list else {})


def _natural(pointer: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(token), "") if token.isdecimal() else (-1, token) for token in pointer.split("/"))


def _violations(arguments: dict[str, JsonValue], parameters: CompiledSchema) -> list[Fault]:
    return [
        _parameter_fault(found.pointer, found.message, expected=found.expected, actual=found.actual)
        for found in parameters.violations(arguments)
    ]


def _parameter_fault(pointer: str, message: str, *, expected: Json = ABSENT, actual: Json = ABSENT) -> Fault:
    return Fault(
        code=FaultCode.INVALID_PARAMETER,
        stage=FaultStage.RESOLVE,
        message=message,
        field=pointer,
        expected=expected,
        actual=actual,
        suggestion=FaultCode.INVALID_PARAMETER.remedy,
    )


def _fault(binding: Binding, unresolved: _Unresolved) -> Fault:
    cause = binding.source.step_id if isinstance(binding.source, StepOutput) else ""
    return Fault(
        code=unresolved.code,
        stage=FaultStage.RESOLVE,
        message=unresolved.message,
        field=binding.pointer,
        expected=binding.value if unresolved.code is FaultCode.VALUE_MISMATCH else ABSENT,
        actual=unresolved.actual,
        suggestion=unresolved.code.remedy,
        candidates=unresolved.candidates,
        cause_step_id=cause,
    )
