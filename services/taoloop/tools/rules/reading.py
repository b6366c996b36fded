"""What a rule reads of its data: each path, and whether it looks at what lies below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules.javascript import SCOPED

_EACH: Final = "*"
"""Stands for every item of a list. A member of that name is taken for one, which reads too much and no less."""

_LOGICAL: Final = frozenset({"and", "or", "!", "!!", "if"})


@dataclass(frozen=True, slots=True)
class Read:
    """One place that a rule reads.

    Attributes:
        tokens: The path; `*` is every item.
        is_deep: Whether the value matters and not only that it is there, null, or true.
    """

    tokens: tuple[str, ...]
    is_deep: bool

    def covers(self, path: tuple[str, ...]) -> bool:
        """Tell whether the value at the path can change what is read."""
        if len(path) < len(self.tokens) or (len(path) > len(self.tokens) and not self.is_deep):
            return False
        return all(token in {_EACH, part} for token, part in zip(self.tokens, path, strict=False))


def reads(rule: JsonValue) -> frozenset[Read]:
    """Return all that a verdict on the rule may read; a list of rules is read for its value.

    Args:
        rule: What `javascript.rewritten` returns.
    """
    return frozenset(_reads(rule, (), is_deep=isinstance(rule, list)))


def roots(found: Iterable[Read]) -> frozenset[str] | None:
    """Return the members of the data that are read; None where it may be any."""
    firsts = {read.tokens[0] if read.tokens else _EACH for read in found}
    return None if _EACH in firsts else frozenset(firsts)


_Prefix = tuple[str, ...] | None
"""Where the data of a part lies; None where it is computed, and all of it was read already."""


def _reads(rule: JsonValue, prefix: _Prefix, *, is_deep: bool) -> Iterator[Read]:
    if isinstance(rule, list):
        for item in rule:
            yield from _reads(item, prefix, is_deep=is_deep)
    if not isinstance(rule, dict):
        return
    ((operator, operands),) = rule.items()
    assert isinstance(operands, list)
    if operator == "var":
        yield from _var(operands, prefix, is_deep=is_deep)
    elif operator in SCOPED:
        yield from _loop(operator, operands, prefix, is_deep=is_deep)
    elif operator in {"missing", "missing_some"}:
        yield from _below(prefix)
    else:
        looks_inside = is_deep if operator in _LOGICAL else not _compares_with_scalar(operator, operands)
        yield from _reads(operands, prefix, is_deep=looks_inside)


def _var(operands: list[JsonValue], prefix: _Prefix, *, is_deep: bool) -> Iterator[Read]:
    tokens = _tokens(operands)
    if tokens is None:
        yield from _below(prefix)
    elif prefix is not None:
        yield Read(prefix + tokens, is_deep)
    yield from _reads(operands, prefix, is_deep=is_deep)


def _loop(operator: str, operands: list[JsonValue], prefix: _Prefix, *, is_deep: bool) -> Iterator[Read]:
    source, body, *initial = operands
    items = _items(source, prefix)
    yield from _reads(source, prefix, is_deep=items is None or (operator == "filter" and is_deep))
    yield from _reads(initial, prefix, is_deep=True)
    if operator == "reduce":
        yield from _fold(body, items)
    else:
        yield from _reads(body, items, is_deep=operator == "map" and is_deep)


def _fold(body: JsonValue, items: _Prefix) -> Iterator[Read]:
    """Return the reads of the body of a `reduce`: `current` is the item, the accumulator was read before."""
    for read in _reads(body, (), is_deep=True):
        if items is not None and read.tokens[:1] != ("accumulator",):
            yield Read(items + read.tokens[1:], read.is_deep)


def _items(source: JsonValue, prefix: _Prefix) -> _Prefix:
    """Return where the items of a loop lie; None where they are computed."""
    if not isinstance(source, dict) or prefix is None:
        return None
    ((operator, operands),) = source.items()
    assert isinstance(operands, list)
    if operator == "filter":
        return _items(operands[0], prefix)
    tokens = _tokens(operands) if operator == "var" and len(operands) < 2 else None
    return None if tokens is None else (*prefix, *tokens, _EACH)


def _tokens(operands: list[JsonValue]) -> tuple[str, ...] | None:
    path = operands[0] if operands else ""
    if not isinstance(path, str):
        return None
    return tuple(path.split(".")) if path else ()


def _below(prefix: _Prefix) -> Iterator[Read]:
    if prefix is not None:
        yield Read(prefix, is_deep=True)


def _compares_with_scalar(operator: str, operands: list[JsonValue]) -> bool:
    """Tell whether a list or object can only be unequal, whatever it holds."""
    if operator in {"===", "!=="}:
        return any(not isinstance(operand, dict | list) for operand in operands)
    if operator != "in":
        return False
    constants = operands[1]
    return isinstance(constants, list) and not any(isinstance(item, dict | list) for item in constants)
