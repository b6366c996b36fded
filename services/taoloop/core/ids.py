"""Opaque ids: UUIDv7 written as 32 lower-case hex characters."""

import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from taoloop.core.clock import Clock

_ID = re.compile(r"[0-9a-f]{32}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RANDOM_BYTES = 10


def new_id(clock: Clock, randomness: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """Return a new id that sorts by its creation time, to the millisecond.

    Dashes are left out: a dashed UUID has 36 characters and is cut by fields that hold 32.

    Args:
        clock: Gives the 48 bits of Unix time in milliseconds.
        randomness: Returns that many random bytes; 74 bits of ten bytes are used.

    Source: RFC 9562, section 5.7.
    """
    milliseconds = (clock.now() - _EPOCH) // timedelta(milliseconds=1)
    random_bits = int.from_bytes(randomness(_RANDOM_BYTES), "big")
    random_a = random_bits >> 68  # 12 of the 80 bits
    random_b = random_bits & ((1 << 62) - 1)
    value = (milliseconds & ((1 << 48) - 1)) << 80 | 0x7 << 76 | random_a << 64 | 0b10 << 62 | random_b
    return f"{value:032x}"


def is_id(text: str) -> bool:
    """Tell whether `text` has the form of an id: 32 lower-case hex characters, of any UUID version."""
    return _ID.fullmatch(text) is not None
