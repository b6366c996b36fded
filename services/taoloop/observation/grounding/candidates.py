"""The value of the evidence that is nearest to an unsupported one: what the writer of the answer may have meant."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date
from decimal import Context, Decimal
from functools import cached_property
from typing import Final, TypeVar

from taoloop.observation.grounding.evidence import EvidenceIndex
from taoloop.observation.grounding.model import Mention, Node, decimal_text
from taoloop.plan.answering import ClaimKind

_SHARED_CHARACTERS: Final = 3
"""Fewer characters in common at the start or the end make no likeness."""

_CODES: Final = ("id:", "digits:", "email:", "url:")
_CODE_KINDS: Final = frozenset({ClaimKind.IDENTIFIER, ClaimKind.EMAIL, ClaimKind.URL, ClaimKind.PHONE})

_UNTRAPPED: Final = Context(prec=28, traps=[])
_OrderedT = TypeVar("_OrderedT", str, Decimal)

Candidate = tuple[str, Node]


class Candidates:
    """Finds the nearest values; each order is sorted when it is first needed.

    Args:
        index: The evidence.
    """

    def __init__(self, index: EvidenceIndex) -> None:
        self._index = index

    def nearest(self, mention: Mention) -> Candidate | None:
        """Return the nearest value of the same kind as a text with its place, or None when nothing is like it."""
        if mention.kind in _CODE_KINDS:
            return self._code(mention)
        if mention.quantities:
            return self._number(mention.quantities[0].value)
        if mention.kind in {ClaimKind.DATE, ClaimKind.TIME}:
            return self._day(mention)
        if mention.needle:
            return self._like(mention.normalised, self._names, self._reversed_names, "name:")
        return None

    @cached_property
    def _numbers(self) -> list[Decimal]:
        return sorted(self._index.values.values())

    @cached_property
    def _number_nodes(self) -> dict[Decimal, Node]:
        return {value: next(iter(self._index.numbers[key].values())) for key, value in self._index.values.items()}

    @cached_property
    def _days(self) -> list[str]:
        return sorted(key[4:] for key in self._index.hits if key.startswith("day:"))

    @cached_property
    def _month_days(self) -> list[str]:
        return sorted(key[3:] for key in self._index.hits if key.startswith("md:"))

    @cached_property
    def _codes(self) -> list[str]:
        return sorted(key.partition(":")[2] for key in self._index.hits if key.startswith(_CODES))

    @cached_property
    def _reversed_codes(self) -> list[str]:
        return sorted(code[::-1] for code in self._codes)

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self._index.names)

    @cached_property
    def _reversed_names(self) -> list[str]:
        return sorted(name[::-1] for name in self._names)

    def _number(self, value: Decimal) -> Candidate | None:
        around = _around(self._numbers, value)
        if not around:
            return None
        nearest = min(around, key=lambda one: _distance(one, value))
        return decimal_text(nearest), self._number_nodes[nearest]

    def _day(self, mention: Mention) -> Candidate | None:
        keys = mention.parts[0] if mention.parts is not None else mention.keys
        space, _, value = keys[0].partition(":") if keys else ("", "", "")
        day, known = value[:10], self._days
        if space in {"md", "mdat"}:
            space, day, known = "md", value[:5], self._month_days
        elif space not in {"day", "at"}:
            return None
        around = _around(known, day)
        if not around:
            return None
        nearest = min(around, key=lambda one: abs(_ordinal(one) - _ordinal(day)))
        return nearest, self._index.hits[f"{'md' if space == 'md' else 'day'}:{nearest}"][0].node

    def _code(self, mention: Mention) -> Candidate | None:
        if not mention.keys:
            return None
        return self._like(mention.keys[0].partition(":")[2], self._codes, self._reversed_codes, *_CODES)

    def _like(self, text: str, ordered: list[str], backwards: list[str], *spaces: str) -> Candidate | None:
        found = [*_around(ordered, text), *(one[::-1] for one in _around(backwards, text[::-1]))]
        best = max(found, key=lambda one: _shared(one, text), default="")
        if not best or _shared(best, text) < _SHARED_CHARACTERS:
            return None
        for space in spaces:
            if hits := self._index.hits.get(f"{space}{best}"):
                return best[:200], hits[0].node
        return None


def _around(ordered: Sequence[_OrderedT], value: _OrderedT) -> Sequence[_OrderedT]:
    """Return the one or two neighbours of a value in an order."""
    place = bisect_left(ordered, value)
    return ordered[max(0, place - 1) : place + 1]


def _distance(left: Decimal, right: Decimal) -> Decimal:
    return abs(_UNTRAPPED.subtract(left, right))


def _ordinal(day: str) -> int:
    """Return the number of a day; one without a year is taken in a leap year."""
    written = day if len(day) == 10 else f"2000-{day}"
    try:
        return date.fromisoformat(written).toordinal()
    except ValueError:
        return 0


def _shared(left: str, right: str) -> int:
    """Return how many characters two texts share at the start or at the end, whichever are more."""
    return max(_common(left, right), _common(left[::-1], right[::-1]))


def _common(left: str, right: str) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(left), len(right)))
