"""Text to values: strict, exact, and with the place of what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

import jiter

from taoloop.core.exact_json.model import MAX_DEPTH, MAX_INTEGER_DIGITS, JsonSyntaxError, JsonValue


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
    if surely_nests_at_most(data, max_depth):
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


def surely_nests_at_most(data: bytes, max_depth: int) -> bool:
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
