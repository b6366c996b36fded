"""Words for units and currencies as they stand beside a number in a text or in the name of a field."""

from __future__ import annotations

import re
from typing import Final

from taoloop.observation.grounding.reading import Reading
from taoloop.values.quantities.unit_table import ROWS, SHARED_SPELLINGS

PERCENT: Final = "%"
FRACTION: Final = "fraction"
"""Unit of a number that a field calls a fraction or a ratio: 0.15 there is 15 %."""

# Spellings of the table that mean something else far more often when they follow a number in a sentence.
_TOO_COMMON: Final = frozenset(
    {"in", "节", "卡", "开", "ac", "t", "kt", "PS", "C", "F", "K", "T", "B", "b", "J", "atm"}
)

_FURTHER: Final = {
    "个月": ("month",),
    "month": ("month",),
    "months": ("month",),
    "年": ("year",),
    "year": ("year",),
    "years": ("year",),
    "工作日": ("business_day",),
    "个工作日": ("business_day",),
    "business day": ("business_day",),
    "business days": ("business_day",),
    "working day": ("business_day",),
    "working days": ("business_day",),
    "星期": ("wk",),
    "日内": ("d",),
    "日之内": ("d",),
    "㎡": ("m2",),
    "平": ("m2",),
    "℃": ("°C",),
    "℉": ("°F",),
    "斤": ("斤",),
    "‰": ("permille",),
    PERCENT: (PERCENT,),
    "percent": (PERCENT,),
    "per cent": (PERCENT,),
    "pct": (PERCENT,),
    "个百分点": (PERCENT,),
    "percentage points": (PERCENT,),
    "percentage point": (PERCENT,),
    "pound": ("lb", "GBP"),
    "pounds": ("lb", "GBP"),
}


def _spellings() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return the symbols, which count letter case, and the words, which do not."""
    symbols: dict[str, tuple[str, ...]] = {}
    words: dict[str, tuple[str, ...]] = {}
    for row in (row for rows in ROWS.values() for row in rows):
        unit = row[0]
        for symbol in (unit, *row[2].split()):
            symbols.setdefault(symbol.replace("_", " "), (unit,))
        for word in row[3].split():
            words.setdefault(word.replace("_", " ").lower(), (unit,))
    for shared in SHARED_SPELLINGS.values():
        for spelling, units in shared.items():
            symbols.setdefault(spelling, tuple(unit.replace(" ", "_") for unit in units))
    words.update(_FURTHER)
    for common in _TOO_COMMON:
        symbols.pop(common, None)
        words.pop(common, None)
    return symbols, words


_SYMBOLS, _WORDS = _spellings()


def _alternatives(spellings: dict[str, tuple[str, ...]]) -> str:
    longest_first = sorted(spellings, key=lambda text: (-len(text), text))
    return "|".join(
        re.escape(spelling) + ("(?![A-Za-z])" if spelling[-1].isascii() else "") for spelling in longest_first
    )


UNIT: Final = re.compile(f"(?P<symbol>{_alternatives(_SYMBOLS)})|(?P<word>(?i:{_alternatives(_WORDS)}))")
"""A unit where a number ends."""

_CURRENCY_WORDS: Final = {
    "人民币": "CNY", "块钱": "CNY", "块": "CNY", "rmb": "CNY", "yuan": "CNY", "cny": "CNY", "renminbi": "CNY",
    "美元": "USD", "美金": "USD", "usd": "USD", "us$": "USD", "us dollars": "USD", "us dollar": "USD",
    "dollars": "$", "dollar": "$", "$": "$", "bucks": "$",
    "欧元": "EUR", "eur": "EUR", "euros": "EUR", "euro": "EUR", "€": "EUR",
    "英镑": "GBP", "gbp": "GBP", "pounds sterling": "GBP", "£": "GBP",
    "日元": "JPY", "日圆": "JPY", "jpy": "JPY", "yen": "JPY", "円": "JPY",
    "港元": "HKD", "港币": "HKD", "hkd": "HKD", "hk$": "HKD", "hong kong dollars": "HKD",
    "新台币": "TWD", "台币": "TWD", "twd": "TWD", "nt$": "TWD",
    "新加坡元": "SGD", "新币": "SGD", "sgd": "SGD", "s$": "SGD",
    "加元": "CAD", "cad": "CAD", "c$": "CAD", "ca$": "CAD", "canadian dollars": "CAD",
    "澳元": "AUD", "aud": "AUD", "a$": "AUD", "au$": "AUD", "australian dollars": "AUD",
    "韩元": "KRW", "krw": "KRW", "won": "KRW", "₩": "KRW",
    "卢布": "RUB", "rub": "RUB", "rubles": "RUB", "roubles": "RUB", "₽": "RUB",
    "卢比": "INR", "inr": "INR", "rupees": "INR", "₹": "INR",
    "瑞士法郎": "CHF", "chf": "CHF", "swiss francs": "CHF",
    "泰铢": "THB", "thb": "THB", "baht": "THB", "฿": "THB",
    "元": "元", "圆": "元", "¥": "¥",
}  # fmt: skip
_CODES: Final = frozenset(code for code in _CURRENCY_WORDS.values() if len(code) == 3)


def _currency_pattern(words: list[str]) -> str:
    longest_first = sorted(words, key=lambda text: (-len(text), text))
    return "|".join(
        re.escape(word) + ("(?![A-Za-z])" if word[-1].isascii() and word[-1].isalpha() else "")
        for word in longest_first
    )


_SIGN_LIKE: Final = [word for word in _CURRENCY_WORDS if word[-1] in "$€£¥₩₽₹฿" or (word.isascii() and len(word) == 3)]
CURRENCY_BEFORE: Final = re.compile(f"(?<![A-Za-z])(?i:{_currency_pattern([*_SIGN_LIKE, '人民币', '美元'])}) ?$")
"""A currency that ends where a number begins; it is searched in a short window."""

CURRENCY_ENDS: Final = frozenset(end for word in _SIGN_LIKE for end in (word[-1], word[-1].upper())) | {"币", "元"}
"""What such a currency ends with; no search is needed after any other character."""

CURRENCY_AFTER: Final = re.compile(f"(?i:{_currency_pattern(list(_CURRENCY_WORDS))})")
"""A currency where a number ends."""


def units_of(found: re.Match[str]) -> tuple[str, ...]:
    """Return the units of a match of `UNIT`."""
    symbol = found["symbol"]
    return _SYMBOLS[symbol] if symbol else _WORDS[found["word"].lower()]


def currencies_of(word: str, reading: Reading) -> tuple[str, ...]:
    """Return the ISO 4217 codes that a word or sign stands for; none when it is no currency."""
    code = _CURRENCY_WORDS.get(word.strip().lower(), "")
    if not code and word.strip().upper() in _CODES:
        code = word.strip().upper()
    shared = {"$": (reading.dollar,), "¥": reading.yen_sign, "元": reading.yuan}
    return shared.get(code, (code,) if code else ())


def is_currency(unit: str) -> bool:
    """Whether a canonical unit is a currency."""
    return unit in _CODES


_FIELD_WORDS: Final = {
    "percent": PERCENT, "percentage": PERCENT, "pct": PERCENT, "百分比": PERCENT,
    "fraction": FRACTION, "ratio": FRACTION,
    "kg": "kg", "grams": "g", "km": "km", "meters": "m", "metres": "m", "cm": "cm", "mm": "mm", "miles": "mi",
    "lb": "lb", "lbs": "lb", "seconds": "s", "secs": "s", "ms": "ms", "minutes": "min", "mins": "min", "hours": "h",
    "hrs": "h", "days": "d", "weeks": "wk", "months": "month", "years": "year", "bytes": "B", "mb": "MB", "gb": "GB",
    "celsius": "°C", "fahrenheit": "°F", "kwh": "kWh",
}  # fmt: skip
_FIELD_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+")


def unit_of_field(name: str) -> str:
    """Return the unit or currency that the last word of a field's name states, such as `weight_kg`; else nothing."""
    parts = _FIELD_PARTS.findall(name[:200])
    if not parts:
        return ""
    last: str = parts[-1]
    if last.upper() in _CODES and len(parts) > 1:
        return last.upper()
    return _FIELD_WORDS.get(last.lower(), "")


def unit_of_text(text: str, reading: Reading) -> str:
    """Return the unit that the whole text names, as the field `unit` beside a number does; else nothing."""
    word = text.strip()
    if len(word) > 40:
        return ""
    if word.lower() in {"fraction", "ratio"}:
        return FRACTION
    found = UNIT.fullmatch(word)
    if found is not None:
        return units_of(found)[0]
    currencies = currencies_of(word, reading)
    return currencies[0] if currencies else ""
