"""Reads words of the user as the value of one slot, by the conversions that the resolver repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.plan.model import Convert
from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.slots import Slot, SlotClass
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


@dataclass(frozen=True, slots=True)
class Unread:
    """Words of the right kind that give no value.

    Attributes:
        reason: Why.
        candidates: What they may mean, or what would be accepted.
    """

    reason: InputReason
    candidates: tuple[str, ...] = ()


CONVERSION_OF: Final[Mapping[SlotClass, str]] = {
    SlotClass.DATE: "date",
    SlotClass.DATE_TIME: "datetime",
    SlotClass.DATE_RANGE: "date-range",
    SlotClass.INTEGER: "integer",
    SlotClass.NUMBER: "number",
    SlotClass.BOOLEAN: "boolean",
    SlotClass.EMAIL: "email",
}
"""The conversion by which words become the value of a slot; classes that are not named take words as they are."""


def read(slot: Slot, text: str, context: ConversionContext) -> Reading | Unread:
    """Read `text` as a value of the slot; text that the schema accepts as it stands is not converted."""
    if slot.accepts(text):
        return Reading(text)
    if slot.slot_class is SlotClass.ENUM:
        return _member(slot, text)
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
    return Reading(value, Convert(to=to))


def _member(slot: Slot, text: str) -> Reading | Unread:
    """Find the enum's member that differs only by case, width, `_`, `-` and blanks; two such members are none."""
    wanted = _folded(text)
    found = [number for number, member in enumerate(slot.enum) if _folded(str(member)) == wanted]
    if len(found) != 1:
        return Unread(InputReason.INVALID)
    return Reading(slot.enum[found[0]], member=found[0])


def _folded(text: str) -> str:
    return fold(text).replace("_", " ").replace("-", " ")
