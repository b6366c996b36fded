"""Maps from the words of tools to ours: a contract's `enum` and a catalogue's vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue, equal
from taoloop.values.conversions import as_text
from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused

_MAX_CANDIDATES: Final = 20


@dataclass(frozen=True, slots=True)
class ValueMap:
    """Unifies the spellings of a value; a conversion.

    A word is looked up as it is written, then with letter case, width and white space folded, nothing more.

    Attributes:
        by_word: Our value by the tool's word.
        by_folded: The same by folded word, without words that would fold to two values.
        is_closed: Whether any other value is refused; else it is left as it is, for other checks to judge.
        candidates: Our values, for the refusal.
    """

    by_word: Mapping[str, JsonValue]
    by_folded: Mapping[str, JsonValue]
    is_closed: bool
    candidates: tuple[str, ...]

    def __call__(self, value: JsonValue) -> JsonValue:
        """Return our value.

        Raises:
            ValueRefused: The map is closed and has no such word.
        """
        word = value if isinstance(value, str) else _word(value)
        if word is not None:
            known = self.by_word.get(word, ABSENT)
            if known is ABSENT:
                known = self.by_folded.get(fold(word), ABSENT)
            if known is not ABSENT:
                return known
        if self.is_closed:
            raise ValueRefused(RefusalCode.UNREADABLE, "The value is none of the known ones.", self.candidates)
        return value


def value_map(
    enum: Mapping[str, JsonValue] | None,
    vocabulary: Mapping[str, Sequence[JsonValue]] | None,
    known: Sequence[JsonValue] | None,
) -> ValueMap:
    """Return the conversion for a contract's `enum`, its `vocabulary`, or both; `enum` comes first.

    A value that the tool already gives in our form is right, too. Where the contract also has `known` for the field,
    a value outside of all is not refused here: it breaks the consistency there, and keeps the data.

    Args:
        enum: Our value by the tool's word.
        vocabulary: The words by our value.
        known: The contract's known values of the field; None when it has none.
    """
    by_word: dict[str, JsonValue] = {}
    ours: list[JsonValue] = []
    for word, value in _pairs(enum, vocabulary, known):
        by_word.setdefault(word, value)
        if not any(equal(value, other) for other in ours):
            ours.append(value)
    candidates = tuple(dict.fromkeys(as_text(value) for value in ours if value is not None))
    return ValueMap(by_word, _folded(by_word), known is None, candidates[:_MAX_CANDIDATES])


def _pairs(
    enum: Mapping[str, JsonValue] | None,
    vocabulary: Mapping[str, Sequence[JsonValue]] | None,
    known: Sequence[JsonValue] | None,
) -> Iterator[tuple[str, JsonValue]]:
    """Yield word and value, those that win first."""
    yield from (enum or {}).items()
    words_of = vocabulary or {}
    for ours, words in words_of.items():
        for written in words:
            word = _word(written)
            if word is not None:
                yield word, ours
    for value in (*(enum or {}).values(), *words_of, *(known or ())):
        word = _word(value)
        if word is not None:
            yield word, value


def _folded(by_word: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    twofold: set[str] = set()
    for word, value in by_word.items():
        folded = fold(word)
        if not equal(found.setdefault(folded, value), value):
            twofold.add(folded)
    return {folded: value for folded, value in found.items() if folded not in twofold}


def _word(value: Json) -> str | None:
    """Return the word that a scalar is: numbers and booleans by their JSON text."""
    if isinstance(value, str):
        return value
    if value is None or value is ABSENT or isinstance(value, list | dict):
        return None
    return as_text(value)
