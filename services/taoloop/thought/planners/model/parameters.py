"""The parameters of a tool as a skeleton fills them: by position, required ones first, objects and lists inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue, dumps
from taoloop.plan.model import ContractValueKind
from taoloop.plan.rules.bindings import allowed_sources
from taoloop.thought.planners.model.places import Node, facets, keyword, members, required
from taoloop.tools.schema_paths import ALL_TYPES, Shape, types_at
from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import ToolSignature

MAX_DEPTH: Final = 4
"""How deep objects and lists are written out; what lies deeper can only be fetched as a whole."""
MAX_CHOICES: Final = 200
"""Most members of an enum that a skeleton can choose from."""
MAX_PARAMETERS: Final = 60
"""Most parameters on one level; optional ones beyond are not offered."""
MAX_NODES: Final = 400
"""Most parameters of a tool on all levels; objects and lists beyond can only be fetched as a whole."""


class ParameterKind(Enum):
    """How a value is written in a skeleton."""

    LEAF = auto()
    """A quote, a choice or a pointer."""
    OBJECT = auto()
    """A list of its members' values, by position."""
    LIST = auto()
    """A list of values of one kind."""
    OPAQUE = auto()
    """Only a pointer: its inside is not described, or lies too deep."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that the parameter's own schema offers.

    Attributes:
        number: What the skeleton writes: 1 and up for the members of an enum, 0 for the default or the constant.
        kind: Which keyword holds it.
        pointer: Where, in the tool's parameter schema.
        value: The value.
    """

    number: int
    kind: ContractValueKind
    pointer: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, or one member of it.

    Attributes:
        name: Its own name; empty for the item of a list.
        place: Pointer in the arguments, with `0` for the items of lists.
        kind: How it is written.
        is_required: Whether what it belongs to needs it.
        schema: Its own schema, with everything that always holds for it laid together.
        compiled: That schema of a leaf, compiled; None when it cannot be used alone.
        shape: What may stand there.
        sources: Kinds of source that its contract allows.
        choices: Values that its schema offers.
        members: The members of an object, or the one item of a list.
        description: What its schema says about it.
    """

    name: str
    place: str
    kind: ParameterKind
    is_required: bool
    schema: Mapping[str, Any]
    compiled: CompiledSchema | None
    shape: Shape
    sources: frozenset[str]
    choices: tuple[Choice, ...] = ()
    members: tuple[Parameter, ...] = ()
    description: str = ""

    @property
    def is_boolean(self) -> bool:
        """Whether nothing but true and false can stand there."""
        return self.shape.types - {"null"} == {"boolean"}


def parameters_of(tool: ToolSignature) -> tuple[Parameter, ...]:
    """Return the parameters of a tool, required ones first, else in the order of its schema."""
    root = dict(tool.parameters)
    return _Reading(root).members(list(facets("", root, root)), "", 1)


@dataclass(slots=True)
class _Reading:
    """One pass over a tool's parameter schema, which may be recursive."""

    root: dict[str, Any]
    left: int = MAX_NODES

    def members(self, found: list[tuple[str, Node]], place: str, depth: int) -> tuple[Parameter, ...]:
        """Return the properties of an object."""
        needed = set(required(found))
        declared = list(members(found).items())[: max(MAX_PARAMETERS, len(needed))]
        self.left -= len(declared)
        return tuple(
            self.parameter(name, (place + pointers.join(name), at, schema), name in needed, depth)
            for name, (at, schema) in declared
        )

    def parameter(self, name: str, where: tuple[str, str, Any], is_required: bool, depth: int) -> Parameter:
        """Return one parameter; `where` is its place in the arguments, in the schema, and its schema."""
        place, location, node = where
        found = list(facets(location, node, self.root))
        shape = types_at(self.root, place) or Shape(types=ALL_TYPES)
        schema = _laid_together(found)
        kind, inner = self._inside(found, place, shape, depth)
        return Parameter(
            name=name,
            place=place,
            kind=kind,
            is_required=is_required,
            schema=schema,
            compiled=_compiled(schema, self.root) if kind is ParameterKind.LEAF else None,
            shape=shape,
            sources=frozenset(allowed_sources(schema)),
            choices=_choices(found),
            members=inner,
            description=str(schema.get("description", "")),
        )

    def _inside(
        self, found: list[tuple[str, Node]], place: str, shape: Shape, depth: int
    ) -> tuple[ParameterKind, tuple[Parameter, ...]]:
        real = shape.types - {"null"}
        if real not in ({"object"}, {"array"}):
            return ParameterKind.LEAF, ()
        is_open = depth < MAX_DEPTH and self.left > 0
        if real == {"object"}:
            inner = self.members(found, place, depth + 1) if is_open else ()
            return (ParameterKind.OBJECT, inner) if inner else (ParameterKind.OPAQUE, ())
        items = keyword(found, "items") if is_open else None
        if items is None:
            return ParameterKind.OPAQUE, ()
        self.left -= 1
        return ParameterKind.LIST, (self.parameter("", (f"{place}/0", *items), True, depth + 1),)


def _laid_together(found: list[tuple[str, Node]]) -> dict[str, Any]:
    laid: dict[str, Any] = {}
    for _, node in found:
        for key, value in node.items():
            if key not in {"$ref", "allOf", "anyOf", "oneOf"}:
                laid.setdefault(key, value)
    return laid or {key: value for _, node in found for key, value in node.items()}


def alone(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a schema that can be used without the rest, with the definitions that it may refer to."""
    shared: dict[str, Any] = {key: root[key] for key in ("$defs", "definitions") if key in root}
    return {**shared, **schema} if "$ref" in dumps(schema) else dict(schema)


def _compiled(schema: Mapping[str, Any], root: dict[str, Any]) -> CompiledSchema | None:
    try:
        return CompiledSchema.compile(alone(schema, root))
    except SchemaRefused:
        return None


def _choices(found: list[tuple[str, Node]]) -> tuple[Choice, ...]:
    offered: list[Choice] = []
    for kind in (ContractValueKind.CONST, ContractValueKind.DEFAULT):
        if not offered and (held := keyword(found, kind.value)) is not None:
            offered.append(Choice(0, kind, *held))
    if (held := keyword(found, "enum")) is not None:
        at, values = held
        offered += [
            Choice(number, ContractValueKind.ENUM, f"{at}/{number - 1}", value)
            for number, value in enumerate(values[:MAX_CHOICES], 1)
        ]
    return tuple(offered)
