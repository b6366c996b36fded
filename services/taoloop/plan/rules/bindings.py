"""Rules about which parameters are bound, and which kinds of source they may come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.check_context import CheckContext, argument_place, invalid, near, plan_fault, step_place
from taoloop.plan.flow.conditions import steering_sources
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
    ThoughtPlan,
)
from taoloop.plan.schema_places import Schema, described, place, properties, required
from taoloop.tools.signature import ToolSignature
from taoloop.values.conversions import CONVERSIONS, option_fault

DEFAULT_SOURCES: Final = ("query", "state", "step", "input")
"""What a parameter may come from when its contract does not list it, beside contract values and the clock."""

SOURCE_KEYWORD: Final = "x-taoloop-source"
_USER_QUERY, _SESSION_STATE, _INPUTS = "user_query", "session_state", "inputs"
_VISIBLE_NAMES: Final = (_USER_QUERY, _SESSION_STATE, _INPUTS)


def known_steps(plan: ThoughtPlan, context: CheckContext) -> Iterator[tuple[int, PlanStep, ToolSignature]]:
    """Yield each step whose tool exists, with its position."""
    for index, step in enumerate(plan.steps):
        tool = context.tools.get(step.tool)
        if tool is not None:
            yield index, step, tool


def source_kinds(binding: Binding) -> tuple[str, ...]:
    """Return the names, as contracts write them, of every kind of source that a binding uses.

    Fixed text of a template counts as `generated` when it has letters or digits: it says something that nobody said.
    """
    match binding.source:
        case Template(parts=parts):
            kinds = [_kind(part.source) for part in parts]
            return tuple(dict.fromkeys(kind for kind in kinds if kind))
        case source:
            kind = _kind(source)
            return (kind,) if kind else ()


def pointers_are_well_formed(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """A binding names a parameter by a JSON pointer that is not empty."""
    for index, step in enumerate(plan.steps):
        for binding in step.bindings:
            if not binding.pointer or _tokens(binding.pointer) is None:
                yield invalid(step_place(index, "args"), "A binding has no JSON pointer of a parameter.",
                              actual=binding.pointer)  # fmt: skip


def bindings_do_not_overlap(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """No parameter is bound twice, and none inside of another that is bound as a whole."""
    for index, step in enumerate(plan.steps):
        seen: list[tuple[str, ...]] = []
        for binding in step.bindings:
            tokens = _tokens(binding.pointer)
            if not tokens:
                continue
            if any(tokens[: len(other)] == other or other[: len(tokens)] == tokens for other in seen):
                yield invalid(argument_place(index, binding.pointer), "The parameter is bound twice.")
            seen.append(tokens)


def parameters_exist(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """Every binding names a parameter that the tool has."""
    for index, step, tool in known_steps(plan, context):
        names = properties(tool.parameters)
        for binding in step.bindings:
            tokens = _tokens(binding.pointer)
            if tokens and place(tool.parameters, binding.pointer) is None:
                yield plan_fault(
                    FaultCode.UNKNOWN_PARAMETER, argument_place(index, binding.pointer),
                    f"{tool.name!r} has no parameter {binding.pointer!r}.", actual=binding.pointer,
                    candidates=tuple(dict.fromkeys([*near(tokens[0], names), *names])),
                )  # fmt: skip


def required_parameters_are_bound(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """Every required parameter is bound, inside of bound objects too."""
    for index, step, tool in known_steps(plan, context):
        bound = [tokens for binding in step.bindings if (tokens := _tokens(binding.pointer))]
        for missing in _missing(tool.parameters, tool.parameters, (), bound):
            pointer = pointers.join(*missing)
            schema = place(tool.parameters, pointer)
            yield plan_fault(
                FaultCode.MISSING_PARAMETER, argument_place(index, pointer),
                f"{tool.name!r} needs the parameter {pointer!r}.",
                expected=ABSENT if schema is None else described(schema),
            )  # fmt: skip


def literals_have_a_source(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """With a request at hand no argument is left without a source; an argument without source and value never is."""
    for index, step in enumerate(plan.steps):
        for binding in step.bindings:
            if binding.source is not None or (binding.value is not ABSENT and not context.has_request):
                continue
            yield plan_fault(
                FaultCode.SOURCE_NOT_ALLOWED, argument_place(index, binding.pointer),
                "The value stands neither in the request nor in the contract, so it has no source.",
                actual=binding.value,
            )  # fmt: skip


def sources_are_allowed(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A parameter comes from the kinds of source that its contract lists; text of a model only where it says so."""
    for index, step, tool in known_steps(plan, context):
        for binding in step.bindings:
            schema = place(tool.parameters, binding.pointer) if _tokens(binding.pointer) else None
            if schema is None:
                continue
            allowed = allowed_sources(schema)
            for kind in source_kinds(binding):
                if kind not in allowed:
                    yield plan_fault(
                        FaultCode.SOURCE_NOT_ALLOWED, argument_place(index, binding.pointer),
                        f"The contract does not let this parameter come from {kind!r}.",
                        expected=list(allowed), actual=kind,
                    )  # fmt: skip


def allowed_sources(schema: Schema) -> tuple[str, ...]:
    """Return the kinds of source that a parameter may have beside contract values and the clock.

    What the parameter's schema lists under `x-taoloop-source`, else the default list, which never has `generated`.
    """
    listed = schema.get(SOURCE_KEYWORD) if not isinstance(schema, bool) else None
    if isinstance(listed, list):
        return tuple(str(kind) for kind in listed)
    return DEFAULT_SOURCES


def input_sources_are_known(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """The list of what a step may see names the request, the state, inputs, or steps that exist."""
    known = (*_VISIBLE_NAMES, *(step.step_id for step in plan.steps), *context.completed_by_id)
    for index, step in enumerate(plan.steps):
        for position, name in enumerate(step.input_sources):
            if name not in known:
                yield plan_fault(
                    FaultCode.UNKNOWN_DEPENDENCY, step_place(index, "input_sources", position),
                    f"There is no source {name!r}.", actual=name, candidates=near(name, known),
                )  # fmt: skip


def input_sources_are_obeyed(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A step that says what it may see uses nothing else, neither for its arguments nor to decide whether it runs."""
    step_ids = (*(step.step_id for step in plan.steps), *context.completed_by_id)
    for index, step in enumerate(plan.steps):
        if not step.input_sources:
            continue
        seen = [
            (argument_place(index, binding.pointer), name)
            for binding in step.bindings
            for name in _names_seen(_sources(binding))
        ]
        seen += [(step_place(index), name) for name in _names_seen(steering_sources(step, step_ids))]
        for at, name in seen:
            if name not in step.input_sources:
                yield plan_fault(
                    FaultCode.SOURCE_NOT_ALLOWED, at, f"The step's input_sources do not list {name!r}.",
                    expected=list(step.input_sources), actual=name,
                )  # fmt: skip


def conversions_are_known(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """A conversion exists and takes these options."""
    for index, step in enumerate(plan.steps):
        for binding in step.bindings:
            if binding.convert is None:
                continue
            at = argument_place(index, binding.pointer) + "/convert"
            if binding.convert.to not in CONVERSIONS:
                names = tuple(CONVERSIONS)
                yield invalid(at, f"There is no conversion to {binding.convert.to!r}.", candidates=names)
            elif (cause := option_fault(binding.convert.to, binding.convert.options)) is not None:
                yield invalid(at, cause)


def _kind(source: object) -> str:
    match source:
        case QuerySpan():
            return "query"
        case StatePath():
            return "state"
        case StepOutput():
            return "step"
        case InputValue():
            return "input"
        case Generated():
            return "generated"
        case Literal(text=text) if any(character.isalnum() for character in text):
            return "generated"
        case _:
            return ""


def _sources(binding: Binding) -> Iterable[object]:
    if isinstance(binding.source, Template):
        return [part.source for part in binding.source.parts]
    return [binding.source]


def _names_seen(sources: Iterable[object]) -> Iterator[str]:
    for source in sources:
        match source:
            case QuerySpan():
                yield _USER_QUERY
            case StatePath():
                yield _SESSION_STATE
            case InputValue():
                yield _INPUTS
            case StepOutput(step_id=step_id):
                yield step_id
            case ContractValue() | RequestClock() | _:
                continue


def _missing(
    root: Schema, node: Schema, prefix: tuple[str, ...], bound: list[tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """Yield the paths of required members that no binding gives; objects of which nothing is bound are entered not."""
    for name in required(root, node):
        path = (*prefix, name)
        if not any(tokens[: len(path)] == path for tokens in bound):
            yield path
    inner = {
        tokens[len(prefix)] for tokens in bound if tokens[: len(prefix)] == prefix and len(tokens) > len(prefix) + 1
    }
    for name in sorted(inner):
        child = place(root, pointers.join(*prefix, name))
        if child is not None:
            yield from _missing(root, child, (*prefix, name), bound)


def _tokens(pointer: str) -> tuple[str, ...] | None:
    try:
        return pointers.parse(pointer)
    except pointers.PointerSyntaxError:
        return None
