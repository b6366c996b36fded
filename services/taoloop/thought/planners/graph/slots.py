"""Parameters as the planner sees them: one slot for each leaf of a tool's parameter schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.thought.planners.graph.language.described import (
    SlotClass,
    class_of,
    direction_of,
    examples_of,
    has_mask,
    scale_of,
    type_of,
    units_of,
    without_examples,
    without_rates,
)
from taoloop.thought.planners.graph.language.roles import Role, role_of
from taoloop.thought.planners.graph.language.text import keys, name_keys
from taoloop.tools.schema_paths import Shape, types_at
from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.schemas import CompiledSchema

MAX_DEPTH: Final = 4
"""How deep objects are followed; a deeper required object is asked for as a whole."""

ALL_SOURCES: Final = frozenset({"query", "state", "step", "input"})
"""Where an argument may come from when its contract does not say."""

_TELLING: Final = frozenset(
    {
        SlotClass.ENUM,
        SlotClass.PATTERN,
        SlotClass.EMAIL,
        SlotClass.URL,
        SlotClass.DATE,
        SlotClass.DATE_TIME,
        SlotClass.DATE_RANGE,
        SlotClass.TIME,
    }
)
TELLING_MINIMUM: Final = 100_000
"""An integer from here on is a name, not a quantity."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One leaf parameter of a tool.

    Attributes:
        pointer: Its place in the arguments.
        schema_pointer: Its place in the parameter schema.
        name: The last token of the pointer.
        schema: Its JSON Schema.
        compiled: The same, ready to judge values; None when it cannot be compiled alone.
        shape: What may stand there by its schema; None when nothing can.
        slot_class: What kind of mention it takes.
        is_required: Whether the call cannot be made without it.
        sources: Which of `query`, `state`, `step` and `input` it may come from.
        words: Comparable words of its name and description, with a weight by how few sibling slots share them.
        examples: Values that its description quotes.
        direction: `from`, `to` or empty, by its name.
        units: Keys of `vocabulary.UNIT_WORDS` that its name or description speaks of.
        own: Comparable words of its name alone.
        told: Comparable words of its description, without the values that it gives.
        has_mask: Whether its description shows the form of a day or a time, so that words are brought into it.
        scale: For a number: `percent` or `fraction` where the schema says on which scale shares are given, else empty.
        group: Pointer of the innermost optional object that holds it; empty outside of all.
        is_needed: Whether its object cannot do without it, once the object is given.
        item: For a list, one member of it, placed at index 0.
        role: For a text, what part it plays.
        usual: Comparable words of its default.
        siblings: Comparable words of the names of the tool's other parameters.
        tool_words: Comparable words of the whole tool but its examples: a phrase of them alone is no value.
    """

    pointer: str
    schema_pointer: str
    name: str
    schema: Mapping[str, Any]
    compiled: CompiledSchema | None
    shape: Shape | None
    slot_class: SlotClass
    is_required: bool
    sources: frozenset[str]
    words: Mapping[str, float]
    examples: tuple[str, ...]
    direction: str
    units: frozenset[str]
    own: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    has_mask: bool = False
    scale: str = ""
    group: str = ""
    is_needed: bool = True
    item: Slot | None = None
    role: Role = Role.OTHER
    tool_words: frozenset[str] = frozenset()
    usual: frozenset[str] = frozenset()
    siblings: frozenset[str] = frozenset()

    def accepts(self, value: JsonValue) -> bool:
        """Tell whether the value keeps the slot's schema."""
        return self.compiled is not None and self.compiled.is_valid(value)

    @property
    def is_telling(self) -> bool:
        """Whether the schema alone tells which mentions fit, without a word beside them."""
        if self.slot_class is SlotClass.INTEGER:
            minimum = self.schema.get("minimum")
            return isinstance(minimum, int | float | Decimal) and minimum >= TELLING_MINIMUM
        return self.slot_class in _TELLING

    @property
    def enum(self) -> tuple[JsonValue, ...]:
        """Return the members of the schema's enum; empty when it has none."""
        members = self.schema.get("enum")
        return tuple(members) if isinstance(members, list | tuple) else ()

    @property
    def default(self) -> Json:
        """Return the schema's default, or ABSENT."""
        value: Json = self.schema.get("default", ABSENT)
        return value


def compile_slots(parameters: Mapping[str, Any]) -> tuple[Slot, ...]:
    """Return the leaves of a parameter schema, in its order, required objects followed to `MAX_DEPTH`."""
    slots = tuple(_leaves(parameters, parameters, "", "", is_required=True, depth=0))
    sharing = Counter(word for slot in slots for word in slot.words)
    return tuple(
        replace(slot, words={word: weight / sharing[word] for word, weight in slot.words.items()}) for slot in slots
    )


def with_tool_words(slots: tuple[Slot, ...], words: frozenset[str]) -> tuple[Slot, ...]:
    """Return the slots of a tool that says these words of itself."""
    known = words.union(*(slot.own | slot.told for slot in slots))
    names = Counter(word for slot in slots for word in slot.own)
    return tuple(
        replace(
            slot,
            tool_words=known,
            siblings=frozenset(word for word, count in names.items() if count > (word in slot.own)),
            item=replace(slot.item, tool_words=known) if slot.item else None,
        )
        for slot in slots
    )


def compile_groups(parameters: Mapping[str, Any]) -> tuple[Slot, ...]:
    """Return the required objects of a parameter schema whose members are slots of their own, inner ones first."""
    return tuple(_groups(parameters, parameters, "", "", depth=0))


def _groups(
    schema: Mapping[str, Any], root: Mapping[str, Any], pointer: str, schema_pointer: str, *, depth: int
) -> Iterator[Slot]:
    properties, required = schema.get("properties"), schema.get("required")
    if depth >= MAX_DEPTH or not isinstance(properties, Mapping) or not isinstance(required, list | tuple):
        return
    for name, member in properties.items():
        if name not in required or not isinstance(member, Mapping):
            continue
        own, own_schema = pointer + pointers.join(name), f"{schema_pointer}/properties{pointers.join(name)}"
        items = member.get("items")
        if isinstance(member.get("properties"), Mapping):
            yield from _groups(member, root, own, own_schema, depth=depth + 1)
            yield _slot(str(name), member, root, own, own_schema, is_required=True)
        elif isinstance(items, Mapping) and isinstance(items.get("properties"), Mapping):
            yield from _groups(items, root, f"{own}/0", f"{own_schema}/items", depth=depth + 1)
            yield _slot(str(name), member, root, own, own_schema, is_required=True)


def _leaves(  # noqa: PLR0913 - a recursion over a schema carries where it stands
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    pointer: str,
    schema_pointer: str,
    *,
    is_required: bool,
    depth: int,
    group: str = "",
) -> Iterator[Slot]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    required = schema.get("required")
    names = set(required) if isinstance(required, list | tuple) else set()
    for name, member in properties.items():
        if not isinstance(member, Mapping):
            continue
        own, own_schema = pointer + pointers.join(name), f"{schema_pointer}/properties{pointers.join(name)}"
        is_needed = is_required and name in names
        if isinstance(member.get("properties"), Mapping) and depth < MAX_DEPTH:
            inner = group if is_needed or (group and name in names) else own
            yield from _leaves(member, root, own, own_schema, is_required=is_needed, depth=depth + 1, group=inner)
            continue
        items = member.get("items")
        if isinstance(items, Mapping) and isinstance(items.get("properties"), Mapping) and depth < MAX_DEPTH:
            inner = group if is_needed or (group and name in names) else own
            first, first_schema = f"{own}/0", f"{own_schema}/items"
            yield from _leaves(items, root, first, first_schema, is_required=is_needed, depth=depth + 1, group=inner)
            continue
        slot = _slot(str(name), member, root, own, own_schema, is_required=is_needed)
        yield replace(slot, group=group, is_needed=name in names)


def _slot(
    name: str,
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    pointer: str,
    schema_pointer: str,
    *,
    is_required: bool,
) -> Slot:
    description = str(schema.get("description") or "")
    own = name_keys(name)
    told = keys(without_rates(without_examples(description)))
    words = dict.fromkeys(told, 0.5) | dict.fromkeys(own, 1.0)
    declared = schema.get("x-taoloop-source")
    return Slot(
        pointer=pointer,
        schema_pointer=schema_pointer,
        name=name,
        schema=schema,
        compiled=_compiled(schema, root),
        shape=types_at(dict(root), pointer),
        slot_class=class_of(schema, frozenset(own), frozenset(told), description),
        own=frozenset(own),
        told=frozenset(told),
        has_mask=has_mask(description),
        scale=scale_of(schema, description, frozenset(own)),
        item=_item(name, schema, root, pointer, schema_pointer),
        role=role_of(own, told),
        usual=frozenset(keys(str(schema.get("default") or ""))),
        is_required=is_required,
        sources=frozenset(declared) if isinstance(declared, list | tuple) else ALL_SOURCES,
        words=words,
        examples=examples_of(description),
        direction=direction_of(own) or direction_of(name_keys(pointer.rpartition("/")[0].replace("/0", ""))),
        units=units_of(own, description),
    )


def _item(
    name: str, schema: Mapping[str, Any], root: Mapping[str, Any], pointer: str, schema_pointer: str
) -> Slot | None:
    items = schema.get("items")
    if type_of(schema) != "array" or not isinstance(items, Mapping) or isinstance(items.get("properties"), Mapping):
        return None
    told = " ".join(str(part.get("description") or "") for part in (schema, items))
    member = {**items, "description": told}
    return _slot(name, member, root, f"{pointer}/0", f"{schema_pointer}/items", is_required=True)


def _compiled(schema: Mapping[str, Any], root: Mapping[str, Any]) -> CompiledSchema | None:
    whole = dict(schema)
    for keyword in ("$defs", "definitions"):
        if keyword in root:
            whole.setdefault(keyword, root[keyword])
    try:
        return CompiledSchema.compile(whole)
    except SchemaRefused:
        return None
