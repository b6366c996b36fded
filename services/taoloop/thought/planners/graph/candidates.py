"""Which mentions can fill a slot, and how well: by kind, by the words around and by the place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.text import Word
from taoloop.thought.planners.graph.language.vocabulary import PLACE_WORDS
from taoloop.thought.planners.graph.reading import Reading, Unread, read
from taoloop.thought.planners.graph.slots import DIRECTION_WORDS, Slot, SlotClass
from taoloop.thought.planners.graph.view import Place, RequestView

_K = MentionKind
_ANY_TOKEN: Final = dict.fromkeys((_K.ID, _K.TIME, _K.NUMBER, _K.CODE, _K.QUOTED, _K.DATE, _K.NAME), 0.85)

# How well a kind of mention suits a class of slot, 0 to 1.
# Set by hand on the example tasks; to be fitted on generated data.
SUITS: Final[Mapping[SlotClass, Mapping[MentionKind, float]]] = {
    SlotClass.PATTERN: _ANY_TOKEN,
    SlotClass.DATE: {_K.DATE: 0.85},
    SlotClass.DATE_TIME: {_K.DATE: 0.8, _K.ID: 0.8},
    SlotClass.DATE_RANGE: {_K.DATE: 0.85},
    SlotClass.EMAIL: {_K.EMAIL: 0.9, _K.MALFORMED: 0.9},
    SlotClass.URL: {_K.URL: 0.9},
    SlotClass.INTEGER: {_K.NUMBER: 0.5, _K.ID: 0.5},
    SlotClass.NUMBER: {_K.NUMBER: 0.5, _K.ID: 0.3},
    SlotClass.PLACE: {_K.PLACE: 0.75, _K.NAME: 0.5, _K.QUOTED: 0.6},
    SlotClass.PERSON: {_K.PERSON: 0.75, _K.QUOTED: 0.7, _K.NAME: 0.45},
    SlotClass.ID: {_K.ID: 0.75, _K.NUMBER: 0.45, _K.QUOTED: 0.5, _K.CODE: 0.35},
    SlotClass.DATE_TEXT: {_K.DATE: 0.6, _K.QUOTED: 0.4},
    SlotClass.TEXT: {_K.QUOTED: 0.8},
    SlotClass.OTHER: {_K.QUOTED: 0.45, _K.NAME: 0.2, _K.ID: 0.2},
}
ENUM_SUITS: Final = 0.9
"""How well a member of its enum suits a slot."""
EXAMPLE_SUITS: Final = 0.75
"""How well a value suits a slot whose description quotes it."""
SINGLE_DAY_FACTOR: Final = 0.7
"""How much less well one day suits a range than a period does."""

CONTEXT_WINDOW: Final = 24
"""How many code points before a mention its cue words are looked for; half as many after it."""
CONTEXT_WEIGHT: Final = 0.3
"""What the best words around a mention add."""
TELLING_CONTEXT: Final = 0.8
"""From here on, with a word of its own right beside it, a malformed value was surely meant for the slot."""
DIRECTION_WEIGHT: Final = 0.3
"""What a fitting preposition adds, and the other one takes off."""
UNIT_WEIGHT: Final = 0.3
"""What a fitting unit adds, and another one takes off."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mention for one slot.

    Attributes:
        slot: The slot.
        mention: The mention.
        reading: The value that it gives.
        score: How well it fits, about 0 to 1.5.
        has_evidence: Whether more than its kind speaks for it: a strong class, a cue word, a unit, a preposition.
    """

    slot: Slot
    mention: Mention
    reading: Reading
    score: float
    has_evidence: bool


def candidates(slot: Slot, view: RequestView, place: Place) -> tuple[tuple[Candidate, ...], Unread | None]:
    """Return the mentions of a place that can fill the slot, and why the best of those that cannot was refused."""
    found: list[Candidate] = []
    refused: tuple[float, Unread] | None = None
    for mention, suits in _suitable(slot, view, place):
        reading = read(slot, mention.text, view.conversion)
        context = _context(slot, mention, view)
        score, has_evidence = _score(slot, mention, suits, context, view)
        if isinstance(reading, Reading):
            if slot.slot_class is SlotClass.DATE_RANGE and _is_one_day(reading.value):
                score *= SINGLE_DAY_FACTOR
            found.append(Candidate(slot, mention, reading, score, has_evidence))
        elif _is_telling(slot, mention, context) and (refused is None or score > refused[0]):
            refused = score, reading
    if not found and refused is None and _names_another_place(slot, view, place):
        return (), Unread(InputReason.INVALID)
    return tuple(found), None if found or refused is None else refused[1]


def _names_another_place(slot: Slot, view: RequestView, place: Place) -> bool:
    """Tell whether a place is named where the slot lists the places that it takes, and this one is not among them."""
    if slot.slot_class is not SlotClass.ENUM or not PLACE_WORDS & slot.words.keys():
        return False
    return any(mention.kind is MentionKind.PLACE for mention in view.mentions_in(place))


def _suitable(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, float]]:
    if slot.slot_class is SlotClass.ENUM:
        yield from ((mention, ENUM_SUITS) for mention in _literal_mentions(slot.enum, view, place))
        if any(not isinstance(member, str) for member in slot.enum):
            yield from ((m, 0.6) for m in view.mentions_in(place) if m.kind is MentionKind.NUMBER)
        return
    suits = SUITS.get(slot.slot_class, {})
    seen = set()
    if slot.slot_class is SlotClass.DATE_TIME:
        yield from ((mention, suits[MentionKind.DATE] + 0.1) for mention in _moments(view, place))
    for mention in view.mentions_in(place):
        if mention.kind in suits:
            seen.add((mention.start, mention.end))
            is_example = mention.text in slot.examples
            yield mention, max(suits[mention.kind], EXAMPLE_SUITS if is_example else 0.0)
    if not slot.is_telling and slot.schema.get("type") == "string":
        for mention in _literal_mentions(slot.examples, view, place):
            if (mention.start, mention.end) not in seen:
                yield mention, EXAMPLE_SUITS


_BETWEEN_DAY_AND_TIME: Final = frozenset({"", "at", "的", "，", ","})


def _moments(view: RequestView, place: Place) -> Iterator[Mention]:
    """Yield a day and the time of day next to it as one mention."""
    mentions = view.mentions_in(place)
    for first, second in pairwise(mentions):
        between = view.text[first.end : second.start].strip().lower()
        if {first.kind, second.kind} == {MentionKind.DATE, MentionKind.TIME} and between in _BETWEEN_DAY_AND_TIME:
            yield Mention(MentionKind.DATE, first.start, second.end, view.text[first.start : second.end])


def _literal_mentions(values: tuple[JsonValue, ...], view: RequestView, place: Place) -> Iterator[Mention]:
    """Yield where the values stand in the text; case, `_` and blanks are folded, longer values come first."""
    lowered = view.text.lower()
    if len(lowered) != len(view.text):  # a letter whose lower case is longer would shift every place after it
        lowered = view.text
    taken: list[Place] = []
    for value in sorted((item for item in values if isinstance(item, str) and item), key=len, reverse=True):
        pattern = re.escape(value.lower()).replace("_", "[_ -]").replace(r"\ ", "[_ -]")
        left = r"(?<![A-Za-z0-9])" if value[0].isascii() and value[0].isalnum() else ""
        right = r"(?![A-Za-z0-9])" if value[-1].isascii() and value[-1].isalnum() else ""
        for match in re.compile(left + pattern + right).finditer(lowered, place[0], place[1]):
            if not any(match.start() < end and start < match.end() for start, end in taken):
                taken.append(match.span())
                yield Mention(MentionKind.CODE, match.start(), match.end(), view.text[match.start() : match.end()])


def _score(slot: Slot, mention: Mention, suits: float, context: float, view: RequestView) -> tuple[float, bool]:
    direction = _direction(slot, mention, view.text)
    unit = 0.0
    if mention.unit and slot.slot_class in {SlotClass.INTEGER, SlotClass.NUMBER}:
        unit = UNIT_WEIGHT if mention.unit in slot.units else (-UNIT_WEIGHT if slot.units else 0.0)
    score = suits + CONTEXT_WEIGHT * context + DIRECTION_WEIGHT * direction + unit
    return score, slot.is_telling or context >= 0.2 or direction > 0 or unit > 0 or mention.text in slot.examples


def _context(slot: Slot, mention: Mention, view: RequestView) -> float:
    """Return how much the words around the mention speak of the slot, 0 to 1; near words count more."""
    best = 0.0
    for word in view.words_in((mention.start - CONTEXT_WINDOW, mention.end + CONTEXT_WINDOW)):
        weight = slot.words.get(word.key, 0.0)
        if weight > best:
            best = max(best, weight * _nearness(word, mention, view))
    return min(1.0, best)


def _nearness(word: Word, mention: Mention, view: RequestView) -> float:
    if word.end <= mention.start:
        distance, reach, between = mention.start - word.end, CONTEXT_WINDOW, (word.end, mention.start)
    elif word.start >= mention.end:
        distance, reach, between = word.start - mention.end, CONTEXT_WINDOW // 2, (mention.end, word.start)
    else:
        return 1.0
    if distance > reach:
        return 0.0
    nearness = 1.0 - distance / (reach + 1)
    if view.mentions_in(between):
        nearness *= 0.5
    return nearness


def _direction(slot: Slot, mention: Mention, text: str) -> float:
    if not slot.direction:
        return 0.0
    before = text[max(0, mention.start - 12) : mention.start].rstrip().lower()
    for direction, words in DIRECTION_WORDS.items():
        if any(_ends_with(before, word) for word in words):
            return 1.0 if direction == slot.direction else -1.0
    return 0.0


def _ends_with(before: str, word: str) -> bool:
    if not before.endswith(word):
        return False
    return not word.isascii() or len(before) == len(word) or not before[-len(word) - 1].isalnum()


def _is_one_day(value: JsonValue) -> bool:
    first, _, last = str(value).partition("~")
    return first == last


def _is_telling(slot: Slot, mention: Mention, context: float) -> bool:
    """Tell whether a refused mention was surely meant for the slot, so that nothing else may take its place."""
    if slot.slot_class in {SlotClass.PATTERN, SlotClass.INTEGER, SlotClass.NUMBER}:
        return context >= TELLING_CONTEXT and mention.kind in {MentionKind.ID, MentionKind.TIME, MentionKind.NUMBER}
    return slot.is_telling
