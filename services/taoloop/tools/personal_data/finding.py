"""Finds telephone, identity and card numbers and addresses in texts, in time linear in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from taoloop.tools.contract import PersonalData

Span = tuple[int, int]
"""First character and one past the last."""

Finder = Callable[[str], Iterator[Span]]

_APART: Final = "[ -]{0,3}"
"""What stands between the groups of a number, if anything: a blank, a dash, or a dash between blanks."""
_DOTTED: Final = r"1[3-9][0-9]\.[0-9]{4}\.[0-9]{4}"
_MOBILE: Final = rf"(?:(?:\+|00)86{_APART})?(?:1[3-9][0-9](?:{_APART}[0-9]{{4}}){{2}}|{_DOTTED})"
# Behind a digit and a dash it is the rest of a date.
_LANDLINE: Final = (
    rf"(?<![0-9]-)(?:\(0[1-9][0-9]{{1,2}}\)|0[1-9][0-9]{{1,2}}){_APART}[1-9][0-9]{{2,3}}{_APART}[0-9]{{4}}"
)
_CHINESE_PHONE: Final = re.compile(rf"(?<![0-9])(?:{_MOBILE}|{_LANDLINE})(?![0-9])")
# Digits and separators exclude each other, so that no part of it is read twice.
_FOREIGN_PHONE: Final = re.compile(r"\+[1-9][0-9]*+(?:[ .()-]{1,2}[0-9]++){0,6}+")
_ID_CARD: Final = re.compile(
    rf"(?<![0-9])[1-9][0-9]{{5}}{_APART}(?:18|19|20)[0-9]{{2}}{_APART}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
    rf"{_APART}[0-9]{{3}}[0-9Xx](?![0-9A-Za-z])"
)
_NUMBER_GROUPS: Final = re.compile(r"[0-9]++(?:[ -][0-9]++)*+")
_GROUP: Final = re.compile(r"[0-9]+")
_EMAIL: Final = re.compile(
    r"(?<![\w.%+-])[\w.%+-]++@(?:[A-Za-z0-9](?:[\w-]{0,61}\w)?\.){1,8}[^\W\d_][\w-]{1,62}", re.UNICODE
)

_ID_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_CHECKS: Final = "10X98765432"
_CARD_DIGITS: Final = range(13, 20)
_FIRST_GROUP: Final = 4
"""Fewest digits of the first group of a card that is written in groups."""
_PHONE_DIGITS: Final = range(7, 16)  # E.164 has at most 15

_DIGITS_OF_OTHERS: Final = "٠۰०০๐"
"""The zeros of the Arabic, Persian, Devanagari, Bengali and Thai digits, which stand in order behind them."""
_BLANKS: Final = "\u00a0\u00ad\u2002\u2003\u2007\u2009\u200a\u200b\u200c\u200d\u202f\u2060\u3000\ufeff"
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63"
_WIDTH: Final = str.maketrans(
    {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
    | {chr(ord(zero) + digit): str(digit) for zero in _DIGITS_OF_OTHERS for digit in range(10)}
    | dict.fromkeys(_BLANKS, " ")
    | dict.fromkeys(_DASHES, "-")
)


def half_width(text: str) -> str:
    """Return the text with full-width signs, other digits, dashes and blanks as ASCII, one for one: places stay."""
    return text if text.isascii() else text.translate(_WIDTH)


def phones(text: str) -> Iterator[Span]:
    """Yield Chinese telephone numbers, and all that begin with a plus sign; a number may be found in both ways."""
    for found in _CHINESE_PHONE.finditer(text):
        yield found.span()
    for found in _FOREIGN_PHONE.finditer(text) if "+" in text else ():
        if len(_digits(found[0])) in _PHONE_DIGITS:
            yield found.span()


def id_cards(text: str) -> Iterator[Span]:
    """Yield Chinese identity numbers of 18 places whose check digit is right (GB 11643-1999)."""
    for found in _ID_CARD.finditer(text):
        number = re.sub(r"[ -]", "", found[0]).upper()
        total = sum(int(digit) * weight for digit, weight in zip(number, _ID_WEIGHTS, strict=False))
        if _ID_CHECKS[total % 11] == number[17]:
            yield found.span()


def bank_cards(text: str) -> Iterator[Span]:
    """Yield card numbers of 13 to 19 digits, in groups or not, whose check digit is right (ISO/IEC 7812-1)."""
    for run in _NUMBER_GROUPS.finditer(text):
        if run.end() - run.start() >= _CARD_DIGITS.start:
            yield from _cards_in(text, [group.span() for group in _GROUP.finditer(text, run.start(), run.end())])


def emails(text: str) -> Iterator[Span]:
    """Yield addresses of e-mail."""
    if "@" in text:
        for found in _EMAIL.finditer(text):
            yield found.span()


FINDERS: Final[dict[PersonalData, Finder]] = {
    PersonalData.ID_CARD: id_cards,
    PersonalData.BANK_CARD: bank_cards,
    PersonalData.PHONE: phones,
    PersonalData.EMAIL: emails,
}
"""What finds each kind, in the order in which they are asked: an identity number may pass for a card's."""


def _cards_in(text: str, groups: list[Span]) -> Iterator[Span]:
    """Yield the cards that whole groups of one run make, the first and longest first."""
    index = 0
    while index < len(groups):
        end = _card_from(text, groups, index)
        if end is None:
            index += 1
        else:
            yield groups[index][0], groups[end][1]
            index = end + 1


def _card_from(text: str, groups: list[Span], first: int) -> int | None:
    """Return the last group of the longest card that begins with a group, or None."""
    digits, found = "", None
    if groups[first][1] - groups[first][0] < _FIRST_GROUP:
        return None
    for index in range(first, len(groups)):
        if len(digits) + groups[index][1] - groups[index][0] > _CARD_DIGITS.stop - 1:
            break
        digits += text[slice(*groups[index])]
        if len(digits) in _CARD_DIGITS and _is_luhn(digits):
            found = index
    return found


def _is_luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0 and digits.strip("0") != ""


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdecimal())
