"""From a rule in normal form to the rule that the engine compiles: where the two disagree, the engine is led around.

The engine takes texts such as `1d` and `2026-03-01T00:00:00Z` for durations and dates, walks objects like lists,
drops null from `merge`, compares lists by content, and sums up a list that is the only operand. Each is closed by
a condition on the operand's type, so that the plain case stays inside the engine, and by an operator of `coercion`
where the type is another. What is known from the rule alone costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules.javascript import ARITHMETIC, COMPARISONS, LOOSELY_EQUAL, SCOPED

PREFIX: Final = "taoloop_"
"""How the names of the custom operators begin."""

_BOOLEAN: Final = COMPARISONS | {"===", "!==", "!", "!!", "in", "all", "some", "none", LOOSELY_EQUAL}
_LISTS: Final = frozenset({"map", "filter", "merge", "missing", "missing_some"})
_PARSING: Final = frozenset({"+", "*"})
"""The operators that read a number from the start of a text, where the others take the whole text."""

_DATE_LIKE: Final = re.compile(r"\s*[+-]?\d")
"""How a text begins that the engine could take for a date or a duration."""

_ODD_INDEX: Final = re.compile(r"(?:^|\.)(?:0\d|\+\d)")
"""A part of a path that the engine takes for an index, and ECMAScript for a name."""

_Operands = list[JsonValue]


def lowered(rule: JsonValue) -> JsonValue:
    """Return the rule for the engine; the input is what `javascript.rewritten` returns, or is made from it."""
    return _Lowering().value(rule)


class _Lowering:
    """One lowering; a part that several ways lead to is lowered once, and stays shared."""

    def __init__(self) -> None:
        # By identity; the part is kept, so that no other gets its identity.
        self._values: dict[int, tuple[JsonValue, JsonValue]] = {}
        self._conditions: dict[int, tuple[JsonValue, JsonValue]] = {}

    def value(self, rule: JsonValue) -> JsonValue:
        """Return the part for where its value is wanted."""
        found = self._values.get(id(rule))
        if found is None:
            found = self._values[id(rule)] = (rule, self._value_of(rule))
        return found[1]

    def condition(self, rule: JsonValue) -> JsonValue:
        """Return the part for where only its truth is wanted."""
        found = self._conditions.get(id(rule))
        if found is None:
            found = self._conditions[id(rule)] = (rule, self._condition_of(rule))
        return found[1]

    def _condition_of(self, rule: JsonValue) -> JsonValue:
        """Take an object for true, whatever it holds: the engine takes `{}` for false."""
        if isinstance(rule, dict):
            ((operator, operands),) = rule.items()
            assert isinstance(operands, list)
            if operator in {"and", "or"}:
                return {operator: [self.condition(operand) for operand in operands]}
            if operator not in _MAY_BE_OBJECT:
                return self.value(rule)
        else:
            return self.value(rule)
        made = self.value(rule)
        return {"or": [_type_is(made, "object"), made]}

    def _value_of(self, rule: JsonValue) -> JsonValue:
        if isinstance(rule, list):
            return [self.value(item) for item in rule]
        if not isinstance(rule, dict):
            return rule
        ((operator, operands),) = rule.items()
        assert isinstance(operands, list)
        if operator in SCOPED:
            return self._loop(operator, operands)
        if operator in {"!", "!!"}:
            return {operator: [self.condition(operands[0])]}
        if operator in {"and", "or"}:
            return self._logical(operator, operands)
        made = [self.value(operand) for operand in operands]
        if operator == "if":
            return {
                "if": [self.condition(o) if _is_tested(at, operands) else made[at] for at, o in enumerate(operands)]
            }
        if operator in COMPARISONS:
            return _comparison(operator, operands, made)
        if operator in ARITHMETIC:
            return _arithmetic(operator, operands, made)
        special = _SPECIAL.get(operator)
        return {operator: made} if special is None else special(operands, made)

    def _logical(self, operator: str, operands: _Operands) -> JsonValue:
        """Return the deciding operand's value, where an object is true."""
        made = [self.value(operand) for operand in operands]
        if all(self.condition(operand) is value for operand, value in zip(operands[:-1], made, strict=False)):
            return {operator: made}
        chain = made[-1]
        for operand, value in zip(operands[-2::-1], made[-2::-1], strict=True):
            condition = self.condition(operand)
            chain = {"if": [condition, chain, value] if operator == "and" else [condition, value, chain]}
        return chain

    def _loop(self, operator: str, operands: _Operands) -> JsonValue:
        """Go over lists only: to ECMAScript an object has no items."""
        source, initial = self.value(operands[0]), [self.value(operand) for operand in operands[2:]]
        body = self.condition(operands[1]) if operator in _TESTING else self.value(operands[1])
        loop: JsonValue = {operator: [source, body, *initial]}
        if _is_list(operands[0]):
            return loop
        is_list = _type_is(source, "array")
        if operator in {"all", "some"}:
            return {"and": [is_list, loop]}
        if operator == "none":
            return {"or": [{"!": [is_list]}, loop]}
        otherwise = (initial[0] if initial else None) if operator == "reduce" else []
        return {"if": [is_list, loop, otherwise]}


_TESTING: Final = frozenset({"filter", "all", "some", "none"})
_MAY_BE_OBJECT: Final = frozenset({"var", "if", "reduce"})


def _is_tested(at: int, operands: _Operands) -> bool:
    return at % 2 == 0 and at + 1 < len(operands)


def _type_is(rule: JsonValue, name: str) -> JsonValue:
    return {"===": [{"type": [rule]}, name]}


def _is_number(rule: JsonValue) -> bool:
    """Tell whether the rule gives a number whatever the data, or fails."""
    if isinstance(rule, dict):
        ((operator, operands),) = rule.items()
        assert isinstance(operands, list)
        if operator == "*" and len(operands) == 1:
            return _is_number(operands[0])
        return operator in ARITHMETIC
    return isinstance(rule, int | float | Decimal) and not isinstance(rule, bool)


def _is_boolean(rule: JsonValue) -> bool:
    return isinstance(rule, bool) or (isinstance(rule, dict) and next(iter(rule)) in _BOOLEAN)


def _is_plain_text(rule: JsonValue) -> bool:
    """Tell whether the rule is a constant text that is no date or duration to the engine."""
    return isinstance(rule, str) and _DATE_LIKE.match(rule) is None


def _is_plain(rule: JsonValue) -> bool:
    """Tell whether the engine compares the rule's value with any scalar as ECMAScript does."""
    return rule is None or _is_number(rule) or _is_boolean(rule) or _is_plain_text(rule)


def _is_list(rule: JsonValue) -> bool:
    return isinstance(rule, list) or (isinstance(rule, dict) and next(iter(rule)) in _LISTS)


def _comparison(operator: str, operands: _Operands, made: _Operands) -> JsonValue:
    """Order numbers by the engine; where neither operand is a number, by the custom operator."""
    plain: JsonValue = {operator: made}
    custom: JsonValue = {f"{PREFIX}{operator}": made}
    if any(_is_number(operand) for operand in operands):
        return plain
    are_numbers: _Operands = [_type_is(operand, "number") for operand in made]
    return {"if": [{"and": are_numbers}, plain, custom]}


def _arithmetic(operator: str, operands: _Operands, made: _Operands) -> JsonValue:
    if operator == "*" and len(operands) == 1:
        return made[0]  # what ECMAScript's fold does with one
    custom = "taoloop_leading_number" if operator in _PARSING else "taoloop_number"
    numbers: _Operands = [_as_number(a, b, custom) for a, b in zip(operands, made, strict=True)]
    if len(numbers) == 1:
        # A list that is the only operand would be taken for the operands.
        numbers = [numbers[0], 0] if operator == "+" else [0, numbers[0]] if operator == "-" else numbers * 2
    return {operator: numbers}


def _as_number(operand: JsonValue, made: JsonValue, custom: str) -> JsonValue:
    if _is_number(operand):
        return made
    return {"if": [_type_is(made, "number"), made, {custom: [made]}]}


def _strictly_equal(operands: _Operands, made: _Operands) -> JsonValue:
    """Let the engine say no, which is sure; a yes is checked, unless an operand is known to be plain."""
    plain: JsonValue = {"===": made}
    return plain if any(map(_is_plain, operands)) else {"and": [plain, {"taoloop_strictly_equal": made}]}


def _strictly_unequal(operands: _Operands, made: _Operands) -> JsonValue:
    if any(map(_is_plain, operands)):
        return {"!==": made}
    return {"!": [_strictly_equal(operands, made)]}


def _in(operands: _Operands, made: _Operands) -> JsonValue:
    wanted, where = operands
    plain: JsonValue = {"in": made}
    if (_is_plain_text(wanted) and wanted != "") or (isinstance(where, list) and all(map(_is_plain, where))):
        return plain
    custom: JsonValue = {"taoloop_in": made}
    if _is_list(where):
        return {"and": [plain, custom]}
    return {"if": [plain, custom, {"and": [{"!": [_type_is(made[1], "array")]}, custom]}]}


def _as_text(operand: JsonValue, made: JsonValue, custom: str) -> JsonValue:
    return made if isinstance(operand, str) else {"if": [_type_is(made, "string"), made, {custom: [made]}]}


def _cat(operands: _Operands, made: _Operands) -> JsonValue:
    return {"cat": [_as_text(a, b, "taoloop_text") for a, b in zip(operands, made, strict=True)]}


def _substr(operands: _Operands, made: _Operands) -> JsonValue:
    places: _Operands = [_as_place(a, b) for a, b in zip(operands[1:], made[1:], strict=True)]
    return {"substr": [_as_text(operands[0], made[0], "taoloop_string"), *places]}


def _as_place(operand: JsonValue, made: JsonValue) -> JsonValue:
    return made if isinstance(operand, int) and not isinstance(operand, bool) else {"taoloop_place": [made]}


def _merge(operands: _Operands, made: _Operands) -> JsonValue:
    """Merge lists that hold no null: the engine drops null where ECMAScript keeps it, so that null is an error."""
    return {"merge": [_without_null(a, b) for a, b in zip(operands, made, strict=True)]}


def _without_null(operand: JsonValue, made: JsonValue) -> JsonValue:
    is_constant = not isinstance(operand, dict | list)
    if (is_constant and operand is not None) or (isinstance(operand, dict) and next(iter(operand)) == "merge"):
        return made
    is_null: JsonValue = {"===": [made, None]}
    has_null: JsonValue = {"and": [_type_is(made, "array"), {"some": [made, {"===": [{"var": [""]}, None]}]}]}
    return {"if": [{"or": [is_null, has_null]}, {"taoloop_refuse_null": []}, made]}


def _var(operands: _Operands, made: _Operands) -> JsonValue:
    path = operands[0] if operands else ""
    if isinstance(path, str) and _ODD_INDEX.search(path) is None:
        return {"var": made}
    default = made[1] if len(made) > 1 else None
    return {"taoloop_var": [made[0], {"var": [""]}, default]}


def _missing(_operands: _Operands, made: _Operands) -> JsonValue:
    return {"taoloop_missing": [*made, {"var": [""]}]}


def _missing_some(_operands: _Operands, made: _Operands) -> JsonValue:
    return {"taoloop_missing_some": [*made, {"var": [""]}]}


_SPECIAL: Final[Mapping[str, Callable[[_Operands, _Operands], JsonValue]]] = {
    "===": _strictly_equal,
    "!==": _strictly_unequal,
    "in": _in,
    "cat": _cat,
    "substr": _substr,
    "merge": _merge,
    "var": _var,
    "missing": _missing,
    "missing_some": _missing_some,
}
