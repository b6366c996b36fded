"""The formats of strings that taoloop asserts beyond JSON Schema's own."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

DATE_RANGE: Final = "date-range"
"""Two dates `YYYY-MM-DD~YYYY-MM-DD`, both included, the first not after the second."""

STANDARD: Final = frozenset(
    {
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "idn-email",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "time",
        "uri",
        "uri-reference",
        "uri-template",
        "uuid",
    }
)


# `fromisoformat` also reads week dates, which are not meant.
_TWO_DATES = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})~([0-9]{4}-[0-9]{2}-[0-9]{2})")


def is_date_range(text: str) -> bool:
    """Tell whether the text is a range of dates.

    >>> is_date_range("2026-02-01~2026-02-28"), is_date_range("2026-02-28~2026-02-01")
    (True, False)
    """
    found = _TWO_DATES.fullmatch(text)
    if found is None:
        return False
    try:
        return dt.date.fromisoformat(found[1]) <= dt.date.fromisoformat(found[2])
    except ValueError:
        return False


CUSTOM: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType({DATE_RANGE: is_date_range})
"""Format name to check."""
