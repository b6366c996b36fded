"""Numbers in English words and with a multiplier, such as `twenty-five` and `1.5 million`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

_UNITS: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS: Final = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_IDIOMS: Final = {
    "twice": 2, "thrice": 3, "a dozen": 12, "half a dozen": 6, "a couple of": 2, "a pair of": 2,
}  # fmt: skip
_MULTIPLIERS: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12, "k": 1000}

_IDIOM: Final = "|".join(sorted(_IDIOMS, key=len, reverse=True)).replace(" ", "[ ]")
_WORD: Final = rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(list(_UNITS)[1:10])}))?|{'|'.join(_UNITS)})"
_DIGITS: Final = r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"
SPOKEN: Final = re.compile(
    rf"""(?<![A-Za-z0-9_.,-])(?:
        (?P<count>{_DIGITS}|{_WORD})\ ?(?P<times>hundred|thousand|million|billion|dozen|(?<=[0-9])[kK])
      | (?P<million>(?<=\$){_DIGITS})(?-i:M)(?=[\s.,;?!]|$)
      | (?P<idiom>{_IDIOM})
      | (?P<word>{_WORD})
    )(?![A-Za-z0-9_])""",
    re.VERBOSE | re.IGNORECASE,
)
"""A number that is not plain digits."""


def spoken_number(text: str) -> int | Decimal | None:
    """Return what a text that `SPOKEN` matches as a whole comes to; None for every other text.

    >>> spoken_number("twenty-five"), spoken_number("1.5 million"), spoken_number("5")
    (25, 1500000, None)
    """
    match = SPOKEN.fullmatch(text)
    if match is None:
        return None
    if match["idiom"]:
        return _IDIOMS[match["idiom"].lower()]
    if match["million"]:
        number = Decimal(match["million"].replace(",", "")) * 10**6
        return int(number) if number == number.to_integral_value() else number.normalize()
    if match["word"]:
        return _in_words(match["word"])
    count = match["count"]
    number = Decimal(count.replace(",", "")) if count[0].isdigit() else Decimal(_in_words(count))
    product = number * _MULTIPLIERS[match["times"].lower()]
    return int(product) if product == product.to_integral_value() else product.normalize()


def _in_words(text: str) -> int:
    parts = re.split("[ -]", text.lower())
    return sum(_TENS.get(part, _UNITS.get(part, 0)) for part in parts)
