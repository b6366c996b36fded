"""Schemas of an OpenAPI document as self-contained JSON Schemas 2020-12: references inlined within bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from taoloop.core import pointers
from taoloop.tools.importing.findings import Notes
from taoloop.tools.importing.openapi.document import OpenApiDocument, as_list, as_object
from taoloop.tools.importing.openapi.keywords import (
    ANNOTATIONS,
    IN_PLACE_LISTS,
    MAPS,
    SINGLES,
    ReadKeywords,
)
from taoloop.tools.schema_refusals import subschemas

MAX_NODES: Final = 400
"""Most subschemas of one converted schema: more than a person reads, and than plans refer to."""

MAX_DEPTH: Final = 12
"""Deepest nesting of subschemas in a converted schema."""


_UNCONDITIONAL: Final = ANNOTATIONS | {"$defs", "definitions", "$schema", "$comment"}
_CUT_REMEDY: Final = "What lies below is not checked; write it out if plans refer to it."


class Direction(StrEnum):
    """Which way a value travels; what is only for the other way is left out."""

    REQUEST = "request"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class _Work:
    """A subschema that is still to be converted.

    Attributes:
        node: As written.
        into: Where its conversion goes.
        place: Where it was written.
        open_references: The references that lead to it, against circles.
        depth: Subschemas around it.
    """

    node: Mapping[str, Any]
    into: dict[str, Any]
    place: str
    open_references: tuple[str, ...]
    depth: int


class SchemaConverter:
    """Converts schemas of one document and notes what is not carried.

    Args:
        document: Whose references are followed.
        notes: Takes the findings.
    """

    def __init__(self, document: OpenApiDocument, notes: Notes) -> None:
        self._document = document
        self._notes = notes
        self._keywords = ReadKeywords(notes, is_3_0=document.version == "3.0")

    def converted(self, schema: object, place: str, direction: Direction) -> dict[str, Any] | bool:
        """Return the schema on its own, outer levels first, so that a bound cuts what lies deepest.

        Args:
            schema: As written.
            place: Where it stands.
            direction: Which way its values travel.
        """
        if isinstance(schema, bool):
            return schema
        result: dict[str, Any] = {}
        pending = deque([_Work(as_object(schema), result, place, (), 0)])
        count, cut, known = 1, 0, self._notes.count
        while pending:
            for child in self._convert(pending.popleft(), direction):
                if count >= MAX_NODES or child.depth > MAX_DEPTH:
                    cut += 1
                    self._keep_type(child)
                    continue
                count += 1
                pending.append(child)
        if cut:
            cause = f"{cut} places are cut: the schema has more than {MAX_NODES} subschemas or {MAX_DEPTH} levels"
            self._notes.warn("SCHEMA_TOO_LARGE", place, cause, _CUT_REMEDY)
        if self._notes.count > known:
            _widen(result)
        return result

    def _convert(self, work: _Work, direction: Direction) -> Iterator[_Work]:
        """Convert one subschema and yield those below it."""
        followed = self._followed(work)
        if followed is None:
            return
        node, place, references = followed
        work.into.update(self._keywords.read(node, place, is_request=direction is Direction.REQUEST))
        hidden = self._hidden(node, direction)
        if hidden and "required" in work.into:
            work.into["required"] = [name for name in work.into["required"] if name not in hidden]
        hidden |= self._keywords.refused_names(node, place)
        for slot, written, into, at in _below(node, work.into, hidden):
            if isinstance(written, bool):
                slot(written)
            elif isinstance(written, Mapping):
                slot(into)
                yield _Work(written, into, place + at, references, work.depth + 1)
        _allow_null(work.into, node, is_3_0=self._document.version == "3.0")

    def _followed(self, work: _Work) -> tuple[Mapping[str, Any], str, tuple[str, ...]] | None:
        """Return the schema behind the node's reference with the node's own words; None when it is cut."""
        node, place, references = work.node, work.place, work.open_references
        while isinstance(reference := node.get("$ref"), str):
            if reference in references:
                self._keep_type(work)
                cause = f"{reference} contains itself and is cut where it does"
                self._notes.warn("SCHEMA_RECURSION", reference.removeprefix("#"), cause, _CUT_REMEDY)
                return None
            try:
                target = self._document.at(reference)
            except KeyError:
                cause = f"the reference {reference!r} names nothing in this document"
                self._notes.block("REFERENCE", place, cause, "Bundle the document, so that references are local.")
                return None
            references, place = (*references, reference), reference.removeprefix("#")
            own = {} if self._document.version == "3.0" else {k: v for k, v in node.items() if k != "$ref"}
            node = _joined(as_object(target), own)
        return node, place, references

    def _hidden(self, node: Mapping[str, Any], direction: Direction) -> frozenset[str]:
        """Return the properties that do not travel this way."""
        mark = "readOnly" if direction is Direction.REQUEST else "writeOnly"
        properties = as_object(node.get("properties"))
        return frozenset(
            name for name, child in properties.items() if as_object(self._document.resolved(child)[0]).get(mark) is True
        )

    def _keep_type(self, work: _Work) -> None:
        """Leave of a subschema that is cut what can be told of its values without what lies below."""
        kind = as_object(self._document.resolved(work.node)[0]).get("type")
        if kind in ("object", "array", "string", "number", "integer", "boolean"):
            work.into["type"] = kind if work.node.get("nullable") is not True else [kind, "null"]


def _widen(schema: dict[str, Any]) -> None:
    """Make a schema of which parts were left out accept all that the whole one does.

    A branch that says less fits more values, so that of `oneOf` several fit, and of `not` and `if` the wrong ones.
    """
    for _, node in subschemas(schema):
        assert isinstance(node, dict)
        for keyword in ("not", "if", "then", "else", "maxContains"):
            node.pop(keyword, None)
        if "oneOf" not in node:
            continue
        if "anyOf" in node:
            node["allOf"] = [*node.get("allOf", ()), {"anyOf": node.pop("oneOf")}]
        else:
            node["anyOf"] = node.pop("oneOf")


def _below(
    node: Mapping[str, Any], into: dict[str, Any], hidden: frozenset[str]
) -> Iterator[tuple[Any, Any, dict[str, Any], str]]:
    """Yield for each subschema how it is put into its place, what is written, an empty result, and the pointer."""
    for keyword in SINGLES:
        if keyword in node:
            yield _setter(into, keyword), node[keyword], {}, f"/{keyword}"
    for keyword in IN_PLACE_LISTS:
        items = as_list(node.get(keyword))
        if items:
            into[keyword] = [{} for _ in items]
            for index, item in enumerate(items):
                yield _setter(into[keyword], index), item, into[keyword][index], f"/{keyword}/{index}"
    for keyword in MAPS:
        members = as_object(node.get(keyword))
        kept = {name: child for name, child in members.items() if keyword == "dependentSchemas" or name not in hidden}
        if members:
            into[keyword] = {}
        for name, child in kept.items():
            yield _setter(into[keyword], name), child, {}, f"/{keyword}{pointers.join(name)}"


def _setter(container: Any, key: Any) -> Any:
    def put(value: Any) -> None:
        container[key] = value

    return put


def _joined(target: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a referenced schema with what stands beside the reference: notes replace, conditions join."""
    conditions = {key: value for key, value in own.items() if key not in _UNCONDITIONAL and not key.startswith("x-")}
    notes = {key: value for key, value in own.items() if key in ANNOTATIONS}
    if not conditions:
        return {**target, **notes}
    return {**notes, **conditions, "allOf": [*as_list(conditions.get("allOf")), dict(target)]}


def _allow_null(into: dict[str, Any], node: Mapping[str, Any], *, is_3_0: bool) -> None:
    """Turn `nullable: true` of 3.0 into a type of its own."""
    if not is_3_0 or node.get("nullable") is not True:
        return
    if "enum" in into and None not in into["enum"]:
        into["enum"] = [*into["enum"], None]
    if isinstance(into.get("type"), str):
        into["type"] = [into["type"], "null"]
    elif "type" not in into and any(keyword in into for keyword in IN_PLACE_LISTS):
        notes = {key: into.pop(key) for key in tuple(into) if key in ANNOTATIONS}
        rest = dict(into)
        into.clear()
        into.update({**notes, "anyOf": [rest, {"type": "null"}]})
