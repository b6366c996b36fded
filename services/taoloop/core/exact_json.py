"""JSON that keeps every value exact: integers of any length, decimals as written, nothing guessed."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from functools import partial
from json.encoder import encode_basestring
from typing import Final, TypeGuard

import jiter
import orjson
from typing_extensions import TypeAliasType

MAX_DEPTH: Final = 64
"""Deepest nesting that is read or written; a scalar has depth 0, `[]` has 1."""

MAX_INTEGER_DIGITS: Final = 4300
"""Longest integer that is read or written: CPython's own bound for conversions between int and text."""


class Absent(Enum):
    """The type of `ABSENT`: no JSON value at all, the empty string on the wire; `None` is JSON null."""

    ABSENT = frozenset[None]()  # what no JSON writer takes: an enum is written as its value

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT

# Alias objects and not plain unions: `typing.get_type_hints` leaves them whole, whichever module asks.
JsonValue = TypeAliasType(
    "JsonValue", "bool | int | float | Decimal | str | list[JsonValue] | dict[str, JsonValue] | None"
)
Json = TypeAliasType("Json", "JsonValue | Absent")


class JsonSyntaxError(ValueError):
    """The text is not JSON, or JSON that is refused because two readers could take it differently.

    Attributes:
        message: What is wrong, without the place and without the text.
        line: Line of the fault, from 1.
        column: Column of the fault in characters, from 1.
        excerpt: At most 40 characters around the fault; it may hold payload, so it is not part of `str()`.
    """

    def __init__(self, message: str, line: int, column: int, excerpt: str) -> None:
        super().__init__(f"{message} at line {line}, column {column}")
        self.message = message
        self.line = line
        self.column = column
        self.excerpt = excerpt


class JsonEncodeError(ValueError):
    """The Python value has no exact JSON form."""


def loads(text: str | bytes, *, max_depth: int = MAX_DEPTH, max_bytes: int | None = None) -> JsonValue:
    """Read one JSON value; fractions and exponents become `Decimal`, other numbers `int`.

    Repeated keys, NaN, Infinity, lone surrogates, bytes that are not UTF-8 and a leading byte-order mark are
    refused; a caller that accepts the mark removes it first.

    Args:
        text: The whole document; bytes must be UTF-8.
        max_depth: Deepest nesting, 1 to 190.
        max_bytes: Longest document in UTF-8 bytes; None sets no limit.

    Raises:
        JsonSyntaxError: The text is refused, whatever the cause.
    """
    try:
        quick = text if isinstance(text, bytes) else text.encode()
        if (max_bytes is None or len(quick) <= max_bytes) and _has_few_brackets(quick, max_depth):
            return _parsed(quick)
    except ValueError:
        pass  # found again below, where it gets its words and its place
    data, decoded = _encoded(text)
    if max_bytes is not None and len(data) > max_bytes:
        raise JsonSyntaxError(f"the document has {len(data)} bytes, more than {max_bytes}", 1, 1, "")
    _check_depth(data, decoded, max_depth)
    try:
        return _parsed(data)
    except ValueError as exc:
        raise _translated(exc, data, decoded) from exc


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


# A whole string, so that brackets inside it do not count, or one bracket. Possessive: linear on any input.
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_PLACE = re.compile(r"^(?P<message>.*) at line (?P<line>\d+) column (?P<column>\d+)$", re.DOTALL)
_EXCERPT_RADIUS = 20
_ONE_KIND_OF_BRACKET = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")


# With `cache_mode="keys"` jiter keeps only object keys in its process-wide cache, never payload. It refuses bytes that
# are not UTF-8 too, in other words than ours.
_parsed: Final[Callable[[bytes], JsonValue]] = partial(
    jiter.from_json, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True, float_mode="decimal"
)


def _encoded(text: str | bytes) -> tuple[bytes, str]:
    try:
        if isinstance(text, bytes):
            return text, text.decode()
        return text.encode(), text
    except UnicodeDecodeError as exc:
        before = exc.object[: exc.start].decode()
        raise _fault("the bytes are not UTF-8", before, len(before)) from exc
    except UnicodeEncodeError as exc:
        raise _fault("a lone surrogate cannot be encoded as UTF-8", str(text), exc.start) from exc


def _check_depth(data: bytes, decoded: str, max_depth: int) -> None:
    """Refuse deep nesting before the parser, which recurses, sees it."""
    if _surely_nests_at_most(data, max_depth):
        return
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(data):
        first = data[token.start()]
        if first in b"[{":
            depth += 1
            if depth > max_depth:
                place = len(data[: token.start()].decode())
                raise _fault(f"the nesting is deeper than {max_depth}", decoded, place)
        elif first in b"]}":
            depth -= 1


def _has_few_brackets(data: bytes, max_depth: int) -> bool:
    """Tell whether there are too few brackets for a deeper nesting, as in most documents."""
    # `count` looks at byte after byte, `replace` at many at once.
    return len(data) - len(data.replace(b"[", b"").replace(b"{", b"")) <= max_depth


def _surely_nests_at_most(data: bytes, max_depth: int) -> bool:
    """Tell whether the brackets outside of strings close within so many levels; False also where they never close."""
    if _has_few_brackets(data, max_depth):
        return True
    brackets = _STRING.sub(b"", data).translate(_ONE_KIND_OF_BRACKET, _NO_BRACKETS)
    for _ in range(max_depth):
        if not brackets:
            break
        outer = brackets.replace(b"[]", b"")  # one pass takes away the innermost level and no other
        if len(outer) == len(brackets):
            break
        brackets = outer
    return not brackets


def _translated(exc: ValueError, data: bytes, decoded: str) -> JsonSyntaxError:
    found = _PLACE.match(str(exc))
    if found is None:
        return _fault("the text is not JSON", decoded, 0)
    lines = data.split(b"\n")
    line = min(int(found["line"]), len(lines))
    offset = sum(len(before) + 1 for before in lines[: line - 1]) + int(found["column"]) - 1
    place = len(data[: max(0, offset)].decode(errors="ignore"))
    return _fault(_wording(found["message"], decoded), decoded, place)


def _wording(message: str, decoded: str) -> str:
    """Return the parser's message without payload and in the words of this project."""
    if decoded.startswith("\ufeff"):
        return "a byte-order mark stands before the value"
    if message.startswith("Detected duplicate key"):
        return "a key is repeated in one object"
    if "hex escape" in message:
        return "an escape is no character, such as a lone surrogate"
    if message.startswith("number out of range"):
        return f"an integer has more than {MAX_INTEGER_DIGITS} digits"
    if message.startswith("Internal error"):  # Decimal refuses exponents of more than eighteen digits
        return "the exponent of a number is out of range"
    return message


def _fault(message: str, decoded: str, place: int) -> JsonSyntaxError:
    line = decoded.count("\n", 0, place) + 1
    column = place - (decoded.rfind("\n", 0, place) + 1) + 1
    excerpt = decoded[max(0, place - _EXCERPT_RADIUS) : place + _EXCERPT_RADIUS]
    return JsonSyntaxError(message, line, column, excerpt)


# Tuples, since a union would be built anew for each value.
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
    if not _surely_nests_at_most(written, max_depth):
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
