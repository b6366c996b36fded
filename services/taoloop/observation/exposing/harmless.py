"""Members of the data in which no credential can stand, by the rules that make them: they need not be searched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taoloop.core import pointers
from taoloop.core.redaction import is_harmless
from taoloop.tools.contract import NormaliseAs, NormaliseRule, Observe
from taoloop.tools.normalisers.places import STAR, Tokens, is_above, overlap

MAX_BYTES: Final = 200
"""Longest JSON text of such a member."""

_MOMENTS: Final = frozenset({NormaliseAs.DATE, NormaliseAs.DATETIME})
_MAX_CHARACTERS: Final = 32
"""Longest word of a contract that surely has no more bytes: as JSON a character is six at most."""


def harmless_members(observe: Observe) -> frozenset[str]:
    """Return the names of members that are null, a day, a moment, an amount of money, or a word of the contract.

    A member is among them only where no other rule can write to it.
    """
    return frozenset(_harmless(observe))


def _harmless(observe: Observe) -> Iterator[str]:
    places = [(rule, pointers.parse(rule.to)) for rule in observe.normalise]
    for rule, place in places:
        is_alone = all(other is place or not _meet(place, other) for _, other in places)
        if len(place) == 1 and place[0] != STAR and is_alone and _is_harmless(rule, place, observe):
            yield place[0]


def _is_harmless(rule: NormaliseRule, place: Tokens, observe: Observe) -> bool:
    if rule.convert is not None:
        # Without a currency an amount is an object that tells it; the longest one has 61 digits.
        is_amount = rule.convert is NormaliseAs.MONEY and bool(rule.conversion_options.get("currency"))
        return rule.convert in _MOMENTS or is_amount
    if rule.plugin or (rule.enum is None and rule.vocabulary is None):
        return False
    if any(_meet(pointers.parse(known), place) for known in observe.known):
        return False  # there any value passes, and is judged by its consistency
    words = (*(rule.enum or {}).values(), *(rule.vocabulary or {}))
    return all(isinstance(word, str) and len(word) <= _MAX_CHARACTERS and is_harmless(word) for word in words)


def _meet(one: Tokens, other: Tokens) -> bool:
    return overlap(one, other) or is_above(one, other) or is_above(other, one)
