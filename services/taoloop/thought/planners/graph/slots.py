"""Parameters as the planner sees them: one slot for each leaf of a tool's parameter schema."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.thought.planners.graph.language.text import keys, name_keys
from taoloop.thought.planners.graph.language.vocabulary import (
    DATE_WORDS,
    FROM_WORDS,
    ID_WORDS,
    PERSON_WORDS,
    PLACE_WORDS,
    TEXT_WORDS,
    TO_WORDS,
    UNIT_WORDS,
)
from taoloop.tools.schema_paths import Shape, types_at
from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.schemas import CompiledSchema

MAX_DEPTH: Final = 4
"""How deep objects are followed; a deeper required object is asked for as a whole."""

ALL_SOURCES: Final = frozenset({"query", "state", "step", "input"})
"""Where an argument may come from when its contract does not say."""


class SlotClass(StrEnum):
    """What kind of mention a slot takes."""

    ENUM = "enum"
    PATTERN = "pattern"
    DATE = "date"
    DATE_TIME = "date-time"
    DATE_RANGE = "date-range"
    EMAIL = "email"
    URL = "url"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    PLACE = "place"
    PERSON = "person"
    ID = "id"
    DATE_TEXT = "date-text"
    TEXT = "text"
    OTHER = "other"


_TELLING: Final = frozenset(
    {
        SlotClass.ENUM,
        SlotClass.PATTERN,
        SlotClass.EMAIL,
        SlotClass.URL,
        SlotClass.DATE,
        SlotClass.DATE_TIME,
        SlotClass.DATE_RANGE,
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
        if name in required and isinstance(member, Mapping) and isinstance(member.get("properties"), Mapping):
            own, own_schema = pointer + pointers.join(name), f"{schema_pointer}/properties{pointers.join(name)}"
            yield from _groups(member, root, own, own_schema, depth=depth + 1)
            yield _slot(str(name), member, root, own, own_schema, is_required=True)


def _leaves(
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    pointer: str,
    schema_pointer: str,
    *,
    is_required: bool,
    depth: int,
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
            if is_needed:  # an optional object is left to the tool's own defaults
                yield from _leaves(member, root, own, own_schema, is_required=True, depth=depth + 1)
            continue
        yield _slot(str(name), member, root, own, own_schema, is_required=is_needed)


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
    told = keys(_without_examples(description))
    words = dict.fromkeys(told, 0.5) | dict.fromkeys(own, 1.0)
    declared = schema.get("x-taoloop-source")
    return Slot(
        pointer=pointer,
        schema_pointer=schema_pointer,
        name=name,
        schema=schema,
        compiled=_compiled(schema, root),
        shape=types_at(dict(root), pointer),
        slot_class=_class_of(schema, frozenset(own), frozenset(told), description),
        is_required=is_required,
        sources=frozenset(declared) if isinstance(declared, list | tuple) else ALL_SOURCES,
        words=words,
        examples=_examples(description),
        direction=_direction(own),
        units=_units(f"{' '.join(own)} {description}"),
    )


def _compiled(schema: Mapping[str, Any], root: Mapping[str, Any]) -> CompiledSchema | None:
    whole = dict(schema)
    for keyword in ("$defs", "definitions"):
        if keyword in root:
            whole.setdefault(keyword, root[keyword])
    try:
        return CompiledSchema.compile(whole)
    except SchemaRefused:
        return None


_BY_FORMAT: Final = {
    "date": SlotClass.DATE,
    "date-time": SlotClass.DATE_TIME,
    "date-range": SlotClass.DATE_RANGE,
    "email": SlotClass.EMAIL,
    "idn-email": SlotClass.EMAIL,
    "uri": SlotClass.URL,
}
_BY_TYPE: Final = {"integer": SlotClass.INTEGER, "number": SlotClass.NUMBER, "boolean": SlotClass.BOOLEAN}


def type_of(schema: Mapping[str, Any]) -> str:
    """Return the one type of a schema, `null` beside it left out; empty when it has none or several."""
    declared = schema.get("type")
    if isinstance(declared, list | tuple):
        others = [item for item in declared if item != "null"]
        return str(others[0]) if len(others) == 1 else ""
    return str(declared or "")


def _class_of(schema: Mapping[str, Any], own: frozenset[str], told: frozenset[str], description: str) -> SlotClass:
    if schema.get("enum"):
        return SlotClass.ENUM
    kind = type_of(schema)
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if kind != "string":
        return SlotClass.OTHER
    if schema.get("format") in _BY_FORMAT:
        return _BY_FORMAT[str(schema["format"])]
    return SlotClass.PATTERN if schema.get("pattern") else _text_class(own, told, description)


def _text_class(own: frozenset[str], told: frozenset[str], description: str) -> SlotClass:
    """Guess from its words what a string without format, pattern and enum takes; its name counts before the rest."""
    order = (
        (SlotClass.EMAIL, frozenset({"email", "mail", "邮箱"})),
        (SlotClass.URL, frozenset({"url", "link", "website"})),
        (SlotClass.TEXT, TEXT_WORDS),
        (SlotClass.ID, ID_WORDS),
        (SlotClass.DATE_TEXT, DATE_WORDS),
        (SlotClass.PLACE, PLACE_WORDS),
        (SlotClass.PERSON, PERSON_WORDS),
    )
    for slot_class, words in order:
        if own & words:
            return slot_class
    for slot_class, words in order:
        if told & words or any(word in description for word in words if not word.isascii()):
            return slot_class
    return SlotClass.OTHER


_QUOTED_EXAMPLE = re.compile(r"['‘\"“`]([^'’\"”`\n]{1,60})['’\"”`]")
_EXAMPLE_PART = re.compile(r"\(?(?:e\.g\.|eg\.|for example|such as|例如|比如|如：).*", re.IGNORECASE | re.DOTALL)


def _examples(description: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found for found in _QUOTED_EXAMPLE.findall(description) if found.strip()))


def _without_examples(description: str) -> str:
    return _QUOTED_EXAMPLE.sub(" ", _EXAMPLE_PART.sub(" ", description))


def _direction(own: tuple[str, ...]) -> str:
    if {"from", "source", "origin", "departure", "start", "base"} & set(own):
        return "from"
    return "to" if {"to", "target", "destination", "arrival", "end", "recipient"} & set(own) else ""


DIRECTION_WORDS: Final[Mapping[str, tuple[str, ...]]] = {"from": FROM_WORDS, "to": TO_WORDS}
"""What stands before a mention for a slot with a direction."""


def _units(text: str) -> frozenset[str]:
    lowered = text.lower()
    tokens = set(re.findall(r"[a-z%]+", lowered))
    return frozenset(
        unit
        for unit, words in UNIT_WORDS.items()
        if any((word in tokens) if word.isascii() else (len(word) > 1 and word in lowered) for word in words)
    )
