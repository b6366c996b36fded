"""How well a piece of knowledge fits a request, 0 to 1, by the rare words that both have."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

# Words of the request and of the knowledge: Latin words and numbers whole, Chinese characters in pairs.
_RUN: Final = re.compile(r"[A-Za-z][A-Za-z']*|[0-9]+|[\u3400-\u4dbf\u4e00-\u9fff]+")
_STOP_WORDS: Final = frozenset((
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but",
    "by", "can", "cannot", "could", "did", "do", "does", "doing", "for", "from", "get", "give", "go", "had", "has",
    "have", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "let", "like",
    "make", "may", "me", "more", "my", "need", "no", "not", "now", "of", "off", "on", "one", "only", "or", "other",
    "our", "out", "please", "put", "she", "should", "show", "so", "some", "such", "tell", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "up", "us", "use", "user",
    "want", "was", "we", "were", "what", "when", "where", "which", "who", "whose", "why", "will", "with", "would",
    "you", "your", "assistant",
))  # fmt: skip
_FUNCTION_CHARACTERS: Final = frozenset(
    "的了吗呢吧啊呀么是在有和与及或就都也还很我你您他她它们这那哪个些被把让请帮不没之其"
)
_STOP_PAIRS: Final = frozenset(
    (
        "可以", "想要", "需要", "能够", "可能", "对于", "关于", "从而", "到底", "为什", "什么", "怎么", "怎样",
        "如何", "多少", "几个", "一下", "一些", "一样", "现在", "已经", "应该", "知道", "告诉", "谢谢", "今天",
        "明天", "昨天", "时候", "问题", "情况", "查看", "查询", "看看",
    )
)  # fmt: skip

_LATIN_WEIGHT: Final = 2.0
"""How much a Latin word counts beside a pair of Chinese characters, of which a word has about two."""
_BACKGROUND: Final = 50
"""Pieces of knowledge that are assumed beside the real ones, so that a word is rare also where there are few."""
_HALF: Final = 4.0
"""The sum of weights whose score is one half: two rare pairs, or one rare Latin word, are above 0.6. Set by hand on
the pairs of the tests."""
_K1: Final = 1.2
_B: Final = 0.5
"""Of Okapi BM25: how repeats saturate, and how much a long text is held against itself."""


def relevance(request: str, texts: Sequence[str]) -> tuple[float, ...]:
    """Return how well each text fits a request, each 0 to 1.

    Source: Okapi BM25 with an inverse document frequency that never turns negative; the sum s becomes s / (s + 4).

    Args:
        request: What is asked.
        texts: The pieces of knowledge; a word that many of them have tells little.
    """
    wanted = frozenset(_terms(request))
    counts = [_counted(text) for text in texts]
    spread = Counter(term for each in counts for term in each)
    average = max(1.0, sum(count.total() for count in counts) / max(1, len(counts)))
    return tuple(_score(wanted, count, spread, len(texts), average) for count in counts)


def _score(wanted: frozenset[str], count: Counter[str], spread: Counter[str], texts: int, average: float) -> float:
    stretch = _K1 * (1 - _B + _B * count.total() / average)
    found = 0.0
    for term in wanted & count.keys():
        rarity = math.log1p((texts + _BACKGROUND - spread[term] + 0.5) / (spread[term] + 0.5))
        weight = _LATIN_WEIGHT if term.isascii() and term.isalpha() else 1.0
        found += weight * rarity * count[term] * (_K1 + 1) / (count[term] + stretch)
    return found / (found + _HALF)


@lru_cache(maxsize=4096)  # what a company and its users know is compared again with every request of theirs
def _counted(text: str) -> Counter[str]:
    return Counter(_terms(text))


def _terms(text: str) -> Iterator[str]:
    for run in _RUN.finditer(text):
        word = run[0].lower()
        if not word.isascii():
            for place in range(len(word) - 1):
                pair = word[place : place + 2]
                if pair not in _STOP_PAIRS and _FUNCTION_CHARACTERS.isdisjoint(pair):
                    yield pair
        elif word.isdigit():
            if len(word) > 1:
                yield word
        elif word not in _STOP_WORDS and len(word) > 1:
            yield _stem(word)


def _stem(word: str) -> str:
    """Return an English word without its most common endings; two forms of one word mostly agree."""
    word = word.removesuffix("'s")
    for ending, rest, least in (("ies", "y", 5), ("ing", "", 6), ("ed", "", 5), ("es", "e", 5), ("s", "", 4)):
        if len(word) >= least and word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            return (word[: -len(ending)] + rest).removesuffix("e")
    return word.removesuffix("e") if len(word) > 4 else word
