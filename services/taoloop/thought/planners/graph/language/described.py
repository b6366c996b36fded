"""What the words of a parameter say: which kind of mention it takes, its examples, its units and its scale."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from taoloop.thought.planners.graph.language.roles import Role, role_of
from taoloop.thought.planners.graph.language.vocabulary import (
    DATE_WORDS,
    FROM_WORDS,
    ID_WORDS,
    PERSON_WORDS,
    PLACE_WORDS,
    STOP_WORDS,
    TEXT_WORDS,
    TIME_WORDS,
    TO_WORDS,
    UNIT_WORDS,
)


class SlotClass(StrEnum):
    """What kind of mention a slot takes."""

    ENUM = "enum"
    PATTERN = "pattern"
    DATE = "date"
    DATE_TIME = "date-time"
    DATE_RANGE = "date-range"
    EMAIL = "email"
    URL = "url"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    PLACE = "place"
    PERSON = "person"
    ID = "id"
    DATE_TEXT = "date-text"
    TIME = "time"
    LIST = "list"
    CURRENCY = "currency"
    LANGUAGE = "language"
    UNIT = "unit"
    TEXT = "text"
    OTHER = "other"


_BY_FORMAT: Final = {
    "date": SlotClass.DATE,
    "date-time": SlotClass.DATE_TIME,
    "date-range": SlotClass.DATE_RANGE,
    "email": SlotClass.EMAIL,
    "idn-email": SlotClass.EMAIL,
    "uri": SlotClass.URL,
    "time": SlotClass.TIME,
}
_DAY_MASK = re.compile(r"YYYY-MM-DD(?![ T]?HH)|yyyy-mm-dd(?![ T]?hh)|yyyy-MM-dd(?![ T]?HH)")
_TIME_MASK = re.compile(r"(?<![DdT] )(?<![DdT])(?:HH|hh):(?:MM|mm)(?!:)")
_BY_TYPE: Final = {"integer": SlotClass.INTEGER, "number": SlotClass.NUMBER, "boolean": SlotClass.BOOLEAN}


_EMAIL_ADDRESS = re.compile(r"e-?mail (?:address|id)|电子邮箱|邮箱地址", re.IGNORECASE)


def type_of(schema: Mapping[str, Any]) -> str:
    """Return the one type of a schema, `null` beside it left out; empty when it has none or several."""
    declared = schema.get("type")
    if isinstance(declared, list | tuple):
        others = [item for item in declared if item != "null"]
        return str(others[0]) if len(others) == 1 else ""
    return str(declared or "")


def class_of(schema: Mapping[str, Any], own: frozenset[str], told: frozenset[str], description: str) -> SlotClass:
    """Return what kind of mention a parameter takes: by its schema, else by its name and description."""
    if schema.get("enum"):
        return SlotClass.ENUM
    kind = type_of(schema)
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if kind == "array":
        return SlotClass.LIST
    if kind != "string":
        return SlotClass.OTHER
    if schema.get("format") in _BY_FORMAT:
        return _BY_FORMAT[str(schema["format"])]
    if schema.get("pattern"):
        return SlotClass.PATTERN
    if _DAY_MASK.search(description):
        return SlotClass.DATE
    if _EMAIL_ADDRESS.search(description) and not own & TEXT_WORDS:
        return SlotClass.EMAIL
    return SlotClass.TIME if _TIME_MASK.search(description) else _text_class(own, told, description)


def _text_class(own: frozenset[str], told: frozenset[str], description: str) -> SlotClass:
    """Guess from its words what a string without format, pattern and enum takes; its name counts before the rest."""
    order = (
        (SlotClass.UNIT, frozenset({"unit", "单位"})),
        (SlotClass.CURRENCY, frozenset({"currency", "货币", "币种"})),
        (SlotClass.LANGUAGE, frozenset({"language", "lang", "语言", "语种"})),
        (SlotClass.EMAIL, frozenset({"email", "mail", "邮箱"})),
        (SlotClass.URL, frozenset({"url", "link", "website"})),
        (SlotClass.TEXT, TEXT_WORDS),
        (SlotClass.ID, ID_WORDS),
        (SlotClass.DATE_TEXT, DATE_WORDS),
        (SlotClass.TIME, TIME_WORDS),
        (SlotClass.PLACE, PLACE_WORDS),
        (SlotClass.PERSON, PERSON_WORDS),
    )
    for slot_class, words in order:
        if own & words:
            return _unless_thing(slot_class, own, told)
    found = [
        (description.lower().find(word), slot_class)
        for slot_class, words in order
        if slot_class not in {SlotClass.CURRENCY, SlotClass.LANGUAGE, SlotClass.UNIT}
        for word in (*(told & words), *(word for word in words if not word.isascii()))
        if word in description.lower() and word != "name"
    ]
    if found:
        return _unless_thing(min(found, key=lambda item: item[0])[1], own, told)
    return _unless_thing(SlotClass.PERSON, own, told) if "name" in told else SlotClass.OTHER


def _unless_thing(slot_class: SlotClass, own: frozenset[str], told: frozenset[str]) -> SlotClass:
    """A named thing is no person, although its parameter speaks of a name."""
    if slot_class is SlotClass.PERSON and role_of(tuple(own), tuple(told)) not in {Role.PERSON, Role.AGENT}:
        return SlotClass.OTHER
    return slot_class


_QUOTED_EXAMPLE = re.compile(r"(?<![A-Za-z])['‘\"“`「]([^'’\"”`」\n]{1,60})['’\"”`」]")
_EXAMPLE_PART = re.compile(
    r"[(（]?(?:e\.g\.|eg\.|i\.e\.|for example|for instance|such as|like"
    r"|options?(?: are|:)|one of|可选值?[:：]?|例如|比如|如：|如)"
    r"[,，:：]?\s?(?P<list>(?:[^.;。；)）\n]|\.(?=[A-Za-z0-9])){1,160})",
    re.IGNORECASE,
)
_EXAMPLE_CUT = re.compile(r",? or |,? and |[,，、/|]|或者?|和")
_MAX_EXAMPLE_WORDS: Final = 4


def examples_of(description: str) -> tuple[str, ...]:
    """Return the values that a description gives: in quotation marks, or in a list after `e.g.` and the like."""
    found = [item for item in _QUOTED_EXAMPLE.findall(description) if item.strip()]
    for match in _EXAMPLE_PART.finditer(description):
        for part in _EXAMPLE_CUT.split(match["list"]):
            bare = part.strip(" '\"‘’“”`()（）等")
            if (
                (len(bare) > 1 or "\u4e00" <= bare <= "\u9fff")
                and len(bare.split()) <= _MAX_EXAMPLE_WORDS
                and bare.lower() not in STOP_WORDS
            ):
                found.append(bare)
    return tuple(dict.fromkeys(found))[:24]


def without_examples(description: str) -> str:
    """Return a description without the values that it gives."""
    return _QUOTED_EXAMPLE.sub(" ", _EXAMPLE_PART.sub(" ", description))


def without_rates(description: str) -> str:
    """Return a description without words such as `per year`, which do not say what is counted."""
    return _PER.sub(" ", description)


def direction_of(own: tuple[str, ...]) -> str:
    """Return `from`, `to` or nothing, by the words of a name."""
    if {"check", "in"} <= set(own):
        return "from"
    if {"check", "out"} <= set(own):
        return "to"
    if {
        "from",
        "source",
        "origin",
        "departure",
        "start",
        "base",
        "since",
        "begin",
        "pickup",
        "checkin",
        "sender",
        "shipper",
    } & set(own):
        return "from"
    return (
        "to"
        if {
            "to",
            "target",
            "destination",
            "arrival",
            "end",
            "recipient",
            "receiver",
            "consignee",
            "until",
            "dropoff",
            "return",
            "checkout",
        }
        & set(own)
        else ""
    )


DIRECTION_WORDS: Final[Mapping[str, tuple[str, ...]]] = {"from": FROM_WORDS, "to": TO_WORDS}
"""What stands before a mention for a slot with a direction."""


_ORDINAL = re.compile(r"\bsecond (?!s)(?=[a-z])")
_PER = re.compile(r"\b(?:per|each|every) [a-z]+|每[\u4e00-\u9fff]")
_NAMED_UNITS: Final = {
    "percent": frozenset(
        {"rate", "percentage", "percent", "discount", "interest", "yield", "tip", "利率", "折扣", "比例"}
    ),
    "money": frozenset(
        {"amount", "price", "cost", "budget", "principal", "salary", "income", "金额", "价格", "预算", "单价"}
    ),
}
"""Names that tell what their number counts without a unit."""


def units_of(own: tuple[str, ...], description: str) -> frozenset[str]:
    """Return what a parameter counts; a longer unit hides a shorter one in it, such as square meters."""
    found = {unit for word, unit in _RATES if word in description.lower()}
    lowered = f" {' '.join(own)} {_ORDINAL.sub(' ', _PER.sub(' ', description.lower()))} "
    if found:
        return frozenset(found)
    found = {unit for unit, names in _NAMED_UNITS.items() if names & set(own)}
    for word, unit in _UNITS_BY_LENGTH:
        is_there = (
            re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", lowered) if word[0].isascii() else word in lowered
        )
        if is_there:
            found.add(unit)
            lowered = lowered.replace(word, " ")
    return frozenset(found)


_RATES: Final = tuple((word, unit) for unit, words in UNIT_WORDS.items() for word in words if " per " in word)
_UNITS_BY_LENGTH: Final = tuple(
    sorted(
        ((word, unit) for unit, words in UNIT_WORDS.items() for word in words if len(word) > 1),
        key=lambda pair: (-len(pair[0]), pair),
    )
)

_SMALL_EXAMPLE = re.compile(r"(?<![0-9.])0\.[0-9]+")


def scale_of(schema: Mapping[str, Any], description: str, own: frozenset[str]) -> str:
    """Say on which scale a number takes shares, where its schema settles it."""
    if type_of(schema) not in {"number", "integer"}:
        return ""
    lowered = description.lower()
    maximum, default = schema.get("maximum"), schema.get("default")
    is_small = any(isinstance(item, int | float | Decimal) and 0 < item <= 1 for item in (maximum, default))
    if is_small or _SMALL_EXAMPLE.search(description) or any(w in lowered for w in ("decimal", "fraction", "小数")):
        return "fraction"
    has_word = any(word in lowered for word in ("percent", "%", "百分"))
    return "percent" if has_word or own & {"percent", "percentage"} or type_of(schema) == "integer" else ""


def has_mask(description: str) -> bool:
    """Tell whether a description shows the form of a day or a time."""
    return _DAY_MASK.search(description) is not None or _TIME_MASK.search(description) is not None
