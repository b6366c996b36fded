"""Words by which a user asks for an answer without delay, and what only looks like them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

URGENT_WORDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "zh": (
            "马上", "立刻", "立即", "赶紧", "赶快", "尽快", "火速", "快点", "快一点", "别磨蹭", "别想太多",
            "不要想太多", "馬上", "趕緊", "趕快", "盡快", "儘快", "快點", "別磨蹭", "別想太多",
        ),
        "en": (
            "right now", "right away", "straight away", "immediately", "asap", "a.s.a.p.", "as soon as possible",
            "without delay", "urgently", "this instant", "hurry", "hurry up", "don't overthink", "do not overthink",
            "don't think too much", "do not think too much",
        ),
    }
)  # fmt: skip
"""What counts as urgent by language, where the settings say nothing else."""

NEGATIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "zh": (
            "不用", "不必", "不需要", "不需", "无需", "无须", "不要", "不是", "不想", "不急着", "不急", "没必要",
            "没有必要", "别", "無需", "無須", "沒必要", "沒有必要", "別",
        ),
        "en": (
            "not", "no", "never", "don't", "doesn't", "didn't", "needn't", "isn't", "can't", "cannot", "won't",
            "no need to", "without",
        ),
    }
)  # fmt: skip
"""Words that take the urgency away again when they stand shortly before, by language."""

_CJK: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTER: Final = rf"[^\W{_CJK}]"
"""A letter or digit of a script that puts blanks between words; Chinese characters around a word are no part of it."""

_QUOTED: Final = re.compile(
    "|".join(
        (
            # Each opening mark stops the search from the one before it, so that many of them take linear time.
            "“[^“”]{0,500}”", "‘[^‘’]{0,500}’", "「[^「」]{0,500}」", "『[^『』]{0,500}』", "《[^《》]{0,500}》",
            "«[^«»]{0,500}»", r'"[^"\n]{0,500}"', r"`[^`\n]{0,500}`",
            rf"(?<!{_LETTER})'[^'\n]{{0,500}}'(?!{_LETTER})",
        )
    )
)  # fmt: skip
_LOOKALIKE: Final = re.compile(
    # A word of two others: 宝马上海店 is a BMW shop in Shanghai, and 快点单 orders food.
    "[宝寶罗羅骑騎斑河木人黑拿][马馬]|上海|上山|上空|快点(?=[击餐单歌赞菜名])|快點(?=[擊餐單歌讚菜名])"
    r"|immediately\s+(?:after|before|following|preceding)",
    re.IGNORECASE,
)
_PRESENT: Final = frozenset({"right now"})
"""Words that in a question speak of the present: "which rooms are free right now?" asks about now."""
_QUESTION: Final = re.compile(
    r"\W*(?:(?:and|so|ok|okay|hi|hello|hey)\W+)?"
    r"(?:what|which|who|whose|where|when|why|how|is|are|was|were|what's|who's|where's|how's)\b",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(r"[,.;:!?，。；：！？、\n]")
_WINDOW: Final = 80
"""How many characters before an urgent word a negation or a question is looked for in."""
_END: Final = 10_000
"""How much of the beginning and of the end of a longer text is read: urgency is said there."""
_WORDS_BETWEEN: Final = 3
_CHARACTERS_BETWEEN: Final = 4


class UrgentWords:
    """Finds urgency in a request; safe to share between threads.

    Args:
        words: Urgent words by language; all languages count at once, since people mix them. None: the defaults.
        negations: Words that take it away again, by language; None: the defaults.
    """

    def __init__(
        self,
        words: Mapping[str, Iterable[str]] | None = None,
        negations: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self._urgent = _pattern(_all_of(URGENT_WORDS if words is None else words))
        self._negated = _negation_pattern(_all_of(NEGATIONS if negations is None else negations))

    def find(self, text: str) -> str:
        """Return the first urgent word as it is written; empty when there is none.

        A word in quotes is somebody else's, a negated one says the contrary, and a part of a longer word is none.
        """
        if self._urgent is None:
            return ""
        if len(text) > 2 * _END:
            return self.find(text[:_END]) or self.find(text[-_END:])
        plain = _LOOKALIKE.sub(_blank, _QUOTED.sub(_blank, text.replace("’", "'")))
        for match in self._urgent.finditer(plain):
            before = plain[max(0, match.start() - _WINDOW) : match.start()]
            if not self._is_negated(before) and not _asks_of_the_present(match[0], before):
                return text[match.start() : match.end()]
        return ""

    def _is_negated(self, before: str) -> bool:
        clause = _CLAUSE_END.split(before)[-1]
        return self._negated is not None and self._negated.search(clause) is not None


def _asks_of_the_present(word: str, before: str) -> bool:
    if re.sub(r"\s+", " ", word.lower()) not in _PRESENT:
        return False
    return _QUESTION.match(re.split(r"[.;!?\n]", before)[-1]) is not None


def _blank(match: re.Match[str]) -> str:
    return "\0" * len(match[0])


def _all_of(words: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    every = {word.strip().replace("’", "'") for each in words.values() for word in each}
    return tuple(sorted(every - {""}, key=lambda word: (-len(word), word)))


def _pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(_bounded, words)), re.IGNORECASE) if words else None


def _bounded(word: str) -> str:
    """Return the pattern of a word that is whole: no part of another, of an address, or of a code such as `asap-7`."""
    written = r"\s+".join(re.escape(part) for part in word.split())
    if re.match(_LETTER, word):
        written = rf"(?<!{_LETTER})(?<!{_LETTER}[-.@/])" + written
    if re.match(_LETTER, word[-1]):
        written += rf"(?!{_LETTER}|[-.@/]{_LETTER})"
    return written


def _negation_pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return a pattern for the part of a clause before an urgent word, with little between it and a negation."""
    spaced = [_bounded(word) for word in words if re.match(_LETTER, word)]
    joined = [_chinese(word) for word in words if not re.match(_LETTER, word)]
    parts = []
    if spaced:
        parts.append(rf"(?:{'|'.join(spaced)})(?:[^\w]+[\w']+){{0,{_WORDS_BETWEEN}}}[^\w]*$")
    if joined:
        parts.append(rf"(?:{'|'.join(joined)})[\w]{{0,{_CHARACTERS_BETWEEN}}}$")
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _chinese(word: str) -> str:
    """Return the pattern of a negation that is no half of a question (要不要) and no end of another word (特别)."""
    if word[0] == "不" and len(word) > 1:
        return f"(?<!{re.escape(word[1])}){re.escape(word)}"
    return (
        f"(?<![特分个個级級类類识識性区區告])[{word[0]}]{re.escape(word[1:])}" if word[0] in "别別" else re.escape(word)
    )
