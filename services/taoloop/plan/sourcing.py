"""Sources for literals: a value that a plan states is looked up in the contract and in the user's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from taoloop.core import pointers
from taoloop.core.exact_json import Absent, JsonValue, dumps, equal
from taoloop.plan.form.spans import quoted_span
from taoloop.plan.model import (
    Binding,
    ContractValue,
    ContractValueKind,
    Convert,
    Generated,
    PlanStep,
    QuerySpan,
    ThoughtPlan,
)
from taoloop.plan.rules.bindings import allowed_sources
from taoloop.plan.schema_places import Schema, place
from taoloop.plan.task import Turn
from taoloop.tools.schema_refusals import resolve_local, subschemas
from taoloop.tools.signature import ToolSignature


def source_literals(plan: ThoughtPlan, tools: Mapping[str, ToolSignature], turns: Sequence[Turn]) -> ThoughtPlan:
    """Give every literal of a plan its source where there is one.

    In this order: a value that the parameter's own schema offers (const, default, enum) becomes a contract value; a
    text, or a number in digits, that stands as whole words in a turn of the user becomes a span of it, a number with
    its conversion; a text for a parameter whose contract lists `generated` becomes generated text. A literal that
    has none of these stays as it is, and the check of a plan with its request refuses it.
    """
    steps = tuple(
        step if step.tool not in tools else _with_sources(step, tools[step.tool], turns) for step in plan.steps
    )
    return replace(plan, steps=steps)


def _with_sources(step: PlanStep, tool: ToolSignature, turns: Sequence[Turn]) -> PlanStep:
    return replace(step, bindings=tuple(_sourced(binding, tool, turns) for binding in step.bindings))


def _sourced(binding: Binding, tool: ToolSignature, turns: Sequence[Turn]) -> Binding:
    value = binding.value
    if binding.source is not None or isinstance(value, Absent):
        return binding
    try:
        schema = place(tool.parameters, binding.pointer)
    except pointers.PointerSyntaxError:
        return binding
    if schema is None:
        return binding
    offered = _contract_value(tool.parameters, binding.pointer, value) if binding.convert is None else None
    if offered is not None:
        return replace(binding, source=offered)
    allowed = allowed_sources(schema)
    if "query" in allowed and (span := _span(value, turns)) is not None:
        return _spanned(binding, span)
    if "generated" in allowed and isinstance(value, str) and binding.convert is None:
        return replace(binding, source=Generated(text=value))
    return binding


def _span(value: JsonValue, turns: Sequence[Turn]) -> QuerySpan | None:
    if value is None or isinstance(value, bool | list | dict):
        return None
    return quoted_span(value if isinstance(value, str) else dumps(value), turns, is_whole_word=True)


def _spanned(binding: Binding, span: QuerySpan) -> Binding:
    """A text with a conversion says what to read, not what comes out of it, so nothing is expected then."""
    if isinstance(binding.value, str):
        return replace(binding, source=span) if binding.convert is None else Binding(
            pointer=binding.pointer, source=span, convert=binding.convert
        )  # fmt: skip
    to = "integer" if isinstance(binding.value, int) else "number"
    return replace(binding, source=span, convert=binding.convert or Convert(to=to))


def _contract_value(parameters: Schema, pointer: str, value: JsonValue) -> ContractValue | None:
    """Find the value among what the subschemas of the parameter's own place offer."""
    for at, node in _nodes(parameters, pointer):
        for kind in (ContractValueKind.CONST, ContractValueKind.DEFAULT):
            if kind.value in node and equal(node[kind.value], value):
                return ContractValue(kind=kind, pointer=at + pointers.join(kind.value))
        for index, member in enumerate(node.get("enum", ())):
            if equal(member, value):
                return ContractValue(kind=ContractValueKind.ENUM, pointer=at + pointers.join("enum", index))
    return None


def _nodes(parameters: Any, pointer: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the subschemas that speak about the place, with their pointers in the schema document."""
    wanted = place(parameters, pointer)
    options = wanted.get("anyOf", [wanted]) if isinstance(wanted, Mapping) and "type" not in wanted else [wanted]
    targets = [wanted, *options]
    targets.extend(
        resolve_local(parameters, option["$ref"])
        for option in list(targets)
        if isinstance(option, Mapping) and isinstance(option.get("$ref"), str)
    )
    known = {id(target) for target in targets}
    return [(at, node) for at, node in subschemas(parameters) if id(node) in known]
