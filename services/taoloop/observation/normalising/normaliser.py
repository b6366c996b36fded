"""The normaliser of one contract: made once, applied to every body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonEncodeError, JsonValue, dumps
from taoloop.observation.normalising.change import MAX_FLAWS, Change, Found, no_place
from taoloop.observation.normalising.draft import Draft
from taoloop.observation.normalising.member_changes import MemberChanges, split
from taoloop.observation.stages.model import Flaw, Outcome
from taoloop.tools.normalisers.place_tree import PlaceTree
from taoloop.tools.normalisers.places import STAR, Path, find

_NORMALISED: Final = Outcome(passed=("normalised",))


class Normaliser:
    """Makes the data from a body by the changes of one contract; shared by threads, keeps nothing of a body.

    All values are read from the body, so that the order of the changes means nothing: moved fields are taken out,
    what is not picked is left out, then every value is put in its place, outer places first.

    Args:
        changes: The contract's normalise rules.
        pick: What of the body stays where it is; None for all of it.
    """

    __slots__ = ("_deepens", "_groups", "_is_grouped", "_moves", "_only", "_pick", "_readings", "_taken", "_targets")

    def __init__(self, changes: Sequence[Change], pick: PlaceTree | None) -> None:
        self._deepens: Final = any(len(change.to) > len(change.field) for change in changes)
        # What is picked is chosen between taking out and putting in, which changes of whole objects do at once.
        self._groups, others = split(changes) if pick is None else ((), tuple(changes))
        self._is_grouped: Final = pick is None and not others
        is_flat = self._is_grouped and len(self._groups) == 1 and self._groups[0].is_of_root
        self._only: Final = self._groups[0] if is_flat else None
        moved = {change.field for change in others if change.is_moved}
        self._readings: Final = tuple(
            _Reading(change, STAR in change.field, change.field in moved)
            for change in others
            if change.conversion is not None
        )
        self._pick: Final = pick
        self._targets: Final = tuple((change.to, STAR in change.to) for change in others if change.is_moved)
        # Deepest first, so that an outer field moves without what was taken out of it.
        self._taken: Final = tuple(sorted(moved, key=len, reverse=True))
        self._moves: Final = {
            place: tuple(change for change in others if change.field == place and change.conversion is None)
            for place in moved
        }

    @property
    def only(self) -> MemberChanges | None:
        """Return the changes where they are all of members of the body itself, else None."""
        return self._only

    def apply(self, body: JsonValue) -> tuple[Json, Outcome]:
        """Return the data and what was refused; the data is ABSENT when anything was.

        A field that the body does not have is left out, and null stays null: whether they may be missing is for the
        schema to say. The body itself is not changed, and what does not change is shared with it.
        """
        data, outcome = self._applied(body)
        if self._deepens and data is not ABSENT and not _is_writable(data):
            return ABSENT, Outcome(flaws=(no_place(()),))
        return data, outcome

    def _applied(self, body: JsonValue) -> tuple[Json, Outcome]:
        found = Found()
        if self._only is not None:
            made = self._only.made(body, found)
            if found.refused:
                return ABSENT, found.outcome()
            return body if made is ABSENT else made, _NORMALISED
        return self._drafted(body, found)

    def _drafted(self, body: JsonValue, found: Found) -> tuple[Json, Outcome]:
        """Return the data where several places change: made in a copy of what is on the way to them."""
        for reading in self._readings:
            reading.read(body, found)
        groups = [(group.place, group.made(body, found)) for group in self._groups]
        if found.refused:
            return ABSENT, found.outcome()
        draft = Draft(body)
        for place, made in groups:
            if made is not ABSENT:
                draft.put_made(place, made)
        if self._is_grouped:
            return draft.root, _NORMALISED
        self._take(body, draft, found.values)
        if self._pick is not None:
            draft.prune(self._pick)
        return _placed(draft, found.values)

    def _take(self, body: JsonValue, draft: Draft, values: list[tuple[Path, JsonValue]]) -> None:
        for place in self._taken:
            moves = self._moves[place]
            if len(moves) > 1:
                draft.share()
            paths = [path for path, _value in find(body, place)] if STAR in place else [place]
            for path in paths:
                taken = draft.take(path)
                if taken is not ABSENT:
                    values.extend((_target(change, path), taken) for change in moves)
        for place, is_starred in self._targets:
            # Of a member that the schema does not declare nothing is known: it must not pass for what a rule makes.
            for path in [path for path, _value in find(draft.root, place)] if is_starred else [place]:
                draft.take(path)

    def __repr__(self) -> str:
        return f"Normaliser(readings={len(self._readings)}, moves={len(self._taken)}, groups={len(self._groups)})"


@dataclass(frozen=True, slots=True)
class _Reading:
    """A conversion with the place that it reads.

    Attributes:
        change: The rule.
        is_starred: Whether it reads several places.
        is_taken: Whether the field is taken out of the body, so that even an unchanged value is put in its place.
    """

    change: Change
    is_starred: bool
    is_taken: bool

    def read(self, body: JsonValue, found: Found) -> None:
        """Convert what stands at the place; most places have no star and lie in objects, and are followed here."""
        value = body
        for token in self.change.field if not self.is_starred else ():
            if not isinstance(value, dict):
                break
            if token not in value:
                return
            value = value[token]
        else:
            if not self.is_starred:
                self._convert(self.change.field, self.change.to, value, found)
                return
        for path, each in find(body, self.change.field):
            self._convert(path, _target(self.change, path), each, found)

    def _convert(self, path: Path, to: Path, value: JsonValue, found: Found) -> None:
        new = self.change.converted(value, path, found)
        if not found.refused and (self.is_taken or new is not value):
            found.values.append((to, new))


def _is_writable(data: JsonValue) -> bool:
    """Tell whether the data has a JSON text: a rule may have moved something deep to a place that is deeper still."""
    try:
        dumps(data)
    except JsonEncodeError:
        return False
    return True


def _target(change: Change, path: Path) -> Path:
    """Return where a value goes: each star of `to` is what the same star of `field` stood for."""
    if STAR not in change.field:
        return change.to
    stood_for: Iterator[str | int] = (key for key, token in zip(path, change.field, strict=True) if token == STAR)
    return tuple(next(stood_for) if token == STAR else token for token in change.to)


def _placed(draft: Draft, values: list[tuple[Path, JsonValue]]) -> tuple[Json, Outcome]:
    """Put the values in their places, outer ones first."""
    flaws: list[Flaw] = []
    if len(values) > 1:
        values.sort(key=_depth)
    for path, value in values:
        if not draft.put(path, value) and len(flaws) < MAX_FLAWS:
            flaws.append(no_place(path))
    return (ABSENT, Outcome(flaws=tuple(flaws))) if flaws else (draft.root, _NORMALISED)


def _depth(placed: tuple[Path, JsonValue]) -> int:
    return len(placed[0])
