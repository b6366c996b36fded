"""Pieces of one mention that several slots share: the ends of a period, a city and the country after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from taoloop.plan.model import Convert
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.places import STATE_OF
from taoloop.thought.planners.graph.reading import Reading
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView

_TIE = re.compile(r"\s(?:to|until|till|through|and)\s|[~～—–至到]|(?<=\s)-(?=\s)", re.IGNORECASE)
_OPENING = re.compile(r"(?:from|between)\s|从", re.IGNORECASE)
_YEAR = re.compile(r"(?<![0-9])[12][0-9]{3}(?![0-9])")
_REGION_WORDS: Final = frozenset({"country", "state", "province", "region", "国家", "省份", "nation"})
_CITY_WORDS: Final = frozenset({"city", "town", "城市"})


def ends_of_periods(slot: Slot, view: RequestView, place: Place) -> Iterator[Mention]:
    """Yield the first or the last day, or year, of each period, for a slot that says which of them it takes."""
    if not slot.direction:
        return
    for mention in view.mentions_in(place):
        tie = _TIE.search(mention.text) if mention.kind is MentionKind.DATE else None
        if tie is None:
            continue
        opening = _OPENING.match(mention.text)
        start, end = (opening.end() if opening else 0, tie.start()) if slot.direction == "from" else (
            tie.end(), len(mention.text))  # fmt: skip
        if slot.slot_class in {SlotClass.INTEGER, SlotClass.NUMBER}:
            year = _YEAR.search(mention.text, start, end) if "year" in slot.units else None
            if year is None:
                continue
            start, end = year.span()
        yield Mention(MentionKind.DATE, mention.start + start, mention.start + end, mention.text[start:end])


_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = re.compile("|".join(rf"{name}|{name[:3]}(?![a-z])" for name in _MONTHS))
_ISO = re.compile(r"(?P<year>[0-9]{4})[-/.](?P<month>[0-9]{1,2})(?:[-/.](?P<day>[0-9]{1,2}))?")
_CHINESE_DAY = re.compile(r"(?:(?P<year>[0-9]{4})年)?(?P<month>[0-9]{1,2})月(?:(?P<day>[0-9]{1,2})[日号])?")
_DAY = re.compile(r"(?<![0-9])(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?(?![0-9])")


def parts_of_dates(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    """Yield the day, the month or the year of each day that is named, for a slot that takes one of them as a number."""
    part = next((name for name in ("year", "month", "day") if name in slot.own), None)
    if part is None or len(slot.own - {"birth", "date", "start", "end", "of", "number", "num"}) != 1:
        return
    for mention in view.mentions_in(place):
        if mention.kind is not MentionKind.DATE:
            continue
        found = _part_of(part, mention.text.lower())
        if found is None:
            continue
        (start, end), value = found
        text = mention.text[start:end]
        if slot.accepts(value):
            convert = Convert(to="enum", options={"values": {text: value}})
            yield Mention(MentionKind.NUMBER, mention.start + start, mention.start + end, text), Reading(value, convert)


_MONTH_MASK = re.compile(r"(?:YYYY|yyyy)-(?:MM|mm)(?![-A-Za-z])")


def months(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    """Yield each month that is named with its year, in the form `YYYY-MM`, for a slot that shows this form."""
    if not _MONTH_MASK.search(str(slot.schema.get("description") or "")):
        return
    for mention in view.mentions_in(place):
        year, month = (_part_of(part, mention.text.lower()) if mention.kind is MentionKind.DATE else None
                       for part in ("year", "month"))  # fmt: skip
        if year is not None and month is not None:
            value = f"{year[1]:04}-{month[1]:02}"
            convert = None if value == mention.text else Convert(to="enum", options={"values": {mention.text: value}})
            yield mention, Reading(value, convert)


def _part_of(part: str, text: str) -> tuple[Place, int] | None:
    written = _ISO.search(text) or _CHINESE_DAY.search(text)
    if written is not None:
        return (written.span(part), int(written[part])) if written[part] else None
    if part == "month":
        month = _MONTH.search(text)
        return (month.span(), [name[:3] for name in _MONTHS].index(month[0][:3]) + 1) if month else None
    pattern = _YEAR if part == "year" else _DAY
    found = pattern.search(text)
    if found is None or (part == "day" and _MONTH.search(text) is None):
        return None
    return found.span(), int(found[0].rstrip("stndrh"))


_CITY_AND_STATE = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*, [A-Z]{2}(?![A-Za-z])|[Cc]ity,? (?:and )?(?:the )?[Ss]tate")


def with_states(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    """Yield each large city with its state, for a slot whose description shows both together."""
    description = str(slot.schema.get("description") or "")
    if not _CITY_AND_STATE.search(description) or slot.siblings & _REGION_WORDS:
        return
    for mention in view.mentions_in(place):
        state = STATE_OF.get(mention.text.lower()) if mention.kind in _PLACES else None
        if state is not None:
            value = f"{mention.text}, {state}"
            convert = Convert(to="enum", options={"values": {mention.text: value}})
            yield mention, Reading(value, convert)


_PLACES: Final = frozenset({MentionKind.PLACE, MentionKind.NAME})


def parts_of_places(slot: Slot, view: RequestView, place: Place) -> Iterator[Mention]:
    """Yield the city, or the country or state, of each place that is named with both, as the slot takes one."""
    wants_region = bool(slot.own & _REGION_WORDS)
    if wants_region == bool(slot.own & _CITY_WORDS):
        return
    if not slot.siblings & (_CITY_WORDS if wants_region else _REGION_WORDS):
        return
    for mention in view.mentions_in(place):
        first, comma, rest = mention.text.partition(", ")
        if mention.kind is not MentionKind.PLACE or not comma or "," in rest or first[:1].isdigit():
            continue
        start, end = (len(first) + 2, len(mention.text)) if wants_region else (0, len(first))
        yield Mention(mention.kind, mention.start + start, mention.start + end, mention.text[start:end])
