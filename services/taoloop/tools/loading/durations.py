"""Durations as contracts write them: `200ms`, `3s`, `1.5m`, `24h`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

DURATION_PATTERN: Final = r"^(0|[0-9]+(\.[0-9]+)?(ms|s|m|h|d))$"
"""The same pattern stands in the contract's JSON Schema."""

_FORM = re.compile(r"(?P<amount>[0-9]+(?:\.[0-9]+)?)(?P<unit>ms|s|m|h|d)")
_UNIT_SECONDS: Final = {
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}


def parse_duration(text: str) -> float:
    """Return seconds.

    >>> parse_duration("1900ms"), parse_duration("24h")
    (1.9, 86400.0)

    Raises:
        ValueError: The text is no duration.
    """
    if text == "0":
        return 0.0
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"a duration is a number and one of ms, s, m, h, d: {text!r}")
    return float(Decimal(found["amount"]) * _UNIT_SECONDS[found["unit"]])  # 1900 * 0.001 is not 1.9 in binary
