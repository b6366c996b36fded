"""Rules about the places that bindings point at: they exist, and what stands there fits the parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.check_context import CheckContext, argument_place, near, plan_fault, step_place
from taoloop.plan.flow.conditions import steering_sources
from taoloop.plan.form.spans import span_text
from taoloop.plan.graph import ancestors
from taoloop.plan.model import (
    Binding,
    ContractValue,
    ContractValueKind,
    Generated,
    InputValue,
    PlanStep,
    QuerySpan,
    RequestClock,
    StatePath,
    StepOutput,
    Template,
    ThoughtPlan,
)
from taoloop.plan.rules.bindings import known_steps
from taoloop.plan.rules.structure import dependencies_of
from taoloop.plan.schema_places import Schema, described, place, properties
from taoloop.tools.schema_paths import incompatibility, types_at
from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import ToolSignature
from taoloop.values.conversions import CONVERSIONS, option_fault, result_schema

_DEFINITIONS: Final = ("$defs", "definitions")


def sources_of(binding: Binding) -> tuple[Any, ...]:
    """Return the source of a binding, or those of the parts of its template."""
    if isinstance(binding.source, Template):
        return tuple(part.source for part in binding.source.parts)
    return (binding.source,)


def spans_match(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A span lies inside of its turn, and its text is the text that stands there."""
    if context.turns is None:
        return
    for at, source in _all_sources(plan, context):
        if not isinstance(source, QuerySpan):
            continue
        stored = span_text(source, context.turns)
        if stored is None:
            yield plan_fault(FaultCode.UNKNOWN_REFERENCE, at, "The span lies outside of the conversation, or is empty.",
                             actual=[source.turn, source.start, source.end])  # fmt: skip
        elif stored != source.text:
            yield plan_fault(FaultCode.VALUE_MISMATCH, at, "Another text stands at the span.",
                             expected=source.text, actual=stored)  # fmt: skip


def state_places_exist(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A path into the session's state leads to a value."""
    if not context.has_request:
        return
    for at, source in _all_sources(plan, context):
        if isinstance(source, StatePath) and _found(context.state, source.pointer) is ABSENT:
            yield plan_fault(
                FaultCode.UNKNOWN_REFERENCE, at, f"The session's state has nothing at {source.pointer!r}.",
                actual=source.pointer, candidates=_names(context.state),
            )  # fmt: skip


def inputs_exist(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A path into an answer of the caller leads to a value."""
    if not context.has_request:
        return
    for at, source in _all_sources(plan, context):
        if isinstance(source, InputValue) and _input(context, source) is ABSENT:
            yield plan_fault(
                FaultCode.UNKNOWN_REFERENCE, at, f"The input {source.input_id!r} has nothing at {source.pointer!r}.",
                actual=source.pointer, candidates=tuple(given.input_id for given in context.inputs),
            )  # fmt: skip


def contract_values_exist(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A contract value points at a `default`, a `const` or a member of an `enum` of the tool's parameters."""
    for index, step, tool in known_steps(plan, context):
        for binding in step.bindings:
            source = binding.source
            if isinstance(source, ContractValue) and contract_value(tool.parameters, source) is ABSENT:
                yield plan_fault(
                    FaultCode.UNKNOWN_REFERENCE, argument_place(index, binding.pointer),
                    f"{tool.name!r} offers no {source.kind} at {source.pointer!r}.", actual=source.pointer,
                )  # fmt: skip


def contract_value(parameters: Any, source: ContractValue) -> Json:
    """Return the value that a contract value points at; ABSENT where the keyword does not hold it."""
    tokens = _parsed(source.pointer)
    if tokens is None:
        return ABSENT
    keyword = tokens[-2:-1] if source.kind is ContractValueKind.ENUM else tokens[-1:]
    if keyword != (source.kind.value,):
        return ABSENT
    return _found(parameters, source.pointer)


def references_are_declared(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A step refers to completed steps that succeeded, and of this plan only to steps that it waits for."""
    graph = dependencies_of(plan)
    completed = context.completed_by_id
    for index, step in enumerate(plan.steps):
        upstream = ancestors(graph, step.step_id) - {step.step_id}
        for at, source in _step_sources(index, step, known_ids(plan, context)):
            if not isinstance(source, StepOutput) or (source.step_id in upstream and source.step_id in graph):
                continue
            if source.step_id in completed:
                if completed[source.step_id].fault is not None:
                    yield plan_fault(FaultCode.UNKNOWN_REFERENCE, at,
                                     f"The completed step {source.step_id!r} did not succeed.")  # fmt: skip
            elif source.step_id in graph:
                yield plan_fault(FaultCode.UNDECLARED_DEPENDENCY, at,
                                 f"The step does not depend on {source.step_id!r}.", actual=source.step_id)  # fmt: skip
            else:
                known = (*graph, *completed)
                yield plan_fault(FaultCode.UNKNOWN_REFERENCE, at, f"There is no step {source.step_id!r}.",
                                 actual=source.step_id, candidates=near(source.step_id, known))  # fmt: skip


def references_exist(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """What a reference points at is a field of the earlier tool's output schema."""
    for at, source in _all_sources(plan, context):
        if not isinstance(source, StepOutput):
            continue
        tool, returns = _tool_of(plan, context, source.step_id), output_of(plan, context, source.step_id)
        if tool is None or returns is None:
            continue
        if _parsed(source.pointer) is None or place(returns, source.pointer) is None:
            names = tuple(pointers.join(name) for name in properties(returns))
            yield plan_fault(
                FaultCode.UNKNOWN_REFERENCE, at, f"The output of {tool.name!r} has no field {source.pointer!r}.",
                actual=source.pointer, candidates=tuple(dict.fromkeys([*near(source.pointer, names), *names])),
            )  # fmt: skip


def output_of(plan: ThoughtPlan, context: CheckContext, step_id: str) -> Schema | None:
    """Return the schema of a planned or completed step's result; None where nothing is known of it.

    A step that runs once per item brings the list of its tool's outputs.
    """
    tool = _tool_of(plan, context, step_id)
    if tool is None or tool.returns is None:
        return None
    planned = next((step for step in plan.steps if step.step_id == step_id), None)
    if planned is not None:
        return tool.returns if planned.for_each is None else _list_of(tool.returns)
    return _list_of(tool.returns) if context.completed_by_id[step_id].is_gathered else tool.returns


def _list_of(schema: Schema) -> Schema:
    """Return the schema of a list of what a schema describes; its definitions stay where references look for them."""
    if isinstance(schema, bool):
        return {"type": "array", "items": schema}
    shared = {name: schema[name] for name in _DEFINITIONS if name in schema}
    return {**shared, "type": "array", "items": {name: schema[name] for name in schema if name not in shared}}


def types_fit_parameters(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """What a source gives, after its conversion, is of a kind that the parameter accepts."""
    for index, step, tool in known_steps(plan, context):
        for binding in step.bindings:
            offered = _offered(plan, context, binding) if _parsed(binding.pointer) else None
            target = place(tool.parameters, binding.pointer) if offered is not None else None
            if offered is None or target is None:
                continue
            cause = _misfit(*offered, dict(tool.parameters), binding.pointer)
            if cause is not None:
                yield plan_fault(
                    FaultCode.TYPE_MISMATCH, argument_place(index, binding.pointer),
                    f"The source does not fit the parameter {binding.pointer!r} of {tool.name!r}: {cause}.",
                    expected=described(target), actual=described(place(*offered) or False),
                )  # fmt: skip


def _misfit(schema: JsonValue, pointer: str, parameters: JsonValue, parameter: str) -> str | None:
    """Return why nothing at a place of one schema fits a place of another; items of arrays are compared too."""
    source, target = types_at(schema, pointer), types_at(parameters, parameter)
    if source is None or target is None:
        return None
    cause = incompatibility(source, target)
    if cause is not None or source.types != {"array"} or target.types != {"array"}:
        return cause
    inner = _misfit(schema, pointer + "/0", parameters, parameter + "/0")
    return None if inner is None else f"of its items, {inner}"


def values_keep_the_schema(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A value that the plan itself states, as a literal or as generated text, keeps the parameter's schema."""
    for index, step, tool in known_steps(plan, context):
        for binding in step.bindings:
            value = binding.source.text if isinstance(binding.source, Generated) else binding.value
            is_stated = isinstance(binding.source, Generated | None) and binding.convert is None
            target = place(tool.parameters, binding.pointer) if _parsed(binding.pointer) else None
            if not is_stated or isinstance(value, Absent) or target is None or isinstance(target, bool):
                continue
            yield from _broken(argument_place(index, binding.pointer), target, tool, value)


def _broken(at: str, target: Any, tool: ToolSignature, value: JsonValue) -> Iterator[Fault]:
    shared = {key: tool.parameters[key] for key in ("$defs", "definitions") if key in tool.parameters}
    try:
        violations = CompiledSchema.compile({**shared, **target}).violations(value)
    except SchemaRefused:  # the catalogue's own check says so; a reference outside of the definitions, for example
        return
    for violation in violations:
        yield plan_fault(
            FaultCode.INVALID_PARAMETER, at + violation.pointer, violation.message,
            expected=violation.expected, actual=violation.actual,
        )  # fmt: skip


def _offered(plan: ThoughtPlan, context: CheckContext, binding: Binding) -> tuple[Any, str] | None:
    """Return a schema and a place in it that tell what a binding gives; None where nothing is known."""
    if binding.convert is not None:
        to, options = binding.convert.to, binding.convert.options
        if to not in CONVERSIONS or option_fault(to, options) is not None:
            return None
        return result_schema(to, options), ""
    match binding.source:
        case QuerySpan() | Template() | Generated():
            return {"type": "string"}, ""
        case RequestClock():
            return {"type": "string", "format": "date-time"}, ""
        case StatePath(pointer=pointer):
            return _as_schema(_found(context.state, pointer))
        case InputValue():
            return _as_schema(_input(context, binding.source))
        case StepOutput(step_id=step_id, pointer=pointer):
            returns = output_of(plan, context, step_id)
            if returns is None or isinstance(returns, bool) or _parsed(pointer) is None:
                return None
            return dict(returns), pointer
        case _:
            return None


def _as_schema(value: Json) -> tuple[Any, str] | None:
    return None if isinstance(value, Absent) else ({"const": value}, "")


def _tool_of(plan: ThoughtPlan, context: CheckContext, step_id: str) -> ToolSignature | None:
    for step in plan.steps:
        if step.step_id == step_id:
            return context.tools.get(step.tool)
    completed = context.completed_by_id.get(step_id)
    return None if completed is None else context.tools.get(completed.tool)


def known_ids(plan: ThoughtPlan, context: CheckContext) -> frozenset[str]:
    """Return the ids of the plan's and of the completed steps."""
    return frozenset((*(step.step_id for step in plan.steps), *context.completed_by_id))


def _all_sources(plan: ThoughtPlan, context: CheckContext) -> Iterator[tuple[str, Any]]:
    step_ids = known_ids(plan, context)
    for index, step in enumerate(plan.steps):
        yield from _step_sources(index, step, step_ids)


def _step_sources(index: int, step: PlanStep, step_ids: frozenset[str]) -> Iterator[tuple[str, Any]]:
    for binding in step.bindings:
        for source in sources_of(binding):
            yield argument_place(index, binding.pointer), source
    items = step.for_each.items if step.for_each is not None else None
    for source in steering_sources(step, step_ids):
        yield step_place(index, *(("for_each", "items") if source is items else ("when",))), source


def _input(context: CheckContext, source: InputValue) -> Json:
    for given in reversed(context.inputs):
        if given.input_id == source.input_id:
            return _found(given.values, source.pointer)
    return ABSENT


def _found(value: Json, pointer: str) -> Json:
    if isinstance(value, Absent):
        return ABSENT
    try:
        return pointers.lookup(value, pointer)
    except (KeyError, pointers.PointerSyntaxError):
        return ABSENT


def _names(value: Json) -> tuple[str, ...]:
    return tuple(pointers.join(name) for name in value) if isinstance(value, dict) else ()


def _parsed(pointer: str) -> tuple[str, ...] | None:
    try:
        return pointers.parse(pointer)
    except pointers.PointerSyntaxError:
        return None
