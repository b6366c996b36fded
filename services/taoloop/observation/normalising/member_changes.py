"""Changes to members of one object, or of every item of a list: the common cases, made in one pass each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.observation.normalising.change import Change, Found
from taoloop.tools.normalisers.places import STAR, Path, Tokens, array_index, is_above, overlap
from taoloop.values.refusals import ValueRefused


@dataclass(frozen=True, slots=True)
class MemberChanges:
    """Changes `/a/b/name` to `/a/b/other`, or `/a/b/*/name` to `/a/b/*/other`, that no other change meets.

    Attributes:
        place: The place of the object, or of the list or object whose items have the members.
        is_each: Whether the members are those of each item.
        changes: Name in the object, name in the output, and the change.
        moved: Names that the objects lose.
    """

    place: Tokens
    is_each: bool
    changes: tuple[tuple[str, str, Change], ...]
    moved: tuple[str, ...]

    @property
    def is_of_root(self) -> bool:
        """Tell whether the object is the body itself."""
        return not self.place and not self.is_each

    def made(self, body: JsonValue, found: Found) -> Json:
        """Return what stands at the place with its members changed, the rest shared; ABSENT when there is nothing."""
        value = body
        for token in self.place:
            if not isinstance(value, dict) or token not in value:
                return ABSENT
            value = value[token]
        if not self.is_each:
            return self._object(value, self.place, found) if isinstance(value, dict) else ABSENT
        if isinstance(value, list):
            return [self._object(item, (*self.place, index), found) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: self._object(member, (*self.place, key), found) for key, member in value.items()}
        return ABSENT

    def _object(self, item: JsonValue, path: Path, found: Found) -> JsonValue:
        if not isinstance(item, dict):
            return item
        made = dict(item)
        for name in self.moved:
            made.pop(name, None)
        for name, to, change in self.changes:
            if name not in item:
                continue
            value = item[name]
            if value is not None and change.conversion is not None:
                try:
                    value = change.conversion(value)
                except ValueRefused as refusal:
                    found.refuse((*path, name), value, change, refusal)
            made[to] = value
        return made


def split(changes: Sequence[Change]) -> tuple[tuple[MemberChanges, ...], tuple[Change, ...]]:
    """Take out of the changes those that can be made object by object, the outer ones first; return the others beside.

    A group is made at once only if it and the others cannot meet: no place of theirs lies in, at or above one of its.
    """
    groups: dict[Tokens, list[Change]] = {}
    for change in changes:
        if _is_of_members(change):
            groups.setdefault(change.field[:-1], []).append(change)
    alone = {parent: group for parent, group in groups.items() if _is_alone(group, _without(changes, group))}
    taken = [change for group in alone.values() for change in group]
    made = [_made_of(parent, group) for parent, group in sorted(alone.items(), key=lambda each: len(each[0]))]
    return tuple(made), tuple(_without(changes, taken))


def _is_of_members(change: Change) -> bool:
    """Tell whether a change is one of a member of an object, with no index on the way and at most a star before it."""
    field, to = change.field, change.to
    if not field or not to or field[:-1] != to[:-1] or STAR in {field[-1], to[-1], *field[:-2]}:
        return False
    return not any(array_index(token) is not None for token in (*field, to[-1]))


def _is_alone(group: Sequence[Change], others: Iterable[Change]) -> bool:
    """Tell whether the places of a group are written to once and touched by nothing else."""
    if len({change.to for change in group}) != len(group):
        return False
    theirs = [place for other in others for place in (other.field, other.to)]
    ours = {place for change in group for place in (change.field, change.to)}
    if any(STAR in place for place in ours):  # the list or object as a whole is made anew
        ours = {place[:-2] for place in ours}
    return not any(
        overlap(their, our) or is_above(their, our) or is_above(our, their) for their in theirs for our in ours
    )


def _without(changes: Sequence[Change], some: Sequence[Change]) -> list[Change]:
    return [change for change in changes if not any(change is other for other in some)]


def _made_of(parent: Tokens, group: Sequence[Change]) -> MemberChanges:
    named = tuple((change.field[-1], change.to[-1], change) for change in group)
    # A member that the schema does not declare must not pass for what a rule makes: the new names go, too.
    moved = dict.fromkeys([name for name, to, _ in named if name != to] + [to for name, to, _ in named if name != to])
    is_each = parent[-1:] == (STAR,)
    return MemberChanges(parent[:-1] if is_each else parent, is_each, named, tuple(moved))
