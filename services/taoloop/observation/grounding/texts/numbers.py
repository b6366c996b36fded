"""Numbers in a text: digits in groups, Chinese numerals, English words, each with its currency or unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from taoloop.observation.grounding.model import MAX_DIGITS, Mention, Quantity, Taken, decimal_text
from taoloop.observation.grounding.reading import Reading
from taoloop.observation.grounding.texts.codes import plain_digits
from taoloop.observation.grounding.texts.word_numbers import WORDS, number_of_words
from taoloop.observation.grounding.vocabulary import (
    CURRENCY_AFTER,
    CURRENCY_BEFORE,
    CURRENCY_ENDS,
    PERCENT,
    UNIT,
    currencies_of,
    is_currency,
    units_of,
)
from taoloop.plan.answering import ClaimKind
from taoloop.values.chinese_numerals import parse_chinese_number
from taoloop.values.numbers import parse_number
from taoloop.values.refusals import ValueRefused

_DIGITS: Final = re.compile(
    r"(?<![0-9])(?P<sign>(?<![A-Za-z0-9_.)%-])[+-]|零下|负)?(?<![A-Za-z0-9_.])(?P<number>"
    r"[0-9]{1,3}(?:[ ’'][0-9]{3})+(?![0-9])(?:[.,][0-9]+)?"
    r"|[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]{1,3}(?![0-9A-Za-z]))?)"
)
_LOOSE_GROUP: Final = re.compile(r"[ ’']")
_CHINESE: Final = re.compile(
    "(?P<sign>负|零下)?(?P<number>(?<![0-9.,])[0-9]++(?:[.,][0-9]++)*+[十百千万亿萬億]{1,2}|[〇零一二三四五六七八九十百千万亿两壹贰叁肆伍陆柒捌玖拾佰仟萬億]+"
    "(?:点[〇零一二三四五六七八九]+)?)"
)
_PER_HUNDRED: Final = re.compile(
    "百分之(?P<number>[0-9]+(?:\\.[0-9]+)?|[〇零一二三四五六七八九十百]+(?:点[〇零一二三四五六七八九]+)?)"
)
_MAGNITUDES: Final = {"thousand": 3, "million": 6, "billion": 9, "bn": 9, "k": 3, "m": 6, "b": 9}
"""Powers of ten."""
_MAGNITUDE: Final = re.compile(r" ?(?P<word>thousand|million|billion|bn|[kK])(?![A-Za-z])")
_MONEY_MAGNITUDE: Final = re.compile(r" ?(?P<word>[mMbB])(?![A-Za-z])")
_COUNTED: Final = re.compile(
    r" ?(?:[a-z]{3,}|[个件笔条单份项位种张台只名家款封门座把本人辆部杯瓶户批组](?!月))|-[a-z]{3,}"
)
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th)(?![A-Za-z])")
# Beside one of these a numeral of one sign is a number; elsewhere it is part of a word more often than not.
_AFTER_ONE_SIGN: Final = re.compile(
    "[个件笔条单份项位张台只名家款封本种人室厅辆部杯瓶户门批层组天年元块圆周]|小时|分钟|公斤|千克|公里|星期|工作日|美元|欧元|人民币"
)
_UNCOUNTED: Final = "个件份种位条张只名家款封周些下起样"
_FALLING: Final = re.compile(
    "(?:down|fell|falls?|dropped|drops?|lost|loses?|decreased|declined|minus|spent|paid|charged|debited"
    "|下降|下跌|下滑|跌|减少|降低|支出|消费|花费|花了|亏损|扣除|扣款|转出|欠)[^0-9.;,。；，]{0,6}$",
    re.IGNORECASE,
)
"""Words before a number that say its sign: `down 1.2 %` is what a field has as -1.2."""

_RARE: Final = re.compile(
    "(?<![A-Za-zµμΩ])[\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]+|[\u00bc-\u00be\u2150-\u2189]+"
    "|[\u3251-\u325f\u32b1-\u32bf]+|[廿卅卌][一二三四五六七八九]?"
)
"""Raised and lowered digits, fractions and Roman numerals of one sign, circled numbers above 20, rare Chinese ones."""
_INSIDE_DIGITS: Final = re.compile("[0-9][.,]")
_ONLY_DIGITS: Final = re.compile(r"[0-9]+")
_BEFORE_YEAR: Final = re.compile(
    r"(?:^|[^A-Za-z])(?:in|of|since|until|by|from|to|during|year|before|after|early|late|mid|through|for|q[1-4]),? $",
    re.IGNORECASE,
)
_NUMERAL_UNITS: Final = frozenset("十百千万亿拾佰仟萬億")
_NUMERAL_DIGITS: Final = frozenset("一二三四五六七八九两壹贰叁肆伍陆柒捌玖")
_NO_NUMBERS: Final = frozenset({"万一", "千一", "百一"})
_MAX_NUMERALS: Final = 60
_WINDOW: Final = 24
_YEARS: Final = range(1900, 2101)


@dataclass(frozen=True, slots=True)
class _Scan:
    """The text that is read, what of it is taken, and how it is read."""

    text: str
    taken: Taken
    reading: Reading


def read_numbers(text: str, taken: Taken, reading: Reading) -> Iterator[Mention]:
    """Yield the numbers of a text in half width that nothing else has taken."""
    scan = _Scan(text, taken, reading)
    for found in _PER_HUNDRED.finditer(text):
        value = _chinese(found["number"])
        if value is not None and taken.is_free(*found.span()):
            taken.take(*found.span())
            yield _made(found.start(), found.end(), (Quantity(value, (PERCENT,)),))
    for found in _CHINESE.finditer(text):
        yield from _in_chinese(found, scan)
    for found in _DIGITS.finditer(text):
        if taken.is_free(*found.span()):
            yield from _in_digits(found, scan)
    for found in WORDS.finditer(text):
        number = number_of_words(found[0])
        if number is not None and taken.is_free(*found.span()):
            yield _with_unit(*found.span(), (Decimal(number),), scan)


def read_rare_numerals(text: str, taken: Taken) -> Iterator[Mention]:
    """Yield numerals that are not reckoned with: only a text of the evidence that writes the same supports them."""
    for found in _RARE.finditer(text):
        if taken.is_free(*found.span()):
            taken.take(*found.span())
            yield Mention(
                kind=ClaimKind.NUMBER, start=found.start(), end=found.end(), normalised=found[0], needle=found[0]
            )


def _in_chinese(found: re.Match[str], scan: _Scan) -> Iterator[Mention]:
    number, text = found["number"], scan.text
    if not scan.taken.is_free(*found.span()) or (found.start() and text[found.start() - 1] in "第几数好"):
        return
    if _INSIDE_DIGITS.fullmatch(text[max(0, found.start() - 2) : found.start()]):
        return
    if not number[0].isdigit() and not _is_number(number, found.end(), scan):
        return
    value = _chinese(number.replace(",", ""))
    if value is not None:
        yield _with_unit(*found.span(), (value.copy_negate() if found["sign"] else value,), scan)


def _is_number(number: str, end: int, scan: _Scan) -> bool:
    """Whether Chinese numerals are a number here: 万一, 十分 and 三五天 are none, 一个 is an article."""
    signs, text = set(number), scan.text
    if len(number) == 1:
        is_article = number == "一" and text[end : end + 1] in _UNCOUNTED
        is_of_money = CURRENCY_AFTER.match(text, end) is not None
        return not is_article and (is_of_money or _AFTER_ONE_SIGN.match(text, end) is not None)
    if "点" in number:
        return True
    if signs & _NUMERAL_UNITS:
        return bool(signs & _NUMERAL_DIGITS) and number not in _NO_NUMBERS
    return len(number) > 2 or bool(signs & set("〇零")) or scan.reading.language not in {"", "zh"}


def _in_digits(found: re.Match[str], scan: _Scan) -> Iterator[Mention]:
    number, start = found["number"], found.start("number")
    sign = (found["sign"] or "").replace("零下", "-").replace("负", "-")
    if number.isdigit() and not sign:
        yield _of_digits(number, start, scan)
        return
    values = _values(sign + number, scan.reading)
    if values:
        yield _with_unit(found.start() if sign else start, found.end(), values, scan)
        return
    for part in _ONLY_DIGITS.finditer(number):  # no one number, such as `1,2,3`
        yield _of_digits(part[0], start + part.start(), scan)


def _of_digits(digits: str, start: int, scan: _Scan) -> Mention:
    mention = plain_digits(digits, start, start + len(digits))
    if mention.quantities:
        return _with_unit(start, mention.end, (mention.quantities[0].value,), scan, mention)
    scan.taken.take(start, mention.end)
    return mention


def _values(number: str, reading: Reading) -> tuple[Decimal, ...]:
    """Return the number in each of its readings, at most two; none when it is not one number."""
    if len(number) > MAX_DIGITS:
        return ()
    plain = _LOOSE_GROUP.sub("", number)
    try:
        return (Decimal(parse_number(plain, reading.decimal_separator)),)
    except ValueRefused as refused:
        return tuple(Decimal(candidate) for candidate in refused.candidates[:2])


def _with_unit(start: int, end: int, values: tuple[Decimal, ...], scan: _Scan, plain: Mention | None = None) -> Mention:
    """Extend a number to the currency, magnitude or unit beside it, and take the place of all.

    Args:
        start: First code point of the number.
        end: One past its last.
        values: Its readings.
        scan: The text.
        plain: The mention of its digits alone, where it has nothing but digits.
    """
    window = scan.text[max(0, start - _WINDOW) : start]
    units, begin = _currency_before(start, window, scan)
    if begin < start and scan.text[begin] == "-":
        values = tuple(value.copy_negate() for value in values)
    magnitude = _MAGNITUDE.match(scan.text, end) or (_MONEY_MAGNITUDE.match(scan.text, end) if units else None)
    if magnitude is not None:
        power = _MAGNITUDES[magnitude["word"].lower()]
        values, end, plain = tuple(scaled(value, power) for value in values), magnitude.end(), None
    if not units:
        units, end = _after(end, scan)
    is_count = not units and (_COUNTED.match(scan.text, end) or _ORDINAL.match(scan.text, end)) is not None
    scan.taken.take(begin, end)
    quantities = tuple(Quantity(value, units, is_count) for value in values)
    keys = () if units or plain is None else _plain_keys(plain, window, is_count=is_count)
    mention = _made(begin, end, quantities, keys, None if units else plain)
    if _FALLING.search(window) and all(value > 0 for value in values):
        turned = tuple(Quantity(value.copy_negate(), units) for value in values)
        return replace(mention, quantities=quantities + turned)
    return mention


def _currency_before(start: int, window: str, scan: _Scan) -> tuple[tuple[str, ...], int]:
    """Return the currency that ends where the number begins, and where it begins itself, with its sign."""
    before = CURRENCY_BEFORE.search(window) if window.rstrip(" ")[-1:] in CURRENCY_ENDS else None
    if before is None or not scan.taken.is_free(start - len(before[0]), start):
        return (), start
    begin = start - len(before[0])
    if scan.text[begin - 1 : begin] in {"-", "+"} and not scan.text[max(0, begin - 2) : begin - 1].isalnum():
        begin -= 1
    return currencies_of(before[0], scan.reading), begin


def _after(end: int, scan: _Scan) -> tuple[tuple[str, ...], int]:
    begin = end + 1 if scan.text[end : end + 1] in {" ", "-"} else end
    currency, unit = CURRENCY_AFTER.match(scan.text, begin), UNIT.match(scan.text, begin)
    if currency is not None and (unit is None or currency.end() >= unit.end()) and scan.taken.is_free(*currency.span()):
        return currencies_of(currency[0], scan.reading), currency.end()
    if unit is not None and scan.taken.is_free(*unit.span()):
        return units_of(unit), unit.end()
    return (), end


def _plain_keys(plain: Mention, window: str, *, is_count: bool) -> tuple[str, ...]:
    """Return the keys of digits alone: a code, a year where a word before them says so, a day in eight digits."""
    keys, digits = plain.keys, plain.normalised
    if not is_count and plain.quantities[0].value in _YEARS and _BEFORE_YEAR.search(window):
        keys += (f"year:{digits}",)
    if len(digits) == 8 and digits[:2] in {"19", "20"}:
        keys += (f"day:{digits[:4]}-{digits[4:6]}-{digits[6:]}",)
    return keys


def _made(
    start: int, end: int, quantities: tuple[Quantity, ...], keys: tuple[str, ...] = (), plain: Mention | None = None
) -> Mention:
    first = quantities[0]
    text = "|".join(decimal_text(one.value) for one in quantities)
    kind = ClaimKind.NUMBER if plain is None else plain.kind
    if first.units:
        kind = ClaimKind.QUANTITY
        if PERCENT in first.units:
            kind = ClaimKind.PERCENTAGE
        elif any(map(is_currency, first.units)):
            kind = ClaimKind.MONEY
        text += f" {'|'.join(first.units)}"
    return Mention(kind=kind, start=start, end=end, normalised=text[:200], keys=keys, quantities=quantities)


def scaled(value: Decimal, power: int) -> Decimal:
    """Multiply by a power of ten; `Decimal.__mul__` would round to the context's digits."""
    sign, digits, exponent = value.as_tuple()
    return Decimal((sign, digits, int(exponent) + power))


def _chinese(number: str) -> Decimal | None:
    if len(number) > _MAX_NUMERALS:
        return None
    try:
        return Decimal(number) if number[0].isdigit() and number[-1].isdigit() else parse_chinese_number(number)
    except ValueRefused:
        return None
