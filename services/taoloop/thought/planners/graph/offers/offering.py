"""What a request offers to one slot: mentions of a fitting kind, pieces of them, phrases, values of the schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from taoloop.thought.planners.graph.language.described import SlotClass, type_of
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.text import keys
from taoloop.thought.planners.graph.language.vocabulary import DATE_WORDS
from taoloop.thought.planners.graph.offers.choices import chosen_members
from taoloop.thought.planners.graph.offers.labels import ADJOINING, labelled
from taoloop.thought.planners.graph.offers.literals import literal_mentions
from taoloop.thought.planners.graph.offers.named import named
from taoloop.thought.planners.graph.offers.phrases import phrase_offers
from taoloop.thought.planners.graph.offers.pieces import (
    ends_of_periods,
    months,
    parts_of_dates,
    parts_of_places,
    with_states,
)
from taoloop.thought.planners.graph.offers.quantities import frequencies
from taoloop.thought.planners.graph.offers.suits import SUITS, suits_of
from taoloop.thought.planners.graph.offers.switches import switched
from taoloop.thought.planners.graph.reading import Reading
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView

LABEL_BONUS: Final = 0.2
"""What the label of a slot right before a name or code adds."""
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
NAMED_SUITS: Final = 0.75
"""How well the name of a currency, a language or a unit suits a slot that takes one."""
PIECE_SUITS: Final = 0.85
"""How well a piece of a mention suits a slot that takes just this piece."""
NUMBER_SUITS: Final = 0.7
"""The same for a number in a date."""
FREQUENCY_SUITS: Final = 0.6
"""How well words such as `quarterly` suit a slot that takes a frequency."""
MOMENT_SUITS: Final = 0.75
"""How well a day with its time of day suits a slot that takes either as text."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One mention that may fill a slot.

    Attributes:
        mention: The mention.
        suits: How well it suits, before the words around it are looked at.
        reading: Its value, where its words do not spell it.
        context: What is known of the words around it, 0 to 1.
    """

    mention: Mention
    suits: float
    reading: Reading | None = None
    context: float = 0.0


def offers(slot: Slot, view: RequestView, place: Place) -> Iterator[Offer]:
    """Yield what a place offers to a slot."""
    if slot.slot_class is SlotClass.ENUM:
        yield from (Offer(mention, ENUM_SUITS, reading) for mention, reading in chosen_members(slot, view, place))
        if any(not isinstance(member, str) for member in slot.enum):
            yield from (Offer(m, 0.6) for m in view.mentions_in(place) if m.kind is MentionKind.NUMBER)
        return
    if slot.slot_class is SlotClass.BOOLEAN:
        yield from (Offer(mention, SWITCH_SUITS, reading) for mention, reading in switched(slot, view, place))
        return
    yield from _typed(slot, view, place)
    if slot.slot_class in _NUMBERS:
        yield from _numbers(slot, view, place)
    else:
        yield from _pieces(slot, view, place)
        yield from _worded(slot, view, place)
        yield from _quoted_by_the_schema(slot, view, place)


def _numbers(slot: Slot, view: RequestView, place: Place) -> Iterator[Offer]:
    """Yield the numbers that stand in dates and in words."""
    yield from (Offer(mention, NUMBER_SUITS, context=0.5) for mention in ends_of_periods(slot, view, place))
    yield from (Offer(mention, FREQUENCY_SUITS, reading) for mention, reading in frequencies(slot, view, place))
    yield from (Offer(mention, NUMBER_SUITS, reading) for mention, reading in parts_of_dates(slot, view, place))
    if slot.units & _PERIODS:
        suits = SUITS[slot.slot_class][MentionKind.NUMBER]
        yield from (Offer(mention, suits) for mention in _counts_in_dates(slot, view, place))


def _pieces(slot: Slot, view: RequestView, place: Place) -> Iterator[Offer]:
    """Yield pieces of mentions, and several that make one value."""
    if slot.slot_class in _DAYS:
        yield from (Offer(mention, PIECE_SUITS, context=0.5) for mention in ends_of_periods(slot, view, place))
    if slot.slot_class is SlotClass.PLACE:
        yield from (Offer(mention, PIECE_SUITS) for mention in parts_of_places(slot, view, place))
        yield from (Offer(mention, PIECE_SUITS, reading) for mention, reading in with_states(slot, view, place))
    if slot.slot_class in _NAMED:
        yield from (Offer(mention, NAMED_SUITS, reading) for mention, reading in named(slot, view, place))
    if type_of(slot.schema) == "string":
        yield from (Offer(mention, ENUM_SUITS, reading) for mention, reading in months(slot, view, place))
    if slot.slot_class is SlotClass.DATE_TIME:
        yield from (Offer(mention, ENUM_SUITS) for mention in _moments(view, place))
    if slot.slot_class in _MOMENTS and not slot.has_mask and not slot.siblings & DATE_WORDS:
        yield from (Offer(mention, MOMENT_SUITS) for mention in _moments(view, place))


def _typed(slot: Slot, view: RequestView, place: Place) -> Iterator[Offer]:
    """Yield the mentions whose kind or own name suits the slot."""
    suits = SUITS.get(slot.slot_class, {})
    for mention in view.mentions_in(place):
        if mention.kind in _SPELLED_KINDS and _is_about_the_tool(slot, mention):
            continue
        if mention.kind in suits:
            is_example = mention.text in slot.examples
            yield Offer(mention, max(suits_of(slot, mention), EXAMPLE_SUITS if is_example else 0.0))
        elif mention.kind is MentionKind.COUNTED and "/0/" in slot.pointer and slot.slot_class in _COUNTED_CLASSES:
            yield Offer(mention, COUNTED_SUITS)
        elif (
            mention.kind is MentionKind.STATED
            and slot.slot_class in _STATED_CLASSES
            and not ("/0/" in slot.pointer and _counts_things(mention, view))
        ):
            shared = max((slot.words.get(key, 0.0) for key in keys(mention.label)), default=0.0)
            if shared >= STATED_MINIMUM:
                yield Offer(mention, STATED_SUITS, context=min(1.0, shared + 0.3))


def _worded(slot: Slot, view: RequestView, place: Place) -> Iterator[Offer]:
    """Yield the phrases that may be the slot's text."""
    if slot.slot_class not in _WORDED_CLASSES and not (view.is_chinese and slot.slot_class is SlotClass.PLACE):
        return
    suits = SUITS.get(slot.slot_class, {})
    for phrase in (labelled if view.is_chinese else phrase_offers)(slot, view, place):
        is_labelled = view.is_chinese and phrase.suits >= ADJOINING and phrase.mention.kind in suits
        bonus = suits[phrase.mention.kind] + LABEL_BONUS if is_labelled else 0.0
        yield Offer(phrase.mention, max(phrase.suits, bonus))


def _quoted_by_the_schema(slot: Slot, view: RequestView, place: Place) -> Iterator[Offer]:
    """Yield the values that the slot's description gives as examples, in the plural too."""
    if slot.is_telling or type_of(slot.schema) != "string":
        return
    typed = {(m.start, m.end) for m in view.mentions_in(place) if m.kind in SUITS.get(slot.slot_class, {})}
    plural = [f"{example}s" for example in slot.examples if example.isalpha() and example.islower()]
    for mention, _ in literal_mentions((*slot.examples, *plural), view, place):
        if (mention.start, mention.end) not in typed:
            yield Offer(mention, EXAMPLE_SUITS)


def _counts_things(mention: Mention, view: RequestView) -> bool:
    """Tell whether a stated text is a list of things with their numbers, which the members of records share out."""
    return any(inner.kind is MentionKind.COUNTED for inner in view.mentions_in((mention.start, mention.end)))


_NUMBERS: Final = frozenset({SlotClass.INTEGER, SlotClass.NUMBER})
_NAMED: Final = frozenset({SlotClass.LANGUAGE, SlotClass.CURRENCY, SlotClass.UNIT})
_WORDED_CLASSES: Final = frozenset({SlotClass.TEXT, SlotClass.OTHER, SlotClass.PERSON})
"""Classes that take free text."""
_DAYS: Final = frozenset({SlotClass.DATE, SlotClass.DATE_TEXT, SlotClass.DATE_TIME})
_MOMENTS: Final = frozenset({SlotClass.DATE_TEXT, SlotClass.TIME})
_SPELLED_KINDS: Final = frozenset({MentionKind.CODE, MentionKind.NAME})


def _is_about_the_tool(slot: Slot, mention: Mention) -> bool:
    """Tell whether a name or code only repeats what the slot itself is called, as `ISBN` does."""
    said = keys(mention.text)
    known = slot.tool_words if mention.kind is MentionKind.CODE else slot.own | slot.told
    return bool(said) and all(key in known for key in said) and mention.text not in slot.examples


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
