"""Changes to one member of every item of a list, or of every member of an object: the common case, made in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.observation.normalising.change import Change, Found
from taoloop.tools.normalisers.places import STAR, Tokens, array_index, is_above, overlap


@dataclass(frozen=True, slots=True)
class ItemChanges:
    """Changes `/a/b/*/name` to `/a/b/*/other` of one container that nothing else reads from or writes to.

    Attributes:
        container: The place of the list or object.
        changes: Name in the item, name in the output, and the change.
        moved: Names that the items lose.
    """

    container: Tokens
    changes: tuple[tuple[str, str, Change], ...]
    moved: tuple[str, ...]

    def made(self, body: JsonValue, found: Found) -> Json:
        """Return the container with its items changed, those that stay the same shared; ABSENT when there is none."""
        value = body
        for token in self.container:
            if not isinstance(value, dict) or token not in value:
                return ABSENT
            value = value[token]
        if isinstance(value, list):
            return [self._item(item, index, found) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: self._item(member, key, found) for key, member in value.items()}
        return ABSENT

    def _item(self, item: JsonValue, key: str | int, found: Found) -> JsonValue:
        if not isinstance(item, dict):
            return item
        values: list[tuple[str, JsonValue]] = []
        for name, to, change in self.changes:
            if name in item:
                values.append((to, change.converted(item[name], (*self.container, key, name), found)))
        if not values and not any(name in item for name in self.moved):
            return item
        made = dict(item)
        for name in self.moved:
            made.pop(name, None)
        made.update(values)
        return made


def split(changes: Sequence[Change]) -> tuple[tuple[ItemChanges, ...], tuple[Change, ...]]:
    """Take out of the changes those that can be made item by item, by their container; return the others beside."""
    groups: dict[Tokens, list[Change]] = {}
    for change in changes:
        if _is_of_items(change):
            groups.setdefault(change.field[:-2], []).append(change)
    alone = {place: group for place, group in groups.items() if not _is_touched(place, _without(changes, group))}
    taken = [change for group in alone.values() for change in group]
    return tuple(_made_of(place, group) for place, group in alone.items()), tuple(_without(changes, taken))


def _is_of_items(change: Change) -> bool:
    """Tell whether a change is one of a member of each item, with no other star and no index on the way."""
    field, to = change.field, change.to
    if field[-2:-1] != (STAR,) or field[-1] == STAR or to[-1] == STAR or to[:-1] != field[:-1]:
        return False
    return not any(token == STAR or array_index(token) is not None for token in (*field[:-2], field[-1], to[-1]))


def _is_touched(place: Tokens, others: Iterable[Change]) -> bool:
    for other in others:
        for tokens in (other.field, other.to):
            if overlap(tokens, place) or is_above(tokens, place) or is_above(place, tokens):
                return True
    return False


def _without(changes: Sequence[Change], some: Sequence[Change]) -> list[Change]:
    return [change for change in changes if not any(change is other for other in some)]


def _made_of(place: Tokens, group: Sequence[Change]) -> ItemChanges:
    named = tuple((change.field[-1], change.to[-1], change) for change in group)
    # A member that the schema does not declare must not pass for what a rule makes: the new names go, too.
    moved = dict.fromkeys([name for name, to, _ in named if name != to] + [to for name, to, _ in named if name != to])
    return ItemChanges(place, named, tuple(moved))
