"""Makes a value fit into a number of bytes: it stays JSON, and what is cut is counted."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import Final

from taoloop.core.exact_json import JsonValue, dumps
from taoloop.tools.normalisers.places import Path

_ELLIPSIS: Final = "…"
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
_SHORTEST_BYTES: Final = 24
"""Fewest bytes for which a text, an array or an object is cut and not left out."""


@dataclass(slots=True)
class Cut:
    """What was left out or cut short.

    Attributes:
        places: Where, in the order of the work; the items at the end of an array are named by the first of them.
        count: How many texts, items and members.
    """

    places: list[Path] = field(default_factory=list)
    count: int = 0

    def add(self, path: Path, count: int = 1) -> None:
        """Note a place, and for how many it stands."""
        self.places.append(path)
        self.count += count


def size_bytes(value: JsonValue) -> int:
    """Return the length of the compact JSON text in UTF-8."""
    return len(dumps(value).encode())


def fit(value: JsonValue, max_bytes: int, cut: Cut) -> JsonValue:
    """Return the value, or as much of it as fits into the bytes of compact JSON.

    Texts are cut between characters and end with an ellipsis, arrays keep their first items, objects give every
    member its share, so that one long text does not push out the rest. A number is never cut.

    Args:
        value: The value; it is not changed.
        max_bytes: At least 2.
        cut: Takes down what was cut.
    """
    return _Fitting(cut).fitted(value, max_bytes, ())


class _Fitting:
    """One fitting, with the sizes of the containers that were measured."""

    def __init__(self, cut: Cut) -> None:
        self._cut = cut
        self._sizes: dict[int, int] = {}

    def fitted(self, value: JsonValue, max_bytes: int, path: Path) -> JsonValue:
        if self._size(value) <= max_bytes:
            return value
        if isinstance(value, dict):
            return self._object(value, max_bytes, path)
        if isinstance(value, list):
            return self._array(value, max_bytes, path)
        self._cut.add(path)
        return _cut_text(value, max_bytes) if isinstance(value, str) else None

    def _array(self, items: list[JsonValue], max_bytes: int, path: Path) -> list[JsonValue]:
        kept: list[JsonValue] = []
        left = max_bytes - 2
        for index, item in enumerate(items):
            comma = 1 if kept else 0
            size = self._size(item)
            if size + comma <= left:
                kept.append(item)
                left -= size + comma
                continue
            if left - comma >= _SHORTEST_BYTES and isinstance(item, str | list | dict):
                kept.append(self.fitted(item, left - comma, (*path, index)))
                index += 1  # noqa: PLW2901  # the item is there, in part
            if index < len(items):
                self._cut.add((*path, index), len(items) - index)
            break
        return kept

    def _object(self, members: dict[str, JsonValue], max_bytes: int, path: Path) -> dict[str, JsonValue]:
        """Serve the small members first; each of the others gets an equal share of what is left then."""
        sizes = {key: self._size(member) for key, member in members.items()}
        keys = {key: size_bytes(key) + 2 for key in members}  # a colon, and a comma or what stands for it
        left = max_bytes - 1
        chosen: dict[str, JsonValue] = {}
        waiting = sorted(members, key=lambda key: sizes[key] + keys[key])
        for position, key in enumerate(waiting):
            share = left // (len(waiting) - position) - keys[key]
            if sizes[key] > share:
                share = left - keys[key] if position == len(waiting) - 1 else share
            if sizes[key] <= share:
                chosen[key] = members[key]
            elif share >= _SHORTEST_BYTES and isinstance(members[key], str | list | dict):
                chosen[key] = self.fitted(members[key], share, (*path, key))
            else:
                continue
            left -= keys[key] + self._size(chosen[key])
        for key in members:
            if key not in chosen:
                self._cut.add((*path, key))
        return {key: chosen[key] for key in members if key in chosen}

    def _size(self, value: JsonValue) -> int:
        if not isinstance(value, dict | list):
            return size_bytes(value)
        known = self._sizes.get(id(value))
        if known is None:
            known = self._sizes[id(value)] = self._measured(value)
        return known

    def _measured(self, value: dict[str, JsonValue] | list[JsonValue]) -> int:
        commas = max(0, len(value) - 1)
        if isinstance(value, list):
            return 2 + commas + sum(map(self._size, value))
        return 2 + commas + sum(size_bytes(key) + 1 + self._size(member) for key, member in value.items())


def _cut_text(text: str, max_bytes: int) -> str:
    """Return the longest beginning that fits with its ellipsis; marks and joined signs stay with their character."""
    left = max_bytes - size_bytes(_ELLIPSIS)
    end = 0
    for end, character in enumerate(text):  # noqa: B007  # where it stops is what is looked for
        left -= size_bytes(character) - 2
        if left < 0:
            break
    while end and _belongs_to_last(text, end):
        end -= 1
    return text[:end] + _ELLIPSIS


def _belongs_to_last(text: str, place: int) -> bool:
    """Tell whether the character at the place is a part of the one before it."""
    return bool(unicodedata.combining(text[place])) or text[place] in _JOINERS or text[place - 1] == "\u200d"
