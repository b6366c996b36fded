"""Numbers in English words, from two upwards; `one` is a pronoun more often than a number."""

from __future__ import annotations

import re
from typing import Final

_FROM_TWO: Final = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen
"""
_BY_TEN: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES: Final = {"zero": 0, **{word: number for number, word in enumerate(_FROM_TWO.split(), 2)}}
_TENS: Final = {word: 10 * number for number, word in enumerate(_BY_TEN.split(), 2)}
_UNITS: Final = {**_ONES, "one": 1}
_SIZES: Final = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_WORD: Final = "|".join(sorted([*_UNITS, *_TENS, *_SIZES], key=lambda word: (-len(word), word)))
_FIRST: Final = "|".join(sorted([*_ONES, *_TENS], key=lambda word: (-len(word), word)))

_BEGIN: Final = rf"(?:{_FIRST}|(?:one|a)(?= (?:hundred|thousand|million)))"
WORDS: Final = re.compile(rf"(?<![A-Za-z-])(?i:{_BEGIN}(?:(?:-| (?:and )?)(?:{_WORD})){{0,8}})(?![A-Za-z])")
"""A number in words; `(?![A-Za-z])` keeps `tension` and `tend` out."""


def number_of_words(text: str) -> int | None:
    """Return the number, or None when the words are not one number.

    >>> number_of_words("two hundred and forty-one"), number_of_words("twenty twenty")
    (241, None)
    """
    total, group, last = 0, 0, 10**9
    for word in re.split(r"[ -]+", text.lower()):
        if word == "and":
            continue
        value = 1 if word == "a" else _UNITS.get(word, _TENS.get(word, 0))
        if word in _SIZES:
            size = _SIZES[word]
            if not group:
                return None
            total, group, last = (total, group * size, 100) if size == 100 else (total + group * size, 0, 10**9)
            continue
        if group % 100 and not (last in _TENS.values() and value < 10):
            return None
        group, last = group + value, value
    return total + group
