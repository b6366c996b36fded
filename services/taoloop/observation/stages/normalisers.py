"""From the body to the data: fields renamed and converted, values unified; refused rather than guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.core.pointers import PointerNotFound
from taoloop.observation.stages.model import MAX_EXCERPT_CHARACTERS, Flaw, Outcome, Stage, flaw
from taoloop.values.conversions import ConversionContext, convert
from taoloop.values.datetimes import parse_rfc3339
from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused

Conversion = Callable[[JsonValue], JsonValue]
"""Returns the normal form of one value; raises `ValueRefused` where it has not exactly one."""

_NORMALISED: Final = Outcome(passed=("normalised",))
_MAX_CANDIDATES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldNormaliser:
    """What the contract declares about one field of the body.

    Attributes:
        field: Pointer of the field in the body.
        to: Pointer of the value in the data; the same as `field` when it keeps its place.
        conversions: Applied one after the other; none for a mere renaming.
    """

    field: str
    to: str
    conversions: tuple[Conversion, ...] = ()


@dataclass(frozen=True, slots=True)
class EnumMap:
    """Unifies the spellings of a value; a conversion.

    Letter case, width and white space are folded, nothing more.

    Attributes:
        by_folded: The unified value by folded spelling.
        is_closed: Whether any other value is refused; else it is left as it is, for other checks to judge.
        candidates: The unified values, for the refusal.
    """

    by_folded: dict[str, JsonValue]
    is_closed: bool
    candidates: tuple[str, ...]

    def __call__(self, value: JsonValue) -> JsonValue:
        """Return the unified value.

        Raises:
            ValueRefused: The map is closed and has no such value.
        """
        if not isinstance(value, str):
            if self.is_closed and value is not None:
                raise ValueRefused(RefusalCode.UNREADABLE, "The value is no text that the map knows.", self.candidates)
            return value
        known = self.by_folded.get(fold(value), ABSENT)
        if known is not ABSENT:
            return known
        if self.is_closed:
            raise ValueRefused(RefusalCode.UNREADABLE, "The value is none of the known ones.", self.candidates)
        return value


def enum_map(mapping: dict[str, JsonValue], known: Sequence[JsonValue] | None) -> EnumMap:
    """Return the conversion for a contract's `enum`.

    A value that the tool already gives in unified form is right, too. Where the contract also has `known` for the
    field, a value outside of both is not refused here: it breaks the consistency there, and keeps the data.

    Args:
        mapping: Unified value by the tool's spelling.
        known: The contract's known values of the field; None when it has none.
    """
    by_folded: dict[str, JsonValue] = {}
    unified = [*mapping.values(), *(known or ())]
    for value in unified:
        if isinstance(value, str):
            by_folded.setdefault(fold(value), value)
    by_folded.update({fold(spelling): value for spelling, value in mapping.items()})
    candidates = tuple(dict.fromkeys(value for value in unified if isinstance(value, str)))
    return EnumMap(by_folded, known is None, candidates[:_MAX_CANDIDATES])


def time_conversion(to: str, time_zone: str) -> Conversion:
    """Return the conversion for a contract's `as`.

    Without the contract's time zone a local time has no reading, and neither has the day of a moment: both are
    refused. Words such as `tomorrow` are always refused: nothing says what the tool counts from.

    Args:
        to: `datetime`, RFC 3339 in UTC, or `date`, `YYYY-MM-DD`.
        time_zone: The contract's IANA name; empty when it states none.
    """
    context = ConversionContext(time_zone=time_zone)

    def in_zone(value: JsonValue) -> JsonValue:
        return convert(to, value, context)

    def without_zone(value: JsonValue) -> JsonValue:
        if to == "datetime" and isinstance(value, str):
            return _with_offset(value, context)
        if to == "date" and isinstance(value, str) and _is_moment(value):
            raise ValueRefused(RefusalCode.AMBIGUOUS, "The day of a moment needs the contract's time zone.")
        return convert(to, value, context)

    return in_zone if time_zone else without_zone


def normalise(body: JsonValue, normalisers: Sequence[FieldNormaliser]) -> tuple[Json, Outcome]:
    """Return the data and what was refused; the data is ABSENT when anything was.

    A field that the body does not have is left out, and null stays null: whether they may be missing is for the
    schema to say. All fields are read from the body, so that the order of the declarations does not matter. The
    body itself is not changed.
    """
    if not normalisers:
        return body, Outcome()
    values: list[tuple[str, JsonValue]] = []
    flaws: list[Flaw] = []
    for normaliser in normalisers:
        try:
            value = pointers.lookup(body, normaliser.field)
        except PointerNotFound:
            continue
        try:
            values.append((normaliser.to, _converted(value, normaliser.conversions)))
        except ValueRefused as refusal:
            flaws.append(_refused(normaliser.field, value, refusal))
    if flaws:
        return ABSENT, Outcome(flaws=tuple(flaws))
    moved = [normaliser.field for normaliser in normalisers if normaliser.field != normaliser.to]
    return _placed(_without(body, moved), values)


def _with_offset(text: str, context: ConversionContext) -> JsonValue:
    """Read a moment that carries its offset, and refuse a local time; other refusals keep their own reason."""
    moment = convert("datetime", text, context)
    if _is_moment(text):
        return moment
    raise ValueRefused(RefusalCode.AMBIGUOUS, "A local time needs the contract's time zone.")


def _is_moment(text: str) -> bool:
    try:
        parse_rfc3339(text)
    except ValueRefused:
        return False
    return True


def _converted(value: JsonValue, conversions: Iterable[Conversion]) -> JsonValue:
    if value is None:
        return None
    for conversion in conversions:
        value = conversion(value)
    return value


def _placed(data: JsonValue, values: Iterable[tuple[str, JsonValue]]) -> tuple[Json, Outcome]:
    flaws = []
    for pointer, value in values:
        try:
            data = _with(data, pointers.parse(pointer), value)
        except LookupError:
            message = "The body has no place for the normalised field."
            flaws.append(flaw(Stage.NORMALISE, FaultCode.NORMALISATION_REFUSED, message, pointer=pointer))
    return (ABSENT, Outcome(flaws=tuple(flaws))) if flaws else (data, _NORMALISED)


def _refused(pointer: str, value: JsonValue, refusal: ValueRefused) -> Flaw:
    return flaw(
        Stage.NORMALISE,
        FaultCode.NORMALISATION_REFUSED,
        refusal.message,
        pointer=pointer,
        rule_id=refusal.code.value.lower(),
        actual=value,
        candidates=tuple(text[:MAX_EXCERPT_CHARACTERS] for text in refusal.candidates[:_MAX_CANDIDATES]),
    )


def _without(value: JsonValue, places: Sequence[str]) -> JsonValue:
    for place in places:
        value = _removed(value, pointers.parse(place))
    return value


def _removed(value: JsonValue, tokens: tuple[str, ...]) -> JsonValue:
    """Return a copy without the member; items of arrays stay, so that the others keep their index."""
    if not tokens or not isinstance(value, dict | list):
        return value
    first, rest = tokens[0], tokens[1:]
    if isinstance(value, list):
        index = _index(value, first)
        return value if index is None or not rest else _replaced(value, index, _removed(value[index], rest))
    if first not in value:
        return value
    if not rest:
        return {key: member for key, member in value.items() if key != first}
    return {**value, first: _removed(value[first], rest)}


def _with(value: JsonValue, tokens: tuple[str, ...], new: JsonValue) -> JsonValue:
    """Return a copy in which `new` stands at the place; objects on the way are made.

    Raises:
        LookupError: A scalar or a missing item stands in the way.
    """
    if not tokens:
        return new
    first, rest = tokens[0], tokens[1:]
    if isinstance(value, dict):
        return {**value, first: _with(value.get(first, {}), rest, new)}
    index = _index(value, first) if isinstance(value, list) else None
    if not isinstance(value, list) or index is None:
        raise LookupError(first)
    return _replaced(value, index, _with(value[index], rest, new))


def _replaced(items: list[JsonValue], index: int, new: JsonValue) -> list[JsonValue]:
    return [*items[:index], new, *items[index + 1 :]]


def _index(items: list[JsonValue], token: str) -> int | None:
    is_number = len(token) < 10 and token.isascii() and token.isdecimal()
    return int(token) if is_number and int(token) < len(items) else None
