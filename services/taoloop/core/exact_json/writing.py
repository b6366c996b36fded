"""Values to text, in the order they come or in the one form that equal values share; and whether two are equal."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from typing import TypeGuard

import orjson

from taoloop.core.exact_json.model import MAX_DEPTH, MAX_INTEGER_DIGITS, JsonEncodeError
from taoloop.core.exact_json.reading import surely_nests_at_most


def dumps(value: object, *, max_depth: int = MAX_DEPTH) -> str:
    """Write a value as compact JSON on one line; keys keep their order, a `Decimal` its digits.

    Accepted are None, bool, int, float (written with the fewest digits that read back as it), `Decimal`, str, list,
    tuple and mappings with str keys. Line separators inside strings are escaped, so that every reader of JSON lines
    sees one line.

    >>> dumps({"price": Decimal("0.10"), "ids": (1, 2)})
    '{"price":0.10,"ids":[1,2]}'

    Raises:
        JsonEncodeError: NaN, infinity, `ABSENT`, another type, a lone surrogate, an integer above
            `MAX_INTEGER_DIGITS` digits, or nesting above `max_depth`, which a cycle has too.
    """
    try:
        written = orjson.dumps(value, _unknown_to_writer, _WRITER_OPTIONS)
    except orjson.JSONEncodeError:
        written = b""  # a long integer, or what the careful way names
    if not written or _may_hide_a_fault(value, written, max_depth):
        return _encodable(_write(value, max_depth, is_canonical=False))
    text = written.decode()
    return text if text.isascii() else _separators_escaped(text)


def canonical(value: object, *, max_depth: int = MAX_DEPTH) -> str:
    """Write the one text that all equal values share, and no other value has.

    Keys are sorted by code point and a number has one form: `1`, `1.0` and `1e0` are all `1`. Numbers from
    1e-6 up to 1e21 are written plainly, others as `1.5E+400`: no exponent is ever written out as zeros.

    Raises:
        JsonEncodeError: As for `dumps`.
    """
    return _canonical(value, max_depth).decode()


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical text, as 64 lower-case hex characters.

    Raises:
        JsonEncodeError: As for `dumps`.
    """
    return hashlib.sha256(_canonical(value, MAX_DEPTH)).hexdigest()


def equal(left: object, right: object) -> bool:
    """Tell whether two values are the same JSON value: 1 equals 1.0, and never True; key order is nothing.

    A float stands for its shortest decimal text, so 0.1 equals `Decimal("0.1")`. `ABSENT` equals only itself.
    """
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if _is_number(left) and _is_number(right):
        return _as_exact(left) == _as_exact(right)
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    return left is right


_NUMBERS = (int, Decimal, float)
_CONTAINERS = (dict, list, tuple, Mapping)
_LINE_SEPARATORS = re.compile("[\u0085\u2028\u2029]")
_TOO_LONG = 10**MAX_INTEGER_DIGITS
_PLAIN_FROM, _PLAIN_BELOW = -6, 21  # the decimal exponents that ECMAScript writes without an `e`


# Dates and data classes are no JSON values here, although the writer knows forms for them.
_WRITER_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


_HARMLESS = frozenset({str, int, bool, type(None), Decimal})
_ONE_FORM = frozenset({str, int, bool, type(None)})
"""What the writer writes in its canonical form, as long as it is ASCII: the arguments of most calls are no more."""


def _canonical(value: object, max_depth: int) -> bytes:
    if type(value) is dict and _ONE_FORM.issuperset(map(type, value.values())) and max_depth > 0:
        try:
            written = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except orjson.JSONEncodeError:
            written = b"\xff"  # a long integer, or what the careful way names
        if written.isascii():
            return written
    return _encodable(_write(value, max_depth, is_canonical=True)).encode()


def _unknown_to_writer(value: object) -> object:
    if isinstance(value, Decimal) and value.is_finite():
        return orjson.Fragment(str(value))
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError


def _may_hide_a_fault(value: object, written: bytes, max_depth: int) -> bool:
    """Tell whether the writer may have taken what is refused: it writes NaN as null and knows no limit of depth."""
    if not surely_nests_at_most(written, max_depth):
        return True
    return b"null" in written and _holds_nan_or_infinity(value)


def _holds_nan_or_infinity(value: object) -> bool:
    left = [value]
    for each in left:  # grows while it is walked
        if type(each) in _HARMLESS:
            continue
        if isinstance(each, float):
            if not math.isfinite(each):
                return True
        elif isinstance(each, Mapping):
            left.extend(each.values())
        elif isinstance(each, list | tuple):
            left.extend(each)
    return False


def _write(value: object, depth_left: int, *, is_canonical: bool) -> str:
    if isinstance(value, str):
        return _string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if _is_number(value):
        return _canonical_number(value) if is_canonical else _number(value)
    if isinstance(value, _CONTAINERS):
        if depth_left <= 0:
            raise JsonEncodeError("the nesting is deeper than the limit")
        if isinstance(value, Mapping):
            return _write_object(value, depth_left - 1, is_canonical=is_canonical)
        return f"[{','.join([_write(item, depth_left - 1, is_canonical=is_canonical) for item in value])}]"
    raise JsonEncodeError(f"a value of type {type(value).__name__} has no JSON form")


def _write_object(members: Mapping[object, object], depth_left: int, *, is_canonical: bool) -> str:
    written = []
    for key, member in members.items():
        if not isinstance(key, str):
            raise JsonEncodeError(f"an object key of type {type(key).__name__} has no JSON form")
        written.append((key, f"{_string(key)}:{_write(member, depth_left, is_canonical=is_canonical)}"))
    if is_canonical:
        written.sort()  # keys differ, so that members are never compared
    return f"{{{','.join([text for _, text in written])}}}"


def _string(text: str) -> str:
    quoted = encode_basestring(text)
    return quoted if quoted.isascii() else _separators_escaped(quoted)


def _separators_escaped(quoted: str) -> str:
    return _LINE_SEPARATORS.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _encodable(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as exc:
            raise JsonEncodeError("a string holds a lone surrogate") from exc
    return text


def _is_number(value: object) -> TypeGuard[float | Decimal]:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _number(value: float | Decimal) -> str:
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise JsonEncodeError("a number that is not finite has no JSON form")
        return float.__repr__(value)
    if not value.is_finite():
        raise JsonEncodeError("a number that is not finite has no JSON form")
    return str(value)


def _integer(value: int) -> str:
    if not -_TOO_LONG < value < _TOO_LONG:
        raise JsonEncodeError(f"an integer has more than {MAX_INTEGER_DIGITS} digits")
    return int.__repr__(value)


def _canonical_number(value: float | Decimal) -> str:
    sign, digits, exponent = _significand(_number(value))
    if not digits:
        return "0"
    if _PLAIN_FROM <= exponent < _PLAIN_BELOW:
        return sign + _plain(digits, exponent)
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}E{exponent:+d}"


def _significand(text: str) -> tuple[str, str, int]:
    """Split a JSON number into sign, digits without outer zeros, and the exponent of the first digit."""
    sign = "-" if text.startswith("-") else ""
    mantissa, _, exponent_text = text.lstrip("-").upper().partition("E")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    significant = digits.lstrip("0")
    exponent = int(exponent_text or 0) + len(whole) - 1 - (len(digits) - len(significant))
    return sign, significant.rstrip("0"), exponent


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


def _as_exact(value: float | Decimal) -> float | Decimal:
    """Return a float as the decimal that its `repr` shows; NaN stays, and equals nothing."""
    return Decimal(float.__repr__(value)) if isinstance(value, float) and math.isfinite(value) else value
