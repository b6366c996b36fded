"""Amounts of money: exact, in one currency that is known, with no more decimals than the currency has."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.values.folding import fold, fold_width
from taoloop.values.numbers import DecimalSeparator, exact_number
from taoloop.values.quantities.currencies import DECIMALS, ONE_CURRENCY, SHARED
from taoloop.values.quantities.measures import MAX_TEXT, split_number
from taoloop.values.refusals import RefusalCode, ValueRefused, unreadable

_SIGN_FIRST: Final = re.compile(
    r"(?P<sign>[+-]?)\s*(?P<currency>[^0-9+.,\s-][^0-9+,-]{0,30}?)\s*(?P<inner>[+-]?)(?P<rest>[0-9].*)", re.DOTALL
)
_BARE: Final = re.compile(r"[0-9](?:[0-9.,]{0,60}[0-9])?")
_MAX_DIGITS: Final = 60
_MAX_SPELLING: Final = 40
_QUANTA: Final = {places: Decimal(1).scaleb(-places) for places in set(DECIMALS.values())}
_COUNTERS: Final = ("元", "圆")


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in a currency.

    Attributes:
        amount: Exact, with the decimals of the currency.
        currency: ISO 4217 code.
    """

    amount: Decimal
    currency: str

    def as_json(self) -> JsonValue:
        """Return it as `{"amount": 12.50, "currency": "EUR"}`."""
        return {"amount": self.amount, "currency": self.currency}


def parse_money(value: JsonValue, currency: str = "", decimal_separator: DecimalSeparator | None = None) -> Money:
    """Read an amount of money.

    >>> str(parse_money("€1,234.5").amount)
    '1234.50'

    Args:
        value: A number, or a text with a number and the code, symbol or name of a currency on one side of it.
        currency: ISO 4217 code that the contract states: the one of a bare number, and which of several currencies a
            symbol such as `¥` means. An amount in another currency is refused. Empty states none.
        decimal_separator: What the contract or the locale says.

    Raises:
        ValueRefused: MISSING_UNIT, UNKNOWN_UNIT, WRONG_UNIT for another currency, AMBIGUOUS, TOO_PRECISE, UNREADABLE,
            NOT_A_NUMBER or OUT_OF_RANGE.
    """
    if currency and currency not in DECIMALS:
        raise ValueRefused(RefusalCode.UNKNOWN_UNIT, "The stated currency is no code of ISO 4217.")
    if not isinstance(value, str):
        return _bare(exact_number(value), currency)
    digits, spellings = (value, ()) if _BARE.fullmatch(value) is not None else _split(value)
    number = exact_number(digits, decimal_separator)
    if not spellings:
        return _bare(number, currency, is_written=True)
    code = currency_named(spellings, currency)
    return Money(_with_decimals(number, code, is_written=True), code)


@lru_cache(maxsize=1024)
def currency_named(spellings: tuple[str, ...], stated: str = "") -> str:
    """Return the ISO 4217 code that all the codes, symbols and names beside one amount mean.

    >>> currency_named(("US$",)), currency_named(("$", "CAD")), currency_named(("¥",), "JPY")
    ('USD', 'CAD', 'JPY')

    Args:
        spellings: At least one, in any letter case and width.
        stated: Code of the contract's currency, which decides where the spellings fit several.

    Raises:
        ValueRefused: UNKNOWN_UNIT; AMBIGUOUS with the codes; WRONG_UNIT when it is not the stated one; UNREADABLE when
            the spellings contradict each other.
    """
    sets = [_meanings(spelling) for spelling in spellings]
    common = [code for code in sets[0] if all(code in others for others in sets[1:])]
    if not common:
        raise unreadable("an amount of money")
    if stated:
        if stated in common:
            return stated
        raise ValueRefused(RefusalCode.WRONG_UNIT, "The amount is in another currency than the stated one.", (stated,))
    if len(common) > 1:
        usual = ONE_CURRENCY.get(_plain(spellings[0])) if len(spellings) == 1 else None
        if usual is None:
            raise ValueRefused(RefusalCode.AMBIGUOUS, f"The symbol is one of {len(common)} currencies.", common)
        return usual
    return common[0]


def _meanings(spelling: str) -> tuple[str, ...]:
    name = _plain(spelling)
    if any(map(str.isdigit, name)) or not any(map(_is_letter_or_symbol, name)):
        raise unreadable("an amount of money")
    code = name.upper()
    if code in DECIMALS:
        return (code,)
    if name in SHARED:
        return SHARED[name]
    if name in ONE_CURRENCY:
        return (ONE_CURRENCY[name],)
    near = get_close_matches(code[:_MAX_SPELLING], DECIMALS, n=3, cutoff=0.6)
    raise ValueRefused(RefusalCode.UNKNOWN_UNIT, "The currency is none that is known.", near)


def _plain(spelling: str) -> str:
    return fold(unicodedata.normalize("NFKC", spelling[:_MAX_SPELLING]))


def _is_letter_or_symbol(character: str) -> bool:
    return character.isalpha() or unicodedata.category(character) == "Sc"


def _bare(number: int | Decimal, currency: str, *, is_written: bool = False) -> Money:
    if not currency:
        message = "The amount has no currency, and nothing states it."
        raise ValueRefused(RefusalCode.MISSING_UNIT, message, ("CNY", "USD", "EUR"))
    return Money(_with_decimals(number, currency, is_written=is_written), currency)


def _split(text: str) -> tuple[str, tuple[str, ...]]:
    """Cut a text into its number, with the sign, and the spellings of its currency, possibly none."""
    found = _SIGN_FIRST.fullmatch(fold_width(text)) if len(text) <= MAX_TEXT else None
    if found is None:
        digits, behind = split_number(text, "an amount of money")
        return digits, (behind,) if behind else ()
    digits, behind = split_number(found["rest"], "an amount of money")
    if found["sign"] and found["inner"]:
        raise unreadable("an amount of money")
    before = found["currency"].split()
    if behind in _COUNTERS and currency_named(tuple(before)):
        behind = ""
    return (found["sign"] or found["inner"]) + digits, (*before, behind) if behind else tuple(before)


def _with_decimals(number: int | Decimal, code: str, *, is_written: bool) -> Decimal:
    """Write an amount with exactly the decimals of its currency; 5.0 and 5 are one number where JSON has numbers."""
    places, exact = DECIMALS[code], Decimal(number)
    if exact.same_quantum(_QUANTA[places]) and -_MAX_DIGITS < exact.adjusted() < _MAX_DIGITS and exact:
        return exact  # as it is written
    if not exact:
        exact = Decimal(0) if not is_written else exact.copy_abs()
    if abs(exact.adjusted()) > _MAX_DIGITS:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, f"An amount of money has at most {_MAX_DIGITS} digits.")
    plain = f"{exact:f}"
    if not is_written and "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    if len(plain.partition(".")[2]) > places:
        raise ValueRefused(RefusalCode.TOO_PRECISE, f"The currency {code} has {places} decimals.")
    return Decimal(f"{Decimal(plain):.{places}f}")
