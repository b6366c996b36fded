"""Which mentions can fill a slot, and how well: by kind, by the words around and by the place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.language.described import DIRECTION_WORDS, SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.phrases import NAMING
from taoloop.thought.planners.graph.language.roles import Role
from taoloop.thought.planners.graph.language.text import Word
from taoloop.thought.planners.graph.language.vocabulary import PLACE_WORDS
from taoloop.thought.planners.graph.offers.offering import offers
from taoloop.thought.planners.graph.offers.quantities import assigned, cue_of
from taoloop.thought.planners.graph.reading import Reading, read
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView
from taoloop.thought.planners.unread import Unread

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
    for offer in offers(slot, view, place):
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


def _score(slot: Slot, mention: Mention, suits: float, context: float, view: RequestView) -> tuple[float, bool]:
    direction = _direction(slot, mention, view.text)
    unit = 0.0
    if mention.unit and slot.slot_class in {SlotClass.INTEGER, SlotClass.NUMBER}:
        is_other = (slot.units and mention.unit not in _LOOSE_UNITS) or mention.unit == "percent"
        unit = UNIT_WEIGHT if mention.unit in slot.units else (-UNIT_WEIGHT if is_other else 0.0)
    if mention.kind is MentionKind.NUMBER:
        unit += cue_of(slot, mention, view)
    unit += assigned(slot, mention, view)
    if mention.kind is MentionKind.PLACE and mention.text[-1:] in "区县镇":
        unit += UNIT_WEIGHT if slot.own & _DISTRICT_WORDS else -UNIT_WEIGHT / 2
    elif mention.kind is MentionKind.PLACE and slot.own & _DISTRICT_WORDS and view.is_chinese:
        unit -= UNIT_WEIGHT
    if mention.text.startswith("/") and slot.own & _PATH_WORDS:
        unit += UNIT_WEIGHT
    if (
        slot.slot_class in {SlotClass.CURRENCY, SlotClass.UNIT}
        and slot.direction
        and _NUMBER_BEFORE.search(view.text, max(0, mention.start - 12), mention.start)
    ):
        unit += UNIT_WEIGHT if slot.direction == "from" else -UNIT_WEIGHT
    if mention.kind is MentionKind.EXPRESSION and slot.role is Role.FORMULA:
        unit += UNIT_WEIGHT
    score = suits + CONTEXT_WEIGHT * context + DIRECTION_WEIGHT * direction + unit
    is_named = mention.kind is _OWN_KIND.get(slot.slot_class) or (
        mention.kind is MentionKind.QUOTED and _is_called(mention, view)
    )
    return (
        score,
        is_named
        or mention.kind is MentionKind.PHRASE
        or slot.is_telling
        or context >= 0.2
        or direction > 0
        or unit > 0
        or mention.text in slot.examples,
    )


_DISTRICT_WORDS: Final = frozenset({"district", "county"})
_CALLED = re.compile(rf"(?:{'|'.join(sorted(NAMING))})\s+[\"'“‘「《]?$")


def _is_called(mention: Mention, view: RequestView) -> bool:
    """Tell whether a word such as `titled` stands before a mention."""
    return _CALLED.search(view.lowered, max(0, mention.start - 16), mention.start) is not None


_LOOSE_UNITS: Final = frozenset({"item", "person"})
"""Units that say how many and not of what: a length may be given in units."""
_PATH_WORDS: Final = frozenset({"folder", "path", "directory", "dir", "file"})
_NUMBER_BEFORE = re.compile(r"[0-9]\s?$")
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
        reach = CONTEXT_WINDOW * 2 // 3 if mention.kind is MentionKind.NUMBER else CONTEXT_WINDOW // 2
        distance, between = word.start - mention.end, (mention.end, word.start)
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
