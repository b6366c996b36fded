"""Whether two sources tell the same: the fields that both expose, compared one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import Absent, Json, JsonValue, equal

MAX_DIFFERENCES: Final = 20
"""Most differences that are told."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field of which two sources say different things.

    Attributes:
        pointer: The field.
        first: What the first source says.
        second: What the second one says.
    """

    pointer: str
    first: JsonValue
    second: JsonValue


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two results have in common.

    Attributes:
        same: Fields that both have, with the same value.
        different: Fields that both have, with different values, at most `MAX_DIFFERENCES`.
    """

    same: tuple[str, ...]
    different: tuple[Difference, ...]


def compare(first: Json, second: Json) -> Comparison:
    """Compare what two sources expose; a field that only one of them has, or that is null, says nothing.

    Objects are compared member by member, everything else as a whole: numbers by value, lists in their order.
    """
    same: list[str] = []
    different: list[Difference] = []
    if not isinstance(first, Absent) and not isinstance(second, Absent):
        for pointer, one, two in _shared(first, second, ""):
            if equal(one, two):
                same.append(pointer)
            else:
                different.append(Difference(pointer, one, two))
    return Comparison(tuple(same), tuple(different[:MAX_DIFFERENCES]))


def _shared(first: JsonValue, second: JsonValue, place: str) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    if not isinstance(first, dict) or not isinstance(second, dict):
        if first is not None and second is not None:
            yield place, first, second
        return
    for name, value in first.items():
        if name in second:
            yield from _shared(value, second[name], place + pointers.join(name))
