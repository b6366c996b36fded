"""Rules of the plain forms that most contracts write, judged at once where nothing about the verdict can be in doubt.

The engine is the judge: here only texts are compared with texts and numbers with numbers that it reads exactly, and
whatever is missing or of another kind is left to it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules.javascript import LOOSELY_EQUAL

Condition = Callable[[Mapping[str, JsonValue]], bool | None]
"""True or False where the truth of a rule is sure, None where the engine has to say."""

MAX_CHARACTERS: Final = 1000
"""Longest text that is compared; the engine counts the longer ones."""

_Read = Callable[[Mapping[str, JsonValue]], JsonValue]

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "===": operator.eq,
    "!==": operator.ne,
    LOOSELY_EQUAL: operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TOO_LARGE: Final = 10**15
_MAX_DIGITS: Final = 16
"""Fifteen digits and a point: what so long a decimal is, a double gives back."""


def condition(rule: JsonValue) -> Condition | None:
    """Return what judges the rule at once, or None for a rule of another form.

    Args:
        rule: What `javascript.rewritten` returns.
    """
    if not isinstance(rule, dict):
        return None
    ((name, operands),) = rule.items()
    assert isinstance(operands, list)
    if name == "var":
        return _truth(rule)
    if name == "!!":
        return condition(operands[0])
    if name in {"and", "or"}:
        return _until([condition(operand) for operand in operands], ends_with=name == "or")
    if name == "!":
        return _negated(operands[0])
    if name == "in":
        return _member(*operands)
    return _compared(name, *operands) if name in _COMPARE else None


def all_of(conditions: Sequence[Condition | None]) -> Condition | None:
    """Return what judges whether all pass, or None where some are not of a plain form."""
    return _until(conditions, ends_with=False)


def _until(wanted: Sequence[Condition | None], *, ends_with: bool) -> Condition | None:
    conditions = [each for each in wanted if each is not None]
    if len(conditions) < len(wanted):
        return None

    def judge(scope: Mapping[str, JsonValue]) -> bool | None:
        for each in conditions:
            said = each(scope)
            if said is None or said is ends_with:
                return said
        return not ends_with

    return judge


def _negated(operand: JsonValue) -> Condition | None:
    inner = condition(operand)
    if inner is None:
        return None

    def judge(scope: Mapping[str, JsonValue]) -> bool | None:
        said = inner(scope)
        return None if said is None else not said

    return judge


def _truth(operand: JsonValue) -> Condition | None:
    read = _read(operand)
    if read is None:
        return None

    def judge(scope: Mapping[str, JsonValue]) -> bool | None:
        value = read(scope)
        is_sure = isinstance(value, str | list | bool) or _is_plain_number(value)
        return bool(value) if is_sure else None

    return judge


def _member(wanted: JsonValue, where: JsonValue) -> Condition | None:
    read = _read(wanted)
    if read is None or not isinstance(where, list):
        return None
    texts = frozenset(text for text in where if isinstance(text, str))
    if len(texts) < len(where):
        return None

    def judge(scope: Mapping[str, JsonValue]) -> bool | None:
        value = read(scope)
        return value in texts if isinstance(value, str) else None

    return judge


def _compared(name: str, left: JsonValue, right: JsonValue) -> Condition | None:
    compare = _COMPARE[name]
    if not isinstance(right, dict | list):
        return _compared_with(right, _read(left), compare)
    if not isinstance(left, dict | list):
        return _compared_with(left, _read(right), lambda value, constant: compare(constant, value))
    read_left, read_right = _read(left), _read(right)
    if read_left is None or read_right is None:
        return None

    def judge(scope: Mapping[str, JsonValue]) -> bool | None:
        one, other = read_left(scope), read_right(scope)
        if isinstance(one, str) and isinstance(other, str):
            return compare(one, other) if _is_plain_text(one) and _is_plain_text(other) else None
        return compare(one, other) if _is_plain_number(one) and _is_plain_number(other) else None

    return judge


def _compared_with(constant: JsonValue, read: _Read | None, compare: Callable[[Any, Any], bool]) -> Condition | None:
    if read is None:
        return None
    if isinstance(constant, str) and _is_plain_text(constant):

        def judge_text(scope: Mapping[str, JsonValue]) -> bool | None:
            value = read(scope)
            return compare(value, constant) if isinstance(value, str) and _is_plain_text(value) else None

        return judge_text
    if not _is_plain_number(constant):
        return None

    def judge_number(scope: Mapping[str, JsonValue]) -> bool | None:
        value = read(scope)
        return compare(value, constant) if _is_plain_number(value) else None

    return judge_number


def _read(part: JsonValue) -> _Read | None:
    """Return what reads a member by the names on the way, null being what is not there; None for other operands."""
    if not isinstance(part, dict) or part.keys() != {"var"}:
        return None
    path = part["var"]
    tokens = path[0].split(".") if isinstance(path, list) and len(path) == 1 and isinstance(path[0], str) else [""]
    if not all(token[:1].isalpha() or token[:1] == "_" for token in tokens):
        return None  # an index, the whole of the data, or an odd name
    root, *inner = tokens
    if len(inner) == 1:
        name = inner[0]

        def read_member(scope: Mapping[str, JsonValue]) -> JsonValue:
            value = scope.get(root)
            return value.get(name) if isinstance(value, dict) else None

        return read_member

    def read(scope: Mapping[str, JsonValue]) -> JsonValue:
        value = scope.get(root)
        for token in inner:
            value = value.get(token) if isinstance(value, dict) else None
        return value

    return read


def _is_plain_text(text: str) -> bool:
    return len(text) <= MAX_CHARACTERS and text.isascii()


def _is_plain_number(value: JsonValue) -> bool:
    """Tell whether the engine reads the number exactly, and compares it so with every other one of the kind."""
    if isinstance(value, int):
        return not isinstance(value, bool) and -_TOO_LARGE < value < _TOO_LARGE
    if not isinstance(value, Decimal):
        return False
    text = str(value)
    return len(text) <= _MAX_DIGITS and "E" not in text
