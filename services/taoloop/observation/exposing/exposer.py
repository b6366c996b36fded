"""Which part of the data prompts and answers may see, what was left out, and what was masked in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.records import quickly_made
from taoloop.observation.exposing.fitting import Cut, fit, size_bytes
from taoloop.observation.exposing.harmless import harmless_members
from taoloop.observation.exposing.redactor import Redactor, compile_redactor
from taoloop.observation.exposing.shapes import Shapes, whole_members
from taoloop.observation.stages.model import Flaw
from taoloop.tools.contract import Observe
from taoloop.tools.normalisers.place_tree import PlaceTree, place_tree
from taoloop.tools.normalisers.places import Path

MAX_LISTED: Final = 100
"""Most pointers that a verdict lists as left out, and as masked; the counts say how many there are."""

DEFAULT_MAX_EXPOSED_BYTES: Final = 32 * 1024
"""Longest JSON text that is exposed of one result, where the settings do not say."""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """The part that may be seen.

    Attributes:
        exposed: That part; absent when nothing of the data is exposed.
        omitted: Pointers of what was left out or cut short, at most `MAX_LISTED`; the items that were cut off the end
            of an array are named by the first of them.
        omitted_count: How many places were left out or cut short.
        redacted: Pointers of what was masked, at most `MAX_LISTED`; masked member names are masked here, too.
        is_cut: Whether the bound on the size left something out.
    """

    exposed: Json
    omitted: tuple[str, ...] = ()
    omitted_count: int = 0
    redacted: tuple[str, ...] = ()
    is_cut: bool = False


class Exposer:
    """Shows the part of the data that a contract allows; shared by threads.

    Args:
        exposed: What may be seen; None for everything.
        projections: What one goal needs, by name.
        redactor: Masks what must not be shown.
        harmless: Names of members in which no credential can stand.
    """

    __slots__ = ("_exposed", "_projections", "_shapes", "redactor")

    def __init__(
        self,
        exposed: PlaceTree | None,
        projections: Mapping[str, PlaceTree],
        redactor: Redactor,
        harmless: Collection[str] = (),
    ) -> None:
        self._exposed: Final = exposed
        self._projections: Final = dict(projections)
        self.redactor: Final = redactor
        whole = whole_members(exposed)
        # What can be no credential may still be a number of a person.
        unsearched = () if redactor.has_masks else harmless
        self._shapes: Final = None if whole is None else Shapes(whole, unsearched, redactor.are_clean_names)

    @property
    def projections(self) -> tuple[str, ...]:
        """Return the names of the goals that the contract knows."""
        return tuple(self._projections)

    def expose(self, data: JsonValue, projection: str = "", *, max_bytes: int = DEFAULT_MAX_EXPOSED_BYTES) -> Exposure:
        """Return what may be seen of the data, for one goal if it is named; a name that is not known changes nothing.

        Members that are not exposed are left out of objects. In an array they become null before and between exposed
        items, so that pointers into the part still point at the same item.

        Args:
            data: The normalised data; it is not changed.
            projection: Name of the goal; empty for none.
            max_bytes: Most bytes of the exposed part as compact JSON, at least 64.
        """
        if not projection and (at_once := self.at_once(data, max_bytes)) is not None:
            part, left_out = at_once
            return Exposure(exposed=part, omitted=left_out[:MAX_LISTED], omitted_count=len(left_out))
        omitted: list[str] = []
        shown: Json = data
        if self._exposed is not None:
            shown = _part(data, self._exposed, "", omitted)
        goal = self._projections.get(projection) if projection else None
        if goal is not None and shown is not ABSENT:
            shown = _part(shown, goal, "", omitted)
        listed = omitted[:MAX_LISTED]
        if shown is not ABSENT and self.redactor.is_clean(shown, max_bytes, listed):
            return Exposure(exposed=shown, omitted=tuple(listed), omitted_count=len(omitted))
        return self._masked(shown, omitted, max_bytes)

    def at_once(self, data: JsonValue, max_bytes: int) -> tuple[JsonValue, tuple[str, ...]] | None:
        """Return what may be seen of most objects, and pointers of what was left out; None says nothing.

        Nothing in it is masked or cut.
        """
        if self._shapes is None or not isinstance(data, dict) or (shape := self._shapes.of(data)) is None:
            return None
        if not self.redactor.is_clean_row(data, shape.checked, max_bytes - shape.most_bytes):
            return None
        return {name: data[name] for name in shape.shown}, shape.omitted

    def _masked(self, shown: Json, omitted: list[str], max_bytes: int) -> Exposure:
        """Return what may be seen of the part, masked, cut where it is too long."""
        if shown is ABSENT:
            return Exposure(exposed=ABSENT, omitted=self._named(omitted), omitted_count=len(omitted))
        redacted = self.redactor.redact(shown)
        value, cut = redacted.value, Cut()
        if redacted.bytes_bound > max_bytes and size_bytes(value) > max_bytes:
            value = fit(value, max_bytes, cut)
        return Exposure(
            exposed=value,
            omitted=self._named([*omitted, *_pointers(cut.places)]),
            omitted_count=len(omitted) + cut.count,
            redacted=self._named(_pointers(redacted.places)),
            is_cut=bool(cut.places),
        )

    def hide(self, flaws: Iterable[Flaw]) -> tuple[Flaw, ...]:
        """Return failures whose quoted values are without what must not be shown."""
        return tuple(map(self._hidden, flaws))

    def _hidden(self, found: Flaw) -> Flaw:
        failure = found.failure
        actual = self.redactor.excerpt(failure.actual, failure.pointer)
        expected = self.redactor.excerpt(failure.expected, "")
        pointer = self.redactor.mask_text(failure.pointer)
        # The readings of a value that must not be shown are the value in other forms.
        candidates = self.redactor.mask_texts(found.candidates) if actual is failure.actual else ()
        if (actual, expected, pointer, candidates) == (
            failure.actual,
            failure.expected,
            failure.pointer,
            found.candidates,
        ):
            return found
        shown = replace(failure, actual=actual, expected=expected, pointer=pointer)
        return replace(found, failure=shown, candidates=candidates)

    def _named(self, places: Sequence[str]) -> tuple[str, ...]:
        return self.redactor.mask_texts(places[:MAX_LISTED])


def compile_exposer(observe: Observe) -> Exposer:
    """Return what shows the data of a contract.

    Raises:
        PointerSyntaxError: A place is not a JSON pointer; an accepted contract has none such.
        SchemaRefused: A pattern of `redact` cannot be used; an accepted contract has none such.
    """
    return Exposer(
        None if observe.expose is None else place_tree(observe.expose),
        {name: place_tree(projection.expose) for name, projection in observe.projections.items()},
        compile_redactor(observe),
        harmless_members(observe),
    )


def _pointers(places: Sequence[Path]) -> list[str]:
    return [pointers.join(*place) for place in places[:MAX_LISTED]]


def _part(value: JsonValue, tree: PlaceTree, pointer: str, omitted: list[str]) -> Json:
    if tree.is_whole:
        return value
    if isinstance(value, dict):
        members: dict[str, JsonValue] = {}
        children, every = tree.children, tree.every
        for key, member in value.items():
            below = children.get(key, every)
            if below is None:
                omitted.append(pointers.below(pointer, key))
            elif below.is_whole:
                members[key] = member
            else:
                kept = _part(member, below, pointers.below(pointer, key), omitted)
                if kept is not ABSENT:
                    members[key] = kept
        return members
    if isinstance(value, list):
        parts = [_child(item, tree.child(str(at)), f"{pointer}/{at}", omitted) for at, item in enumerate(value)]
        while parts and parts[-1] is ABSENT:
            parts.pop()
        return [None if part is ABSENT else part for part in parts]
    omitted.append(pointer)
    return ABSENT


def _child(value: JsonValue, tree: PlaceTree | None, pointer: str, omitted: list[str]) -> Json:
    if tree is None:
        omitted.append(pointer)
        return ABSENT
    return _part(value, tree, pointer, omitted)
