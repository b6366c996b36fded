"""How a text is read: its language, the order of its dates, its decimal separator, the user's time zone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self
from unicodedata import decimal
from zoneinfo import ZoneInfo

from taoloop.values.calendars import zone_of
from taoloop.values.numbers import DecimalSeparator, decimal_separator_of
from taoloop.values.refusals import ValueRefused
from taoloop.values.written_dates import DateOrder

_HALF_WIDTH: Final = {
    **{code + 0xFEE0: chr(code) for code in range(0x21, 0x7F) if chr(code) != ","},
    0x3000: " ",
    0x00A0: " ",
    0x202F: " ",
    0x2009: " ",
    0xFFE5: "¥",
    0xFFE1: "£",
    0x2212: "-",
    0x2010: "-",
    0x2011: "-",
    0x301C: "~",
    0x223C: "~",
    0x066B: ".",
    **dict(zip(map(ord, "兩貳參陸點負"), "两贰叁陆点负", strict=True)),  # numerals in traditional characters
}
_DIGIT_OF_ANOTHER_SCRIPT: Final = re.compile("[^\\D0-9]")
_WIDE_GROUPING: Final = re.compile("(?<=[０-９])，(?=[０-９]{3})")
"""The wide comma is punctuation of Chinese, and groups digits only between wide ones."""

_MONTH_FIRST_REGIONS: Final = frozenset({"US", "PH", "FM", "GU", "PR", "MH"})
_DAY_FIRST_REGIONS: Final = frozenset({"GB", "AU", "NZ", "IE", "IN", "ZA", "SG", "HK", "MY", "NG", "KE"})
_DAY_FIRST_LANGUAGES: Final = frozenset(
    {"de", "fr", "it", "es", "pt", "nl", "pl", "ru", "tr", "sv", "da", "nb", "no", "fi", "cs", "el", "vi", "id", "th"}
    | {"ar", "he", "uk", "ro"}
)
_DOLLARS: Final = {"CA": "CAD", "AU": "AUD", "NZ": "NZD", "HK": "HKD", "SG": "SGD", "TW": "TWD"}


def half_width(text: str) -> str:
    """Return the text in half width, code point for code point, so that places in it are places in the original.

    Decimal digits of every script become those of ASCII: `٩٩` and `९९` are 99, and no way round a check of numbers.
    """
    if text.isascii():
        return text
    view = _WIDE_GROUPING.sub(",", text).translate(_HALF_WIDTH)
    return _DIGIT_OF_ANOTHER_SCRIPT.sub(lambda found: str(decimal(found[0])), view)


@dataclass(frozen=True, slots=True)
class Reading:
    """What decides where a spelling has several meanings.

    Attributes:
        language: Lower-case language subtag; empty when the caller did not say.
        region: Upper-case region subtag; empty when there is none.
        decimal_separator: None where the locale does not settle it.
        zone: The user's time zone; None compares times as they are written.
    """

    language: str
    region: str
    decimal_separator: DecimalSeparator | None
    zone: ZoneInfo | None

    @classmethod
    def of(cls, locale: str, time_zone: str) -> Self:
        """Return how to read for a BCP 47 tag and an IANA name; names that are not known count as not given."""
        parts = locale[:64].replace("_", "-").split("-")
        region = next((part.upper() for part in parts[1:] if len(part) == 2 and part.isalpha()), "")
        try:
            zone = zone_of(time_zone) if time_zone else None
        except ValueRefused:
            zone = None
        return cls(parts[0].lower(), region, decimal_separator_of(locale[:64]), zone)

    @property
    def date_order(self) -> DateOrder | None:
        """How day and month stand in a date with the year last; None where the locale does not settle it.

        Source: CLDR 46, short date formats; English without a region reads as American English there.
        """
        if self.region in _MONTH_FIRST_REGIONS and self.language in {"en", ""}:
            return "MDY"
        if self.language == "en":
            return "DMY" if self.region in _DAY_FIRST_REGIONS else "MDY"
        return "DMY" if self.language in _DAY_FIRST_LANGUAGES else None

    @property
    def is_month_first(self) -> bool | None:
        """How a day and a month without a year stand, as in `5/20`; East Asian languages put the month first."""
        if self.language in {"zh", "ja", "ko", "hu", "lt"}:
            return True
        return None if self.date_order is None else self.date_order == "MDY"

    @property
    def dollar(self) -> str:
        """The currency of a bare dollar sign."""
        return _DOLLARS.get(self.region, "USD")

    @property
    def yen_sign(self) -> tuple[str, ...]:
        """The currencies of a bare ¥."""
        return {"zh": ("CNY",), "ja": ("JPY",)}.get(self.language, ("CNY", "JPY"))

    @property
    def yuan(self) -> tuple[str, ...]:
        """The currencies of a bare 元."""
        return {"TW": ("TWD",), "HK": ("HKD",)}.get(self.region, ("CNY",))
