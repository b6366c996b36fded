"""JSON pointers (RFC 6901): the one way to name a place inside a JSON value."""

from __future__ import annotations

import re

from taoloop.core.exact_json import ABSENT, Json, JsonValue

_BAD_ESCAPE = re.compile(r"~(?![01])")
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")


class PointerSyntaxError(ValueError):
    """The text is not a JSON pointer: it must be empty or start with `/`, and `~` only begins `~0` or `~1`."""


class PointerNotFound(KeyError):
    """The value has nothing at the pointer.

    Attributes:
        pointer: The pointer that was followed.
    """

    def __init__(self, pointer: str, description: str) -> None:
        super().__init__(pointer)
        self.pointer = pointer
        self._description = description

    def __str__(self) -> str:
        return f"{self.pointer or '(root)'}: {self._description}"


def parse(pointer: str) -> tuple[str, ...]:
    """Return the unescaped tokens of a pointer; the empty pointer, the whole value, has none.

    >>> parse("/a~1b/0")
    ('a/b', '0')

    Raises:
        PointerSyntaxError: The text is not a pointer.
    """
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise PointerSyntaxError(f"a pointer is empty or starts with '/': {pointer!r}")
    if "~" not in pointer:
        return tuple(pointer[1:].split("/"))
    if _BAD_ESCAPE.search(pointer):
        raise PointerSyntaxError(f"'~' must be followed by 0 or 1: {pointer!r}")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def below(pointer: str, name: str) -> str:
    """Return the pointer of a member, from that of its object.

    >>> below("/items/0", "a/b")
    '/items/0/a~1b'
    """
    is_plain = "/" not in name and "~" not in name
    return f"{pointer}/{name}" if is_plain else pointer + join(name)


def join(*tokens: str | int) -> str:
    """Return the pointer made of these tokens, escaped; numbers are array indices.

    >>> join("items", 0, "a/b")
    '/items/0/a~1b'
    """
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def lookup(value: JsonValue, pointer: str) -> JsonValue:
    """Return what stands at the pointer.

    Raises:
        PointerSyntaxError: The text is not a pointer.
        PointerNotFound: Nothing stands there: no such key, no such index, or a scalar on the way.
    """
    for token in parse(pointer):
        value = _child(value, token, pointer)
    return value


def find(value: Json, pointer: str) -> Json:
    """Return what stands at the pointer, `ABSENT` where nothing does.

    Raises:
        PointerSyntaxError: The text is not a pointer.
    """
    if value is ABSENT:
        return ABSENT
    try:
        return lookup(value, pointer)
    except PointerNotFound:
        return ABSENT


def assign(value: JsonValue, pointer: str, new: JsonValue) -> JsonValue:
    """Put `new` at the pointer and return the whole value, changed in place.

    Missing keys on the way become objects, never arrays: a pointer does not say which is meant. In an
    array the last token replaces an element, or appends with `-` or the index just past the end. The
    empty pointer returns `new`.

    Raises:
        PointerSyntaxError: The text is not a pointer.
        PointerNotFound: An index is out of range, or a scalar stands on the way.
    """
    tokens = parse(pointer)
    if not tokens:
        return new
    parent = value
    for token in tokens[:-1]:
        if isinstance(parent, dict) and token not in parent:
            parent[token] = {}
        parent = _child(parent, token, pointer)
    _put(parent, tokens[-1], new, pointer)
    return value


def _child(value: JsonValue, token: str, pointer: str) -> JsonValue:
    if isinstance(value, dict):
        if token not in value:
            raise PointerNotFound(pointer, f"there is no key {token!r}")
        return value[token]
    if isinstance(value, list):
        return value[_index(token, len(value), pointer)]
    raise PointerNotFound(pointer, f"{token!r} is looked for in a value that is no object or array")


def _put(parent: JsonValue, token: str, new: JsonValue, pointer: str) -> None:
    if isinstance(parent, dict):
        parent[token] = new
    elif isinstance(parent, list):
        if token in {"-", str(len(parent))}:
            parent.append(new)
        else:
            parent[_index(token, len(parent), pointer)] = new
    else:
        raise PointerNotFound(pointer, f"{token!r} cannot be set in a value that is no object or array")


def _index(token: str, length: int, pointer: str) -> int:
    if _INDEX.fullmatch(token) is None or int(token) >= length:
        raise PointerNotFound(pointer, f"{token!r} is no index of an array of {length}")
    return int(token)
