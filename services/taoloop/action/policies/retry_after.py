"""The `Retry-After` header of HTTP, read as seconds."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_SECONDS: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


def retry_after_seconds(header: str, now: datetime) -> float | None:
    """Return how long to wait, at least 0: whole seconds, decimals rounded up, or an HTTP date.

    Negative and unreadable values say nothing: None.

    Args:
        header: The value as sent; empty for none.
        now: Against which a date is read, aware.

    >>> retry_after_seconds("1.2", datetime(2026, 3, 1, tzinfo=UTC))
    2.0
    """
    text = header.strip()
    if _SECONDS.fullmatch(text):
        return float(math.ceil(float(text)))
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
