"""Many places as one tree, so that a value is walked once for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from taoloop.core import pointers
from taoloop.tools.normalisers.places import STAR, Tokens


@dataclass(frozen=True, slots=True)
class PlaceTree:
    """Places by their tokens.

    Attributes:
        is_whole: Whether everything below this place is meant.
        children: The places below by token; what stands under a star is in each of them, too.
        every: What is meant of every other item or member; None for nothing.
    """

    is_whole: bool = False
    children: dict[str, PlaceTree] = field(default_factory=dict)
    every: PlaceTree | None = None

    def child(self, key: str) -> PlaceTree | None:
        """Return what is meant of the member or item, or None for nothing of it."""
        return self.children.get(key, self.every)


def place_tree(places: Iterable[str]) -> PlaceTree:
    """Return the tree of these pointers; the empty pointer means everything.

    Raises:
        PointerSyntaxError: A place is not a JSON pointer.
    """
    return tokens_tree(pointers.parse(place) for place in places)


def tokens_tree(places: Iterable[Tokens]) -> PlaceTree:
    """Return the tree of these places, given as tokens."""
    return _tree(sorted(set(places)), 0)


def _tree(wanted: list[Tokens], depth: int) -> PlaceTree:
    if any(len(tokens) == depth for tokens in wanted):
        return PlaceTree(is_whole=True)
    groups: dict[str, list[Tokens]] = {}
    for tokens in wanted:
        groups.setdefault(tokens[depth], []).append(tokens)
    starred = groups.pop(STAR, [])
    return PlaceTree(
        children={token: _tree([*group, *starred], depth + 1) for token, group in groups.items()},
        every=_tree(starred, depth + 1) if starred else None,
    )
