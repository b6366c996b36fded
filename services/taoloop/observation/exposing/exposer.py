"""Which part of the data prompts and answers may see, what was left out, and what was masked in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.observation.exposing.fitting import Cut, fit, size_bytes
from taoloop.observation.exposing.redactor import Redactor, compile_redactor
from taoloop.observation.stages.model import Flaw
from taoloop.tools.contract import Observe
from taoloop.tools.normalisers.place_tree import PlaceTree, place_tree
from taoloop.tools.normalisers.places import Path

MAX_LISTED: Final = 100
"""Most pointers that a verdict lists as left out, and as masked; the counts say how many there are."""

DEFAULT_MAX_EXPOSED_BYTES: Final = 32 * 1024
"""Longest JSON text that is exposed of one result, where the settings do not say."""


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
    """

    __slots__ = ("_exposed", "_projections", "redactor")

    def __init__(self, exposed: PlaceTree | None, projections: Mapping[str, PlaceTree], redactor: Redactor) -> None:
        self._exposed: Final = exposed
        self._projections: Final = dict(projections)
        self.redactor: Final = redactor

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
        omitted: list[Path] = []
        shown: Json = data
        for tree in (self._exposed, self._projections.get(projection)):
            if tree is not None and shown is not ABSENT:
                shown = _part(shown, tree, (), omitted)
        if shown is ABSENT or self.redactor.is_clean(shown, max_bytes):
            return Exposure(exposed=shown, omitted=self._named(omitted), omitted_count=len(omitted))
        redacted = self.redactor.redact(shown)
        value, cut = redacted.value, Cut()
        if redacted.bytes_bound > max_bytes and size_bytes(value) > max_bytes:
            value = fit(value, max_bytes, cut)
            omitted.extend(cut.places)
        count = len(omitted) - len(cut.places) + cut.count
        return Exposure(
            exposed=value,
            omitted=self._named(omitted),
            omitted_count=count,
            redacted=self._named(redacted.places),
            is_cut=bool(cut.places),
        )

    def hide(self, flaws: Iterable[Flaw]) -> tuple[Flaw, ...]:
        """Return failures whose quoted values are without what must not be shown."""
        return tuple(map(self._hidden, flaws))

    def _hidden(self, found: Flaw) -> Flaw:
        failure = found.failure
        actual = self.redactor.excerpt(failure.actual, failure.pointer)
        expected = self.redactor.excerpt(failure.expected, "")
        if actual is failure.actual and expected is failure.expected:
            return found
        return replace(found, failure=replace(failure, actual=actual, expected=expected))

    def _named(self, places: Collection[Path]) -> tuple[str, ...]:
        if not places:
            return ()
        return tuple(self.redactor.mask_text(text) for text in _listed(places))


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
    )


def _listed(places: Iterable[Path]) -> tuple[str, ...]:
    listed: list[str] = []
    for place in places:
        if len(listed) == MAX_LISTED:
            break
        listed.append(pointers.join(*place))
    return tuple(listed)


def _part(value: JsonValue, tree: PlaceTree, path: Path, omitted: list[Path]) -> Json:
    if tree.is_whole:
        return value
    if isinstance(value, dict):
        members: dict[str, JsonValue] = {}
        for key, member in value.items():
            below = tree.children.get(key, tree.every)
            if below is None:
                omitted.append((*path, key))
            elif below.is_whole:
                members[key] = member
            else:
                kept = _part(member, below, (*path, key), omitted)
                if kept is not ABSENT:
                    members[key] = kept
        return members
    if isinstance(value, list):
        parts = [_child(item, tree.child(str(index)), (*path, index), omitted) for index, item in enumerate(value)]
        while parts and parts[-1] is ABSENT:
            parts.pop()
        return [None if part is ABSENT else part for part in parts]
    omitted.append(path)
    return ABSENT


def _child(value: JsonValue, tree: PlaceTree | None, path: Path, omitted: list[Path]) -> Json:
    if tree is None:
        omitted.append(path)
        return ABSENT
    return _part(value, tree, path, omitted)
