"""Which mentions can fill a slot, and how well: by kind, by the words around and by the place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.language.described import DIRECTION_WORDS, SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.text import Word, keys
from taoloop.thought.planners.graph.language.vocabulary import PLACE_WORDS
from taoloop.thought.planners.graph.offers.choices import chosen_members
from taoloop.thought.planners.graph.offers.literals import literal_mentions
from taoloop.thought.planners.graph.offers.switches import switched
from taoloop.thought.planners.graph.reading import Reading, Unread, read
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView

_K = MentionKind
_ANY_TOKEN: Final = dict.fromkeys((_K.ID, _K.TIME, _K.NUMBER, _K.CODE, _K.QUOTED, _K.DATE, _K.NAME), 0.85)

# How well a kind of mention suits a class of slot, 0 to 1.
# Set by hand, order of size only; thresholds and calibration are fitted on generated data.
SUITS: Final[Mapping[SlotClass, Mapping[MentionKind, float]]] = {
    SlotClass.PATTERN: _ANY_TOKEN,
    SlotClass.DATE: {_K.DATE: 0.85},
    SlotClass.DATE_TIME: {_K.DATE: 0.8, _K.ID: 0.8},
    SlotClass.DATE_RANGE: {_K.DATE: 0.85},
    SlotClass.TIME: {_K.TIME: 0.85},
    SlotClass.EMAIL: {_K.EMAIL: 0.9, _K.MALFORMED: 0.9},
    SlotClass.URL: {_K.URL: 0.9},
    SlotClass.INTEGER: {_K.NUMBER: 0.5, _K.ID: 0.4},
    SlotClass.NUMBER: {_K.NUMBER: 0.5, _K.ID: 0.3},
    SlotClass.PLACE: {_K.PLACE: 0.75, _K.NAME: 0.5, _K.QUOTED: 0.6},
    SlotClass.PERSON: {_K.PERSON: 0.75, _K.QUOTED: 0.7, _K.NAME: 0.5, _K.PLACE: 0.36, _K.CODE: 0.36, _K.ID: 0.3},
    SlotClass.ID: {_K.ID: 0.75, _K.NUMBER: 0.45, _K.QUOTED: 0.5, _K.CODE: 0.35, _K.NAME: 0.25},
    SlotClass.DATE_TEXT: {_K.DATE: 0.6, _K.TIME: 0.3, _K.QUOTED: 0.4},
    SlotClass.TEXT: {_K.QUOTED: 0.8, _K.NAME: 0.3},
    SlotClass.OTHER: {
        _K.QUOTED: 0.6, _K.NAME: 0.4, _K.PLACE: 0.36, _K.PERSON: 0.36, _K.ID: 0.4, _K.CODE: 0.4, _K.URL: 0.3,
        _K.EMAIL: 0.3,
    },
}  # fmt: skip
STATED_SUITS: Final = 0.5
"""How well a value suits a slot under whose name it is given, before that name counts as context."""
STATED_MINIMUM: Final = 0.3
"""How much of its name a value must share with the slot."""
COUNTED_SUITS: Final = 0.55
"""How well what a number counts, as the apples of 3个苹果, suits a text in the records of a list."""
_COUNTED_CLASSES: Final = frozenset({SlotClass.OTHER, SlotClass.PERSON, SlotClass.TEXT})
_STATED_CLASSES: Final = frozenset(
    {
        SlotClass.PATTERN, SlotClass.PLACE, SlotClass.PERSON, SlotClass.ID, SlotClass.TEXT, SlotClass.OTHER,
        SlotClass.DATE_TEXT, SlotClass.EMAIL,
    }
)  # fmt: skip
ENUM_SUITS: Final = 0.9
"""How well a member of its enum suits a slot."""
EXAMPLE_SUITS: Final = 0.75
"""How well a value suits a slot whose description quotes it."""
SWITCH_SUITS: Final = 0.8
"""How well words that say a switch suit it."""
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
        members: For a list, what each of its items is.
    """

    slot: Slot
    mention: Mention
    reading: Reading
    score: float
    has_evidence: bool
    members: tuple[Candidate, ...] = ()


def candidates(slot: Slot, view: RequestView, place: Place) -> tuple[tuple[Candidate, ...], Unread | None]:
    """Return the mentions of a place that can fill the slot, and why the best of those that cannot was refused."""
    found: list[Candidate] = []
    refused: tuple[float, Unread] | None = None
    for offer in _offers(slot, view, place):
        mention = offer.mention
        reading = offer.reading or read(slot, mention.text, view.conversion, mention.unit)
        context = max(offer.context, _context(slot, mention, view))
        score, has_evidence = _score(slot, mention, offer.suits, context, view)
        if isinstance(reading, Reading):
            if slot.slot_class is SlotClass.DATE_RANGE and _is_one_day(reading.value):
                score *= SINGLE_DAY_FACTOR
            found.append(Candidate(slot, mention, reading, score, has_evidence or offer.reading is not None))
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


@dataclass(frozen=True, slots=True)
class _Offer:
    """One mention that may fill a slot, with its value where its words do not spell it."""

    mention: Mention
    suits: float
    reading: Reading | None = None
    context: float = 0.0


def _offers(slot: Slot, view: RequestView, place: Place) -> Iterator[_Offer]:
    if slot.slot_class is SlotClass.ENUM:
        yield from (_Offer(mention, ENUM_SUITS, reading) for mention, reading in chosen_members(slot, view, place))
        if any(not isinstance(member, str) for member in slot.enum):
            yield from (_Offer(m, 0.6) for m in view.mentions_in(place) if m.kind is MentionKind.NUMBER)
        return
    if slot.slot_class is SlotClass.BOOLEAN:
        yield from (_Offer(mention, SWITCH_SUITS, reading) for mention, reading in switched(slot, view, place))
        return
    suits = SUITS.get(slot.slot_class, {})
    if slot.slot_class is SlotClass.DATE_TIME:
        yield from (_Offer(mention, suits[MentionKind.DATE] + 0.1) for mention in _moments(view, place))
    yield from _typed_offers(slot, suits, view, place)
    if slot.slot_class in {SlotClass.INTEGER, SlotClass.NUMBER} and slot.units & _PERIODS:
        yield from (_Offer(mention, suits[MentionKind.NUMBER]) for mention in _counts_in_dates(slot, view, place))


def _typed_offers(slot: Slot, suits: Mapping[MentionKind, float], view: RequestView, place: Place) -> Iterator[_Offer]:
    """Yield the mentions whose kind, own name or place among the description's examples suits the slot."""
    seen = set()
    for mention in view.mentions_in(place):
        if mention.kind in suits:
            seen.add((mention.start, mention.end))
            is_example = mention.text in slot.examples
            yield _Offer(mention, max(suits[mention.kind], EXAMPLE_SUITS if is_example else 0.0))
        elif mention.kind is MentionKind.COUNTED and "/0/" in slot.pointer and slot.slot_class in _COUNTED_CLASSES:
            yield _Offer(mention, COUNTED_SUITS)
        elif mention.kind is MentionKind.STATED and slot.slot_class in _STATED_CLASSES:
            shared = max((slot.words.get(key, 0.0) for key in keys(mention.label)), default=0.0)
            if shared >= STATED_MINIMUM:
                yield _Offer(mention, STATED_SUITS, context=min(1.0, shared + 0.3))
    if not slot.is_telling and slot.schema.get("type") == "string":
        for mention, _ in literal_mentions(slot.examples, view, place):
            if (mention.start, mention.end) not in seen:
                yield _Offer(mention, EXAMPLE_SUITS)


_PERIODS: Final = frozenset({"day", "week", "month", "year"})
_COUNT_IN_DATE = re.compile(
    r"(?P<year>(?<![0-9])[12][0-9]{3}(?![0-9]))|(?P<count>[0-9]{1,3}) ?个?(?P<unit>day|week|month|year|天|周|月|年)"
)
_CHINESE_PERIODS: Final = {"天": "day", "周": "week", "月": "month", "年": "year"}


def _counts_in_dates(slot: Slot, view: RequestView, place: Place) -> Iterator[Mention]:
    """Yield the year of each date, and the number of a period such as the next 5 days, for slots that count those."""
    for mention in view.mentions_in(place):
        found = _COUNT_IN_DATE.search(mention.text) if mention.kind is MentionKind.DATE else None
        if found is None:
            continue
        group = "year" if found["year"] else "count"
        unit = "year" if found["year"] else _CHINESE_PERIODS.get(found["unit"], found["unit"])
        if unit in slot.units:
            start, end = (mention.start + offset for offset in found.span(group))
            yield Mention(MentionKind.NUMBER, start, end, view.text[start:end], unit)


_BETWEEN_DAY_AND_TIME: Final = frozenset({"", "at", "的", "，", ","})


def _moments(view: RequestView, place: Place) -> Iterator[Mention]:
    """Yield a day and the time of day next to it as one mention."""
    mentions = view.mentions_in(place)
    for first, second in pairwise(mentions):
        between = view.text[first.end : second.start].strip().lower()
        if {first.kind, second.kind} == {MentionKind.DATE, MentionKind.TIME} and between in _BETWEEN_DAY_AND_TIME:
            yield Mention(MentionKind.DATE, first.start, second.end, view.text[first.start : second.end])


def _score(slot: Slot, mention: Mention, suits: float, context: float, view: RequestView) -> tuple[float, bool]:
    direction = _direction(slot, mention, view.text)
    unit = 0.0
    if mention.unit and slot.slot_class in {SlotClass.INTEGER, SlotClass.NUMBER}:
        is_other = slot.units or mention.unit == "percent"
        unit = UNIT_WEIGHT if mention.unit in slot.units else (-UNIT_WEIGHT if is_other else 0.0)
    score = suits + CONTEXT_WEIGHT * context + DIRECTION_WEIGHT * direction + unit
    is_named = mention.kind is _OWN_KIND.get(slot.slot_class)
    return (
        score,
        is_named or slot.is_telling or context >= 0.2 or direction > 0 or unit > 0 or mention.text in slot.examples,
    )


_OWN_KIND: Final = {SlotClass.PLACE: MentionKind.PLACE, SlotClass.PERSON: MentionKind.PERSON}
"""Names whose cue word or fame has told already what they are."""


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
