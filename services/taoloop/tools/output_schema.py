"""The derived output schema: what a tool's data looks like after normalising, for reference checks and prompts."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from taoloop.core import pointers
from taoloop.tools.contract import NormaliseAs, NormaliseRule
from taoloop.tools.schema_refusals import resolve_local

_FORMATS = {NormaliseAs.DATETIME: "date-time", NormaliseAs.DATE: "date"}


@dataclass(frozen=True, slots=True)
class DerivationProblem:
    """A normalise rule that does not fit the response schema.

    Attributes:
        index: Position of the rule.
        message: One sentence.
    """

    index: int
    message: str


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The result of a derivation.

    Attributes:
        schema: JSON Schema of the normalised data; rules with problems are left out.
        problems: Rules that could not be applied.
    """

    schema: Mapping[str, Any] | bool
    problems: tuple[DerivationProblem, ...]


def derive(response: Mapping[str, Any] | bool, rules: Sequence[NormaliseRule]) -> OutputSchema:
    """Apply the normalise rules to the response schema; the input stays as it is."""
    if not rules:
        return OutputSchema(response, ())
    schema: Any = copy.deepcopy(response)
    problems: list[DerivationProblem] = []
    for index, rule in enumerate(rules):
        try:
            _apply(schema, rule)
        except _Misfit as exc:
            problems.append(DerivationProblem(index, str(exc)))
    return OutputSchema(schema, tuple(problems))


class _Misfit(Exception):
    """The rule does not fit."""


def _apply(root: Any, rule: NormaliseRule) -> None:
    source = pointers.parse(rule.field)
    parent, is_always_there = _object_at(root, source[:-1], rule.field)
    holder = _declaring(root, parent, source[-1])
    if holder is None:
        raise _Misfit(f"the response schema has no field {rule.field}")
    is_required = is_always_there and source[-1] in holder.get("required", ())
    converted = _converted(root, holder["properties"][source[-1]], rule)
    if rule.to == rule.field:
        holder["properties"][source[-1]] = converted
        return
    _refuse_taken(root, rule)
    del holder["properties"][source[-1]]
    if source[-1] in holder.get("required", ()):
        holder["required"] = [name for name in holder["required"] if name != source[-1]]
    _place(root, pointers.parse(rule.to), converted, is_required=is_required)


def _object_at(root: Any, tokens: Sequence[str], field: str) -> tuple[dict[str, Any], bool]:
    """Return the object schema at a path of property names, and whether the path is always there."""
    node, is_required = _inlined(root, root), True
    for token in tokens:
        holder = _declaring(root, node, token)
        if holder is None:
            raise _Misfit(f"the response schema has no field {field}")
        is_required = is_required and token in holder.get("required", ())
        holder["properties"][token] = _inlined(root, holder["properties"][token])
        node = holder["properties"][token]
    return node, is_required


def _inlined(root: Any, node: Any) -> dict[str, Any]:
    """Return the schema with its reference written out, so that a change stays in this place."""
    for _ in range(16):
        if not isinstance(node, dict) or "$ref" not in node:
            break
        target = copy.deepcopy(resolve_local(root, node["$ref"]))
        beside = {key: value for key, value in node.items() if key != "$ref"}
        merged = {**target, **beside} if isinstance(target, dict) else beside
        if node is root:
            node.clear()
            node.update(merged)
        else:
            node = merged
    return node if isinstance(node, dict) else {}


def _declaring(root: Any, node: dict[str, Any], token: str) -> dict[str, Any] | None:
    """Return the schema that declares the property: the node, or a part of its allOf."""
    if token in node.get("properties", {}):
        return node
    parts = node.get("allOf", [])
    for index, part in enumerate(parts):
        parts[index] = _inlined(root, part)
        found = _declaring(root, parts[index], token)
        if found is not None:
            return found
    return None


def _converted(root: Any, written: Any, rule: NormaliseRule) -> dict[str, Any]:
    node = _inlined(root, written)
    if rule.enum is None and rule.convert is None:
        return node
    kept: dict[str, Any] = {key: node[key] for key in ("title", "description") if key in node}
    is_nullable = isinstance(node.get("type"), list) and "null" in node["type"]
    if rule.convert is not None:
        return {**kept, "type": ["string", "null"] if is_nullable else "string", "format": _FORMATS[rule.convert]}
    assert rule.enum is not None
    values = list(dict.fromkeys(rule.enum.values()))
    return {**kept, "enum": [*values, None] if is_nullable else values}


def _refuse_taken(root: Any, rule: NormaliseRule) -> None:
    node = root
    for token in pointers.parse(rule.to):
        holder = _declaring(root, _inlined(root, node), token) if isinstance(node, dict) else None
        if holder is None:
            return
        node = holder["properties"][token]
    raise _Misfit(f"the output already has a field {rule.to}")


def _place(root: dict[str, Any], tokens: Sequence[str], schema: dict[str, Any], *, is_required: bool) -> None:
    node = root
    for index, token in enumerate(tokens):
        if is_required and token not in node.get("required", ()):
            node["required"] = [*node.get("required", ()), token]
        members = node.setdefault("properties", {})
        if index == len(tokens) - 1:
            members[token] = schema
        elif token not in members:
            members[token] = {"type": "object", "properties": {}}
        else:
            members[token] = _inlined(root, members[token])
        node = members[token]
