"""Reads words of the user as the value of one slot, by the conversions that the resolver repeats."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.plan.model import Convert
from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.numerals import spoken_number
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.unread import Unread
from taoloop.values.conversions import ConversionContext, convert
from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused


@dataclass(frozen=True, slots=True)
class Reading:
    """A value that a slot accepts.

    Attributes:
        value: The value.
        convert: How the words become it; None when they are it, or when `member` says where it stands.
        member: Number of the enum's member that the words are another spelling of; None for all else.
    """

    value: JsonValue
    convert: Convert | None = None
    member: int | None = None


CONVERSION_OF: Final[Mapping[SlotClass, str]] = {
    SlotClass.DATE: "date",
    SlotClass.DATE_TEXT: "date",
    SlotClass.TIME: "time",
    SlotClass.DATE_TIME: "datetime",
    SlotClass.DATE_RANGE: "date-range",
    SlotClass.INTEGER: "integer",
    SlotClass.NUMBER: "number",
    SlotClass.BOOLEAN: "boolean",
    SlotClass.EMAIL: "email",
}
"""The conversion by which words become the value of a slot; classes that are not named take words as they are."""


_FIRST_CONVERTED: Final = frozenset({SlotClass.DATE, SlotClass.TIME})
"""Classes whose words are brought into the form that the description shows, although any text keeps the schema."""


def read(slot: Slot, text: str, context: ConversionContext, unit: str = "") -> Reading | Unread:
    """Read `text` as a value of the slot; text that the schema accepts as it stands is mostly not converted.

    Args:
        slot: The slot.
        text: The words.
        context: What relative words and numbers are read against.
        unit: The unit that stands after a number, a key of `vocabulary.UNIT_WORDS`.
    """
    if slot.slot_class in _FIRST_CONVERTED and slot.has_mask:
        return _converted(slot, text, context)
    is_in_words = (context.reference_time is not None and not _DIGIT.search(text)) or "年" in text
    if slot.slot_class is SlotClass.DATE_TEXT and is_in_words:
        made = _converted(slot, text, context)
        return made if isinstance(made, Reading) else Reading(text)
    if slot.accepts(text):
        return Reading(text)
    if slot.slot_class is SlotClass.ENUM:
        return _member(slot, text)
    if slot.slot_class in {SlotClass.INTEGER, SlotClass.NUMBER}:
        number = _number(slot, text, unit)
        if number is not None:
            return number
    return _converted(slot, text, context)


_DIGIT = re.compile(r"[0-9]")


def _number(slot: Slot, text: str, unit: str) -> Reading | Unread | None:
    """Read a share on the slot's scale, and a number in words; None for plain digits."""
    spoken = spoken_number(text)
    if spoken is not None:
        options: JsonValue = {"values": {text: spoken}}
        return Reading(spoken, Convert(to="enum", options=options)) if slot.accepts(spoken) else _INVALID
    if unit != "percent" or slot.scale == "percent" or slot.slot_class is SlotClass.INTEGER:
        return None
    options = {"scale": "fraction", "unit": "percent"}
    try:
        value = convert("percentage", text, ConversionContext(), options)
    except ValueRefused:
        return None
    return Reading(value, Convert(to="percentage", options=options)) if slot.accepts(value) else _INVALID


_INVALID: Final = Unread(InputReason.INVALID)


def _converted(slot: Slot, text: str, context: ConversionContext) -> Reading | Unread:
    to = CONVERSION_OF.get(slot.slot_class)
    if to is None:
        return Unread(InputReason.INVALID)
    try:
        value = convert(to, text, context)
    except ValueRefused as refused:
        is_ambiguous = refused.code is RefusalCode.AMBIGUOUS
        return Unread(InputReason.AMBIGUOUS if is_ambiguous else InputReason.INVALID, refused.candidates)
    if not slot.accepts(value):
        return Unread(InputReason.INVALID)
    return Reading(value, None if value == text else Convert(to=to))


def _member(slot: Slot, text: str) -> Reading | Unread:
    """Find the enum's member that differs only by case, width, `_`, `-` and blanks; two such members are none."""
    wanted = _folded(text)
    found = [number for number, member in enumerate(slot.enum) if _folded(str(member)) == wanted]
    if len(found) != 1:
        return Unread(InputReason.INVALID)
    return Reading(slot.enum[found[0]], member=found[0])


def _folded(text: str) -> str:
    return fold(text).replace("_", " ").replace("-", " ")
