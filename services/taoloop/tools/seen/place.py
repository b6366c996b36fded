"""One place of a body as it was seen, and what a body has that was not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import NoneType
from typing import Any, Final

from taoloop.core.exact_json import JsonValue

MAX_NOVELTIES: Final = 20
"""Most novelties that are told of one body."""

STAR: Final = "*"
"""Stands for every item of an array, and for every member of an object whose member names are data."""

_TYPES: Final[Mapping[str, frozenset[type]]] = {
    "null": frozenset({NoneType}),
    "boolean": frozenset({bool}),
    "number": frozenset({int, float, Decimal}),
    "string": frozenset({str}),
    "array": frozenset({list}),
    "object": frozenset({dict}),
}
TYPE_NAMES: Final = frozenset(_TYPES)
"""The names of the JSON types, whole and other numbers being one."""

_NAMES: Final = {python: name for name, types in _TYPES.items() for python in types}

Path = tuple[Any, ...]
"""The way to a place from the root, as nested pairs `((…, "a"), "*")`: one small tuple for each step down."""

ROOT: Final[Path] = ()


class NoveltyKind(StrEnum):
    """What is new."""

    FIELD = "field"
    TYPE = "type"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Novelty:
    """Something that was not seen before.

    Attributes:
        kind: What it is.
        tokens: Where, with `*` for items and for members that are no fields.
        value: The new value; the name of the new JSON type, also for a field.
    """

    kind: NoveltyKind
    tokens: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Place:
    """What was seen at one place.

    Attributes:
        types: JSON types, whole and other numbers being one; empty when none is known, which makes no type new.
        fields: Members by name.
        is_closed: Whether another member would be new; else only the known ones are looked at.
        members: What every member is where the names are data; None where they are fields.
        items: What every item is; None when none was seen.
        values: The enumerated texts; None where the text is free.
        python_types: The same types as Python has them, made once.
        is_deep: Whether there is anything to look at below, known once.
    """

    types: frozenset[str] = frozenset()
    fields: Mapping[str, Place] = field(default_factory=dict)
    is_closed: bool = False
    members: Place | None = None
    items: Place | None = None
    values: frozenset[str] | None = None
    python_types: frozenset[type] = field(init=False, repr=False, compare=False)
    is_deep: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        python = frozenset[type]().union(*(_TYPES[name] for name in self.types))
        object.__setattr__(self, "python_types", python)
        object.__setattr__(self, "is_deep", bool(self.fields or self.is_closed or self.members or self.items))

    def novelties(self, value: JsonValue) -> tuple[Novelty, ...]:
        """Return what the value has that was not seen here, at most `MAX_NOVELTIES`, each once.

        The work is proportional to the value and far below that of reading it.
        """
        found: dict[tuple[NoveltyKind, Path, str], None] = {}
        _meet(self, value, ROOT, found)
        return tuple(Novelty(kind, _tokens(path), told) for kind, path, told in found) if found else ()


_Found = dict[tuple[NoveltyKind, Path, str], None]


def _meet(place: Place, value: JsonValue, path: Path, found: _Found) -> None:
    kind = type(value)
    if place.python_types and kind not in place.python_types:
        _note(found, NoveltyKind.TYPE, path, _NAMES.get(kind, "null"))
    elif kind is str:
        if place.values is not None and value not in place.values:
            _note(found, NoveltyKind.VALUE, path, str(value))
    elif place.is_deep:
        _meet_below(place, value, path, found)


def _meet_below(place: Place, value: JsonValue, path: Path, found: _Found) -> None:
    if isinstance(value, dict):
        if place.members is None:
            _meet_fields(place, value, path, found)
        else:
            below = (path, STAR)
            for member in value.values():
                _meet(place.members, member, below, found)
    elif isinstance(value, list) and place.items is not None:
        below = (path, STAR)
        for item in value:
            _meet(place.items, item, below, found)


def _meet_fields(place: Place, value: dict[str, JsonValue], path: Path, found: _Found) -> None:
    """Meet each member as `_meet` does; most are known scalars, which need no call and no path."""
    known_fields, is_closed = place.fields, place.is_closed
    for name, member in value.items():
        known = known_fields.get(name)
        if known is None:
            if is_closed:
                shown = name if is_field_name(name) else STAR
                _note(found, NoveltyKind.FIELD, (path, shown), _NAMES.get(type(member), "null"))
            continue
        kind = type(member)
        if kind in known.python_types or not known.python_types:
            if kind is str:
                if known.values is not None and member not in known.values:
                    _note(found, NoveltyKind.VALUE, (path, name), str(member))
            elif known.is_deep:
                _meet_below(known, member, (path, name), found)
        else:
            _note(found, NoveltyKind.TYPE, (path, name), _NAMES.get(kind, "null"))


def _note(found: _Found, kind: NoveltyKind, path: Path, told: str) -> None:
    if len(found) < MAX_NOVELTIES:
        found[kind, path, told] = None


def _tokens(path: Path) -> tuple[str, ...]:
    tokens: list[str] = []
    while path:
        path, token = path
        tokens.append(token)
    return tuple(reversed(tokens))


def is_field_name(name: str) -> bool:
    """Tell whether a member's name is one of a field, and not data such as an id, a date or an address.

    >>> [is_field_name(name) for name in ("address_line_2", "状态", "ORD-20260308", "a@b.example", "")]
    [True, True, False, False, False]
    """
    if not 0 < len(name) <= _MAX_NAME_CHARACTERS or not (name[0].isalpha() or name[0] in "_$@"):
        return False
    digits = 0
    for character in name[1:]:
        if character.isdigit():
            digits += 1
        elif not (character.isalpha() or character in "_-.$"):
            return False
    return digits <= _MAX_NAME_DIGITS


_MAX_NAME_CHARACTERS: Final = 64
_MAX_NAME_DIGITS: Final = 3
