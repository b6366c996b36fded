"""The numbers that the engine reads as written, and where in data there are others.

The engine reads integers of 64 bits and doubles. Any other number would be another one to a rule: an integer beyond
64 bits, a decimal that its double does not print again, a number that is infinite or zero as a double.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final

from taoloop.core.exact_json import JsonValue

BEYOND_RANGE: Final = "number beyond exact range"
"""What a rule says that would read such a number."""

Path = tuple[str, ...]

_LEAST, _MOST = -(2**63), 2**63 - 1
_ALWAYS_EXACT_CHARACTERS: Final = 16
"""Fifteen digits and a point: so many digits a double always gives back."""

# A number that has neither seventeen characters nor an exponent is exact. Bytes are scanned before the pattern is
# tried: a kilobyte takes 1 µs that way, and 14 µs by the pattern.
_SHAPE: Final = bytes.maketrans(b"123456789.E", b"0000000000e")
_LONG: Final = b"0" * 17
_WITH_EXPONENT: Final = b"0e"
_SUSPECT: Final = re.compile(r"[:\[,\s]-?(?:[0-9.]{17}|[0-9.]+[eE])")
_NUMBER_STARTS: Final = frozenset("-0123456789")


def is_exact(value: float | Decimal) -> bool:
    """Tell whether the engine reads the number as it is written.

    >>> [is_exact(value) for value in (2**63 - 1, 2**63, Decimal("0.10"), Decimal("0.1000000000000000001"))]
    [True, False, True, False]
    """
    if isinstance(value, int):
        return _LEAST <= value <= _MOST
    if isinstance(value, float):
        return True
    text = str(value)
    if len(text) <= _ALWAYS_EXACT_CHARACTERS and "E" not in text:
        return True
    return Decimal(repr(float(value))) == value  # infinity equals no finite decimal


def is_suspect(text: str) -> bool:
    """Tell, at the cost of two scans, whether JSON text may hold a number that is not exact; false is certain.

    >>> is_suspect('{"id":"A-20260308000012345","price":12.50}'), is_suspect('{"id":20260308000012345678}')
    (False, True)
    """
    shape = text.encode(errors="replace").translate(_SHAPE)
    if _LONG not in shape and _WITH_EXPONENT not in shape:
        return False
    return _SUSPECT.search(text) is not None or text[:1] in _NUMBER_STARTS  # the whole text may be one number


def inexact_paths(value: JsonValue) -> tuple[Path, ...]:
    """Return where the numbers are that the engine would read as others."""
    return tuple(_inexact(value, ()))


def _inexact(value: JsonValue, path: Path) -> Iterator[Path]:
    members: Iterable[tuple[str, JsonValue]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = ((str(index), item) for index, item in enumerate(value))
    elif isinstance(value, int | Decimal) and not is_exact(value):
        yield path
    for key, member in members:
        if isinstance(member, int | Decimal | dict | list):
            yield from _inexact(member, (*path, key))
