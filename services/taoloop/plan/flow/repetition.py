"""The guard against calls that repeat: the same call, or the same query in other words, with the same result."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonValue, digest, equal

_WORD: Final = re.compile(r"[^\W_]+")
_CJK: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MIN_WORDS: Final = 2
_MIN_CJK: Final = 4
_MAX_COMPARED: Final = 2_000
"""Longest text that is compared by its words, in characters; a longer one only as a whole."""


@dataclass(frozen=True, slots=True)
class _Made:
    """One call that was made, with which others, and a digest of what came of it."""

    tool: str
    arguments: JsonValue
    result: str
    plan: str


class LoopGuard:
    """Finds calls that bring nothing new: one tool with arguments that ask the same, and the same result each time.

    Calls in between do not matter, so that two calls in turn are found as one alone is. A result that differs starts
    the count anew. Calls of one plan were wanted side by side, so that among them only spelling does not matter.
    """

    def __init__(self, threshold: int = 3) -> None:
        """Make a guard that trips at the `threshold`-th equal call, at least 2."""
        if threshold < 2:
            raise ValueError("a loop has at least two equal calls")
        self.threshold = threshold
        self._made: list[_Made] = []

    def record(self, tool: str, arguments: JsonValue, result: JsonValue, plan: str = "") -> bool:
        """Note a call and its result; return whether it is the `threshold`-th equal one, or a later one.

        Args:
            tool: The tool.
            arguments: Its arguments.
            result: What came of it.
            plan: Names the plan that it belongs to; empty for a plan of its own.

        Raises:
            JsonEncodeError: The arguments or the result have no JSON form.
        """
        self._made.append(_Made(tool, arguments, digest(result), plan))
        return self.is_loop(tool, arguments, plan)

    def is_loop(self, tool: str, arguments: JsonValue, plan: str = "") -> bool:
        """Tell whether a call gave the same result the last `threshold` times it was made in one form or another."""
        of_tool = [made for made in self._made if made.tool == tool]
        if len(of_tool) < self.threshold:
            return False  # the common case compares nothing
        results = [made.result for made in of_tool if _is_alike(made, arguments, plan)]
        return len(results) >= self.threshold and len(set(results[-self.threshold :])) == 1

    def __repr__(self) -> str:
        return f"LoopGuard(threshold={self.threshold}, calls={len(self._made)})"


def _is_alike(made: _Made, arguments: JsonValue, plan: str) -> bool:
    is_beside = bool(plan) and made.plan == plan
    return spelt_alike(made.arguments, arguments) if is_beside else ask_the_same(made.arguments, arguments)


def spelt_alike(one: JsonValue, other: JsonValue) -> bool:
    """Tell whether two calls of one tool have the same arguments but for their spelling.

    Key order, number form, and of texts width, letter case, blanks and punctuation do not matter.

    >>> spelt_alike({"q": "travel expenses"}, {"q": "Travel-Expenses"})
    True
    """
    return _same(one, other, _spell_the_same)


def ask_the_same(one: JsonValue, other: JsonValue) -> bool:
    """Tell whether two calls of one tool ask the same, as far as their arguments say.

    Key order, number form, and of texts width, letter case, blanks and punctuation do not matter. Of a query, which
    is a text of some words, nor does the order of the words, and one may have words besides: who searches again with
    one word more searches for the same. Words with digits are names of things and must be the same in both.

    >>> ask_the_same({"q": "travel expenses"}, {"q": "Travel  expenses, process"})
    True
    >>> ask_the_same({"q": "hotels in Paris"}, {"q": "hotels in Rome"})
    False
    >>> ask_the_same({"id": "A1"}, {"id": "A12"})
    False
    """
    return _same(one, other, _say_the_same)


def _same(one: JsonValue, other: JsonValue, texts_are_same: Callable[[str, str], bool]) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key], texts_are_same) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_same(left, right, texts_are_same) for left, right in pairs)
    if isinstance(one, str) and isinstance(other, str):
        return one == other or texts_are_same(_folded(one), _folded(other))
    return equal(one, other)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _spell_the_same(one: str, other: str) -> bool:
    letters = "".join(_WORD.findall(one))
    # Signs alone are what they are.
    return one == other or (bool(letters) and letters == "".join(_WORD.findall(other)))


def _say_the_same(one: str, other: str) -> bool:
    if max(len(one), len(other)) > _MAX_COMPARED or _spell_the_same(one, other):
        return _spell_the_same(one, other)
    words = _WORD.findall(one), _WORD.findall(other)
    if not (_is_query(words[0]) and _is_query(words[1])):
        return False
    terms = _terms(words[0]), _terms(words[1])
    named = [{term for term in each if any(sign.isdigit() for sign in term)} for each in terms]
    return named[0] == named[1] and (terms[0] <= terms[1] or terms[1] <= terms[0])


def _is_query(words: list[str]) -> bool:
    """Tell whether a text is of some words; a single one is a name, or an id."""
    return len(words) >= _MIN_WORDS or sum(len(run) for word in words for run in _CJK.findall(word)) >= _MIN_CJK


def _terms(words: list[str]) -> set[str]:
    """Return what a text is about: its words; of scripts without blanks, the pairs of neighbours across blanks too."""
    terms: set[str] = set()
    run = ""
    for word in words:
        if _CJK.fullmatch(word):
            run += word
        else:
            terms |= {word, *_pairs(run)}
            run = ""
    return terms | _pairs(run)


def _pairs(run: str) -> set[str]:
    return {run[at : at + 2] for at in range(max(1, len(run) - 1))} if run else set()
