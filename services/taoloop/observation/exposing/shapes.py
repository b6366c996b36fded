"""Which members of an object are shown, remembered by their names: the answers of one tool have few sets of names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.observation.exposing.harmless import MAX_BYTES
from taoloop.tools.normalisers.place_tree import PlaceTree

MAX_SHAPES: Final = 64
"""Most sets of names that are remembered of one contract; tools that make up names have no more."""

MAX_NAMES: Final = 100
"""Largest set that is remembered."""

_MAX_CHARACTERS: Final = 4096


@dataclass(frozen=True, slots=True)
class Shape:
    """What is shown of an object with certain members.

    Attributes:
        shown: The members, in the order of the object.
        checked: Those of them whose values may hold what must be masked.
        omitted: Pointers of the others.
        most_bytes: At least as many bytes as all has as JSON but the values that are checked.
    """

    shown: tuple[str, ...]
    checked: tuple[str, ...]
    omitted: tuple[str, ...]
    most_bytes: int


class Shapes:
    """The shapes of one contract that shows members of the top level, each whole or not at all; threads may share it.

    Args:
        shown: Names of the members that are shown.
        harmless: Names of members in which nothing is ever masked, with no more bytes than `harmless.MAX_BYTES`.
        are_clean: Tells of names and pointers that nothing in them must be masked.
    """

    __slots__ = ("_are_clean", "_harmless", "_known", "_shown")

    def __init__(
        self, shown: Collection[str], harmless: Collection[str], are_clean: Callable[[Sequence[str]], bool]
    ) -> None:
        self._shown: Final = frozenset(shown)
        self._harmless: Final = frozenset(harmless)
        self._are_clean: Final = are_clean
        self._known: dict[tuple[str, ...], Shape] = {}

    def of(self, members: dict[str, JsonValue]) -> Shape | None:
        """Return the shape of an object, or None where a name must perhaps be masked or there are too many."""
        names = tuple(members)
        known = self._known.get(names)
        return self._made(names) if known is None else known

    def _made(self, names: tuple[str, ...]) -> Shape | None:
        if len(names) > MAX_NAMES or sum(map(len, names)) > _MAX_CHARACTERS:
            return None
        omitted = tuple(pointers.below("", name) for name in names if name not in self._shown)
        if not self._are_clean((*names, *omitted)):
            return None
        shown = tuple(name for name in names if name in self._shown)
        checked = tuple(name for name in shown if name not in self._harmless)
        most_bytes = 2 + sum(6 * len(name) + 4 for name in shown) + (len(shown) - len(checked)) * MAX_BYTES
        made = Shape(shown, checked, omitted, most_bytes)
        if len(self._known) < MAX_SHAPES:
            self._known[names] = made
        return made

    def __repr__(self) -> str:
        return f"Shapes({len(self._known)} of {MAX_SHAPES})"


def whole_members(tree: PlaceTree | None) -> Collection[str] | None:
    """Return the names of the members that a contract shows, None where it shows everything or parts of members."""
    if tree is None or tree.is_whole or tree.every is not None:
        return None
    return tree.children.keys() if all(each.is_whole for each in tree.children.values()) else None
