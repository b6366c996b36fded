"""Which place of the evidence supports a value of the answer, and why, or why none does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

from taoloop.observation.grounding.evidence import EvidenceIndex, Hit
from taoloop.observation.grounding.model import Mention, Node, Quantity, decimal_key
from taoloop.observation.grounding.texts.names import fold_name
from taoloop.observation.grounding.vocabulary import is_currency
from taoloop.plan.answering import ClaimKind, ClaimReason

MAX_SCANNED_CHARACTERS: Final = 256 * 1024 * 1024
"""How many characters of evidence all searches for names in one answer may read; beyond that, names are not found."""

_MAX_TRIES: Final = 32
_SEPARATOR: Final = "\x00"


@dataclass(frozen=True, slots=True)
class Support:
    """What the evidence says of one value.

    Attributes:
        reason: Why it is supported, or not.
        node: The place that supports it; None when none does.
    """

    reason: ClaimReason
    node: Node | None = None


NOT_FOUND: Final = Support(ClaimReason.NOT_FOUND)


class Matcher:
    """Looks values up in one index. Each look-up costs the same, however large the evidence is, save one for a name.

    Args:
        index: The evidence.
    """

    def __init__(self, index: EvidenceIndex) -> None:
        self._index = index
        self._scanned = 0
        self._found_texts: dict[str, Node | None] = {}

    def support(self, mention: Mention) -> Support:
        """Return what supports a value."""
        by_key = self._by_key(mention)
        if by_key is not None:
            return by_key
        if mention.is_ambiguous:
            return Support(ClaimReason.AMBIGUOUS)
        if mention.parts is not None:
            node = self._in_two_fields(*mention.parts)
            return NOT_FOUND if node is None else Support(ClaimReason.SAME_VALUE, node)
        if mention.quantities:
            return self._by_number(mention.quantities)
        if mention.needle:
            node = self._within_texts(mention)
            return NOT_FOUND if node is None else Support(ClaimReason.SAME_VALUE, node)
        return NOT_FOUND

    def _by_key(self, mention: Mention) -> Support | None:
        best: Hit | None = None
        for key in mention.keys:
            for hit in self._index.hits.get(key, ())[:_MAX_TRIES]:
                if best is None or (best.is_wider and not hit.is_wider):
                    best = hit
        if best is None:
            return None
        return Support(ClaimReason.WITHIN_PERIOD if best.is_wider else ClaimReason.SAME_VALUE, best.node)

    def _in_two_fields(self, days: tuple[str, ...], times: tuple[str, ...]) -> Node | None:
        """Find a day and a time of day in two fields of one object; a moment has a day of its own."""
        beside = {_object_of(hit.node) for key in times for hit in self._alone(key)}
        return next((hit.node for key in days for hit in self._alone(key) if _object_of(hit.node) in beside), None)

    def _alone(self, key: str) -> Iterator[Hit]:
        return (hit for hit in self._index.hits.get(key, ()) if hit.node not in self._index.moments)

    def _by_number(self, quantities: tuple[Quantity, ...]) -> Support:
        other_unit = False
        for quantity in quantities:
            known = self._index.numbers.get(decimal_key(quantity.value))
            if known is not None:
                support = _with_unit(quantity, known)
                if support is not None:
                    return support
                other_unit = True
        for quantity in quantities:
            length = quantity.value
            if quantity.is_count and length == length.to_integral_value() and 0 <= length <= 1_000_000:
                node = self._index.counts.get(int(length))
                if node is not None:
                    return Support(ClaimReason.ITEM_COUNT, node)
        return Support(ClaimReason.OTHER_UNIT if other_unit else ClaimReason.NOT_FOUND)

    def _within_texts(self, mention: Mention) -> Node | None:
        folded = fold_name(mention.needle)
        if not folded:
            return None
        if hits := self._index.hits.get(f"name:{folded}"):
            return hits[0].node
        if folded not in self._found_texts:
            self._found_texts[folded] = self._searched(folded)
        node = self._found_texts[folded]
        return node if node is not None or mention.kind is not ClaimKind.NAME else self._word_by_word(folded)

    def _word_by_word(self, folded: str) -> Node | None:
        """Find a name whose words stand in several fields of one object, as a first and a last name do."""
        words = folded.split()
        if len(words) < 2:
            return None
        shared: set[int] | None = None
        for word in words:
            here = {_object_of(hit.node) for hit in self._index.hits.get(f"name:{word}", ())}
            shared = here if shared is None else shared & here
        return self._index.hits[f"name:{words[0]}"][0].node if shared else None

    @cached_property
    def _joined(self) -> str:
        return _SEPARATOR.join(text for text, _ in self._index.texts)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(text) + 1 for text, _ in self._index.texts)]

    def _searched(self, folded: str) -> Node | None:
        """Search all texts for a whole word or more."""
        text, start = self._joined, 0
        for _ in range(_MAX_TRIES):
            if self._scanned > MAX_SCANNED_CHARACTERS:
                return None
            place = text.find(folded, start)
            self._scanned += (len(text) if place < 0 else place) - start
            if place < 0:
                return None
            if _is_whole(text, place, place + len(folded)):
                return self._index.texts[bisect_right(self._starts, place) - 1][1]
            start = place + 1
        return None


def _with_unit(quantity: Quantity, known: dict[tuple[str, str], Node]) -> Support | None:
    """Return the support of a number that the evidence has; None when all places state another unit."""
    if not quantity.units:
        return Support(ClaimReason.SAME_VALUE, next(iter(known.values())))
    unstated: Node | None = None
    for (unit, currency), node in known.items():
        for wanted in quantity.units:
            if wanted == unit or (is_currency(wanted) and unit == "" and wanted == currency):
                return Support(ClaimReason.SAME_VALUE, node)
            if unit == "" and not (is_currency(wanted) and currency):
                unstated = unstated or node
    return None if unstated is None else Support(ClaimReason.UNIT_NOT_STATED, unstated)


def _object_of(node: Node) -> int:
    return id(node.parent if node.parent is not None else node)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no letter or digit of a Latin word goes on beyond either end."""
    return not (
        (start > 0 and _goes_on(text[start - 1], text[start]))
        or (end < len(text) and _goes_on(text[end - 1], text[end]))
    )


def _goes_on(before: str, after: str) -> bool:
    return before.isalnum() and after.isalnum() and before < "\u2e80" and after < "\u2e80"
