"""Places with stars: pointers in which `*` stands for every item of an array or member of an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue

STAR: Final = "*"
"""The token that stands for every item or member; a member of this very name cannot be named alone."""

_INDEX_DIGITS: Final = 9

Tokens = tuple[str, ...]
Path = tuple[str | int, ...]


def stars(tokens: Tokens) -> int:
    """Return how many stars the place has."""
    return tokens.count(STAR)


def container(tokens: Tokens) -> Tokens:
    """Return the place up to its last star, that star included; nothing for a place without one."""
    for index in range(len(tokens), 0, -1):
        if tokens[index - 1] == STAR:
            return tokens[:index]
    return ()


def overlap(left: Tokens, right: Tokens) -> bool:
    """Tell whether some place is named by both.

    >>> overlap(("items", "*", "price"), ("items", "0", "price")), overlap(("items",), ("items", "*"))
    (True, False)
    """
    return len(left) == len(right) and _agree(left, right)


def is_above(outer: Tokens, inner: Tokens) -> bool:
    """Tell whether a place that `inner` names can lie below one that `outer` names."""
    return len(outer) < len(inner) and _agree(outer, inner)


def find(value: JsonValue, tokens: Tokens) -> Iterator[tuple[Path, JsonValue]]:
    """Yield every place of the value that the tokens name, as its path and what stands there, in the value's order."""
    yield from _found(value, tokens, 0, ())


def with_all_items(tokens: Tokens) -> Tokens:
    """Return the place with a star for each index, since an item alone would lose its place."""
    return tuple(STAR if array_index(token) is not None else token for token in tokens)


def pointer(tokens: Tokens) -> str:
    """Return the tokens as a pointer."""
    return pointers.join(*tokens)


def child(value: JsonValue, token: str) -> tuple[str | int, JsonValue] | None:
    """Return the key and the value of the member or item that a token names, or None if there is none."""
    if isinstance(value, dict):
        return (token, value[token]) if token in value else None
    if isinstance(value, list):
        index = array_index(token)
        return None if index is None or index >= len(value) else (index, value[index])
    return None


def array_index(token: str) -> int | None:
    """Return the index that a token is, or None: `0`, `12`, and never `01`, `-` or one of ten digits."""
    is_index = token.isascii() and token.isdecimal() and len(token) <= _INDEX_DIGITS
    return int(token) if is_index and not (len(token) > 1 and token.startswith("0")) else None


def _agree(left: Tokens, right: Tokens) -> bool:
    return all(a == b or STAR in (a, b) for a, b in zip(left, right, strict=False))


def _found(value: JsonValue, tokens: Tokens, depth: int, path: Path) -> Iterator[tuple[Path, JsonValue]]:
    if depth == len(tokens):
        yield path, value
        return
    token = tokens[depth]
    if token != STAR:
        found = child(value, token)
        if found is not None:
            yield from _found(found[1], tokens, depth + 1, (*path, found[0]))
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _found(member, tokens, depth + 1, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _found(item, tokens, depth + 1, (*path, index))
