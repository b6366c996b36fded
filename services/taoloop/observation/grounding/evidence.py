"""The index over the evidence: every value in one form, built once for an answer, in one walk."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from decimal import Decimal
from typing import Final

from taoloop.core.exact_json import Absent, JsonValue
from taoloop.observation.grounding.extracting import extract_values
from taoloop.observation.grounding.keys import implied
from taoloop.observation.grounding.model import (
    MAX_DIGITS,
    GroundingLimits,
    Mention,
    Node,
    TooManyValues,
    decimal_key,
)
from taoloop.observation.grounding.reading import Reading, half_width
from taoloop.observation.grounding.texts.codes import visible_end
from taoloop.observation.grounding.texts.names import fold_name
from taoloop.observation.grounding.texts.numbers import scaled
from taoloop.observation.grounding.vocabulary import FRACTION, PERCENT, is_currency, unit_of_field, unit_of_text
from taoloop.plan.answering import ClaimKind, Evidence
from taoloop.values.datetimes import parse_epoch
from taoloop.values.refusals import ValueRefused

MAX_POINTER_CHARACTERS: Final = 1024
"""A place with a longer pointer supports nothing."""

MAX_HITS: Final = 256
"""Most places that are kept for one value; more of them support no more answers."""

PROSE: Final = "prose"
"""Stands for the unit of a number within a longer text that states none."""

_MOMENTS: Final = ("at:", "mdat:", "utc:")
_NAME_CHARACTERS: Final = 80
_MAX_INTEGER_BITS: Final = 14_000  # below MAX_DIGITS digits
_CURRENCY_FIELDS: Final = frozenset({"currency", "currency_code", "currencycode", "ccy", "币种", "货币"})
_UNIT_FIELDS: Final = frozenset({"unit", "units", "uom", "unit_of_measure", "unitofmeasure", "单位"})
_TIME_FIELD: Final = re.compile(
    r"(?:^|[_A-Za-z])(?:at|time|date|timestamp|ts|epoch|eta|expires|expiry)$", re.IGNORECASE
)
_DURATION: Final = re.compile(r"P(?:(\d{1,9})([DW])|T(\d{1,9})([HMS]))")
_DURATION_UNITS: Final = {"D": "d", "W": "wk", "H": "h", "M": "min", "S": "s"}
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a value stands, and whether the key names a wider period than it."""

    node: Node
    is_wider: bool


@dataclass(slots=True)
class EvidenceIndex:
    """Every value of the evidence in one form.

    Attributes:
        hits: By key, the places of the value in the order of the evidence.
        numbers: By the number's key, one place for each pair of unit and currency that goes with it.
        counts: By the length of an array, its place.
        texts: Every text, folded, with its place.
        names: The short texts that may be names, folded.
        field_words: Lower-case words that names of fields are made of.
        moments: Places of a day with its time.
        size_bytes: UTF-8 bytes of all texts and names of fields, 8 for each other scalar.
        values_left: How many values may still be read out of texts.
    """

    hits: defaultdict[str, list[Hit]] = field(default_factory=lambda: defaultdict(list))
    numbers: defaultdict[str, dict[tuple[str, str], Node]] = field(default_factory=lambda: defaultdict(dict))
    values: dict[str, Decimal] = field(default_factory=dict)
    counts: dict[int, Node] = field(default_factory=dict)
    texts: list[tuple[str, Node]] = field(default_factory=list)
    names: dict[str, Node] = field(default_factory=dict)
    field_words: set[str] = field(default_factory=set)
    moments: set[Node] = field(default_factory=set)
    size_bytes: int = 0
    values_left: int = sys.maxsize

    def extracted(self, text: str, reading: Reading) -> list[Mention]:
        """Return the values of a text.

        Raises:
            TooManyValues: They are more than may still be read.
        """
        mentions = extract_values(text, reading, self.values_left)
        self.values_left -= len(mentions)
        return mentions

    def add_key(self, key: str, node: Node) -> None:
        """Add a value with all that it implies."""
        if key.startswith(_MOMENTS):
            self.moments.add(node)
        for implied_key, is_wider in implied(key):
            places = self.hits[implied_key]
            if len(places) < MAX_HITS:
                places.append(Hit(node, is_wider))

    def add_number(self, value: Decimal, unit: str, currency: str, node: Node) -> None:
        """Add a number; a percentage is the fraction as well, and a stated fraction the percentage."""
        if len(value.as_tuple().digits) > MAX_DIGITS or not value.is_finite():
            return
        self._put_number(value, unit, currency, node)
        if unit == PERCENT:
            self._put_number(scaled(value, -2), FRACTION, currency, node)
        elif unit == FRACTION:
            self._put_number(scaled(value, 2), PERCENT, currency, node)

    def _put_number(self, value: Decimal, unit: str, currency: str, node: Node) -> None:
        key = decimal_key(value)
        self.numbers[key].setdefault((unit, currency), node)
        self.values.setdefault(key, value)


@dataclass(frozen=True, slots=True)
class _Place:
    """What a value inherits: the name of its field, and the unit and currency that are stated beside it."""

    value: JsonValue
    node: Node
    name: str = ""
    unit: str = ""
    currency: str = ""


class EvidenceTooLarge(Exception):
    """The evidence is above a limit.

    Attributes:
        what: Of what it has more.
        limit: The limit.
    """

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(what)
        self.what = what
        self.limit = limit


def index_evidence(evidence: Sequence[Evidence], reading: Reading, limits: GroundingLimits) -> EvidenceIndex:
    """Return the index over all steps; nested values are walked without recursion, so that no depth is too deep.

    Raises:
        EvidenceTooLarge: There are more bytes, or more values within texts, than the limits allow.
    """
    try:
        return _indexed(evidence, reading, limits)
    except TooManyValues as exc:
        raise EvidenceTooLarge("values in the texts of its evidence", limits.max_evidence_values) from exc


def _indexed(evidence: Sequence[Evidence], reading: Reading, limits: GroundingLimits) -> EvidenceIndex:
    index = EvidenceIndex(values_left=limits.max_evidence_values)
    for one in evidence:
        if isinstance(one.exposed, Absent):
            continue
        waiting = [_Place(one.exposed, Node(one.step_id))]
        while waiting:
            place = waiting.pop()
            if place.node.depth_characters <= MAX_POINTER_CHARACTERS:
                waiting.extend(_walked(place, index, reading))
            if index.size_bytes > limits.max_evidence_bytes:
                raise EvidenceTooLarge("bytes of evidence", limits.max_evidence_bytes)
    return index


def _walked(place: _Place, index: EvidenceIndex, reading: Reading) -> list[_Place]:
    """Add one value to the index and return what it holds, last first."""
    value = place.value
    if isinstance(value, dict):
        return _members(value, place, index, reading)
    if isinstance(value, list):
        index.counts.setdefault(len(value), place.node)
        index.size_bytes += len(value)
        return [
            _Place(item, place.node.child(str(number)), place.name, place.unit, place.currency)
            for number, item in reversed(list(enumerate(value)))
        ]
    if isinstance(value, str):
        index.size_bytes += _bytes(value)
        _add_text(value, place, index, reading)
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        _add_number(value, place, index, reading)
    index.size_bytes += 8
    return []


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _members(members: dict[str, JsonValue], place: _Place, index: EvidenceIndex, reading: Reading) -> list[_Place]:
    unit, currency = "", place.currency
    for name, value in members.items():
        if not isinstance(value, str):
            continue
        if name.lower() in _CURRENCY_FIELDS:
            currency = unit_of_text(value, reading) or currency
        elif name.lower() in _UNIT_FIELDS:
            stated = unit_of_text(value, reading)
            currency, unit = (stated, unit) if is_currency(stated) else (currency, stated)
    inside: list[_Place] = []
    for name, value in members.items():
        node = place.node.child(name)
        index.size_bytes += _bytes(name)
        _add_name(name, node, index, reading)
        stated = unit_of_field(name)
        of_field = ("", stated) if is_currency(stated) else (stated or unit, currency)
        inside.append(_Place(value, node, name, *of_field))
    inside.reverse()
    return inside


def _add_name(name: str, node: Node, index: EvidenceIndex, reading: Reading) -> None:
    """Add the name of a field: objects are keyed by dates and ids too."""
    if len(name) > _NAME_CHARACTERS:
        return
    index.field_words.update(word.lower() for word in _WORD.findall(name))
    if any(map(str.isdigit, name)):
        for mention in index.extracted(name, reading):
            for key in mention.keys:
                index.add_key(key, node)


def _add_number(value: float | Decimal, place: _Place, index: EvidenceIndex, reading: Reading) -> None:
    if isinstance(value, int) and value.bit_length() > _MAX_INTEGER_BITS:
        return
    exact = value if isinstance(value, Decimal) else Decimal(value if isinstance(value, int) else repr(value))
    index.add_number(exact, place.unit, place.currency, place.node)
    if isinstance(value, int) and value >= 0:
        index.add_key(f"digits:{value}", place.node)
        if _TIME_FIELD.search(place.name[-40:]):
            for key in _of_epoch(value, reading):
                index.add_key(key, place.node)


def _of_epoch(value: int, reading: Reading) -> Iterator[str]:
    try:
        moment = parse_epoch(value)
        local = moment.astimezone(reading.zone or UTC)
    except (ValueRefused, OverflowError):
        return
    for space, one in (("at", local), ("utc", moment)):
        yield f"{space}:{one.replace(tzinfo=None).isoformat(timespec='seconds')}"


def _add_text(text: str, place: _Place, index: EvidenceIndex, reading: Reading) -> None:
    folded = fold_name(half_width(text))
    if not folded:
        return
    index.texts.append((folded, place.node))
    duration = _DURATION.fullmatch(text)
    if duration is not None:
        number, letter = (group for group in duration.groups() if group is not None)
        index.add_number(Decimal(number), _DURATION_UNITS[letter], "", place.node)
    mentions = index.extracted(text, reading)
    whole = len(text.strip())
    for mention in mentions:
        is_whole = mention.end - mention.start == whole
        _add_mention(mention, place, index, is_whole=is_whole)
    is_value = bool(mentions) and mentions[0].end - mentions[0].start == whole
    if len(folded) <= _NAME_CHARACTERS:
        index.add_key(f"name:{folded}", place.node)
        if not is_value and not unit_of_text(text, reading):
            index.names.setdefault(folded, place.node)


def _add_mention(mention: Mention, place: _Place, index: EvidenceIndex, *, is_whole: bool) -> None:
    for key in mention.keys:
        index.add_key(key, place.node)
    if mention.kind is ClaimKind.IDENTIFIER and visible_end(mention.normalised):
        index.add_key(f"digits:{visible_end(mention.normalised)}", place.node)
    for quantity in mention.quantities:
        if not quantity.units:
            unit, currency = (place.unit, place.currency) if is_whole else (PROSE, "")
            index.add_number(quantity.value, unit, currency, place.node)
        for unit in quantity.units:
            stated = ("", unit) if is_currency(unit) else (unit, "")
            index.add_number(quantity.value, *stated, place.node)
