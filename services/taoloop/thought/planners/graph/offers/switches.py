"""Truth values in words: what a switch is for, said with or without a negation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from taoloop.plan.model import Convert
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.text import Word, is_chinese, stem
from taoloop.thought.planners.graph.language.vocabulary import CHINESE_NEGATIONS, FLAG_FILLERS, NEGATIONS
from taoloop.thought.planners.graph.reading import Reading
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView

_FILLERS: Final = frozenset(stem(word) for word in FLAG_FILLERS) | FLAG_FILLERS
_REACH: Final = 24
"""How many code points the words of one switch may lie apart, and a negation before them."""
_NEGATION = re.compile(rf"(?:{'|'.join(sorted(NEGATIONS, key=len, reverse=True))})(?: [a-z']+){{0,2}} ?$")
_CHINESE_NEGATION = re.compile(rf"(?:{'|'.join(CHINESE_NEGATIONS)})[\u4e00-\u9fff]{{0,2}}$")
_WEAK: Final = frozenset({"是否", "需要", "可以", "包含", "包括", "使用", "启用", "默认"})


def switched(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    """Yield the words that switch a slot on or off, with their truth value."""
    words = view.words_in(place)
    found = _by_name(slot, words) or _by_description(slot, words)
    if found is None:
        return
    start, end = found
    before = view.lowered[max(place[0], start - _REACH) : start]
    negation = _NEGATION.search(before) or _CHINESE_NEGATION.search(before)
    begin = start - (len(before) - negation.start()) if negation else start
    text = view.text[begin:end]
    value = negation is None
    yield (
        Mention(MentionKind.FLAG, begin, end, text),
        Reading(value, Convert(to="enum", options={"values": {text: value}})),
    )


def _by_name(slot: Slot, words: tuple[Word, ...]) -> Place | None:
    """Find all content words of the slot's name, near one another."""
    wanted = slot.own - _FILLERS
    if not wanted:
        return None
    for place, first in enumerate(words):
        if first.key not in wanted:
            continue
        left, end = set(wanted) - {first.key}, first.end
        for word in words[place + 1 : place + 4]:
            if word.key in left and word.start - end <= _REACH:
                left.discard(word.key)
                end = word.end
        if not left:
            return first.start, end
    return None


def _by_description(slot: Slot, words: tuple[Word, ...]) -> Place | None:
    """Find a pair of characters that only this slot's description has."""
    for word in words:
        if (
            is_chinese(word.key)
            and len(word.key) > 1
            and word.key not in _WEAK
            and slot.words.get(word.key, 0.0) >= 0.5
        ):
            return word.start, word.end
    return None
