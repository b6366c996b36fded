"""Durations as contracts write them: `200ms`, `3s`, `1.5m`, `24h`."""

from __future__ import annotations

import re
from typing import Final

DURATION_PATTERN: Final = r"^(0|[0-9]+(\.[0-9]+)?(ms|s|m|h|d))$"
"""The same pattern stands in the contract's JSON Schema."""

_FORM = re.compile(r"(?P<amount>[0-9]+(?:\.[0-9]+)?)(?P<unit>ms|s|m|h|d)")
_UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_duration(text: str) -> float:
    """Return seconds.

    >>> parse_duration("200ms"), parse_duration("24h")
    (0.2, 86400.0)

    Raises:
        ValueError: The text is no duration.
    """
    if text == "0":
        return 0.0
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"a duration is a number and one of ms, s, m, h, d: {text!r}")
    return float(found["amount"]) * _UNIT_SECONDS[found["unit"]]
