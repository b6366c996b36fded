"""Numbers in Chinese numerals."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Final

from taoloop.values.refusals import unreadable

_DIGITS: Final = {
    **dict(zip("零一二三四五六七八九", range(10), strict=True)),
    **dict(zip("壹贰叁肆伍陆柒捌玖", range(1, 10), strict=True)),
    "〇": 0,
    "○": 0,
    "两": 2,
    "俩": 2,
    **{str(digit): digit for digit in range(10)},
}
_SMALL: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_UNITS: Final = {**_SMALL, **_LARGE}
CHARACTERS: Final = "".join(sorted({*_DIGITS, *_UNITS, "点", "負", "负"} - set("0123456789")))
"""Every character that a number in Chinese numerals may have, beside ASCII digits."""

_ARABIC_TIMES_UNIT = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<units>[十百千万亿萬億]{1,2})")
_ZEROS = "零〇○"
_EXACT: Final = Context(prec=10_000)  # the usual 28 digits would round a long number


def parse_chinese_number(text: str) -> Decimal:
    """Read digits in a row, a number with units, a fraction after `点`, or Arabic digits before a unit.

    `二〇二四` is 2024, `一千二百` 1200, `一万二` 12000 (a last digit without a unit counts in tenths of the unit
    before it), `三点五` 3.5, `1.5万` 15000. `负` stands in front. Units must fall within each group of four.

    Source: GB/T 15835-2011 for the forms with units; the short last digit is everyday usage.

    Raises:
        ValueRefused: UNREADABLE.
    """
    is_negative = text[:1] in {"负", "負"}
    value = _unsigned(text[1:] if is_negative else text)
    return value.copy_negate() if is_negative else value


def _unsigned(body: str) -> Decimal:
    arabic = _ARABIC_TIMES_UNIT.fullmatch(body)
    if arabic is not None:
        return _times_units(Decimal(arabic["number"]), arabic["units"])
    whole, point, fraction = body.partition("点")
    value = Decimal(_whole(whole))
    if point:
        if not fraction or any(character not in _DIGITS for character in fraction):
            raise unreadable("a number")
        value = _EXACT.add(value, Decimal(f"0.{_digit_text(fraction)}"))
    return value


def _times_units(number: Decimal, units: str) -> Decimal:
    for unit in units:
        number = _EXACT.multiply(number, _UNITS[unit])
    return number


def _digit_text(text: str) -> str:
    return "".join(str(_DIGITS[character]) for character in text)


def _whole(text: str) -> int:
    if not text:
        raise unreadable("a number")
    if all(character in _DIGITS for character in text):
        return int(_digit_text(text))
    total, rest = 0, text
    for names, size in (("亿億", 10**8), ("万萬", 10**4)):
        head, rest = _split_at(rest, names)
        if head is not None:
            total += _group(head) * size
            if len(rest) == 1 and rest in _DIGITS and rest not in _ZEROS:
                return total + _DIGITS[rest] * size // 10
    return total + (_group(rest) if rest else 0)


def _split_at(text: str, names: str) -> tuple[str | None, str]:
    for place, character in enumerate(text):
        if character in names:
            return text[:place], text[place + 1 :]
    return None, text


def _group(text: str) -> int:
    """Read what stands before 万, before 亿 or at the end: units below ten thousand, each at most once."""
    total, digit, last_unit = 0, None, 10**4
    after_zero = False
    for character in text:
        if character in _SMALL:
            unit = _SMALL[character]
            if unit >= last_unit or (digit is None and (total or unit != 10)):
                raise unreadable("a number")
            total += (1 if digit is None else digit) * unit
            digit, last_unit, after_zero = None, unit, False
        elif character in _ZEROS and digit is None:
            after_zero = True
        elif character in _DIGITS and digit is None:
            digit = _DIGITS[character]
        else:
            raise unreadable("a number")
    if digit is None:
        return _not_empty(total, text)
    return total + digit * (last_unit // 10 if total and last_unit > 10 and not after_zero else 1)


def _not_empty(total: int, text: str) -> int:
    if not total and not any(character in _ZEROS for character in text):
        raise unreadable("a number")
    return total
