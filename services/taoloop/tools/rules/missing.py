"""Kleene logic for rules: what a rule says for sure, and what it might say, when operands are missing or null.

A comparison (`<`, `<=`, `>`, `>=`) or a computation (`+ - * / % min max`) with a missing or null operand is
*unknown*. A rule is rewritten, before it is compiled, into two rules: `surely` is truthy only if the verdict
does not hang on anything unknown, `possibly` is truthy unless the verdict is surely false. Where they differ
the rule is indeterminate. Nothing is interpreted here; the engine evaluates both.

What holds:

- `and`, `or`, `!`, `!!`, `all`, `some` and `none` follow Kleene: `false and unknown` is false, `true or unknown`
  is true. Operands after a deciding one are not evaluated.
- `if` with an unknown condition is unknown, unless both results are the same constant; a branch that is not
  taken never makes it unknown.
- Any other operator, such as `===` or `in`, is unknown if an operand is.
- Equality is no ordering: `===` and `==` with null are known. So is `missing`.
- Inside `reduce`, items are looked at, the accumulator counts as known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules.javascript import ARITHMETIC, COMPARISONS, SCOPED

_BOOLEAN: Final = frozenset({"!", "!!", "all", "some", "none"})
_MAYBE_NULL: Final = frozenset({"var", "and", "or", "reduce"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """A rule between two: if `surely` is truthy it passes, if `possibly` is falsy it fails."""

    surely: JsonValue
    possibly: JsonValue

    @property
    def is_exact(self) -> bool:
        """Tell whether nothing in the rule can be unknown, so that both are the rule itself."""
        return self.surely is self.possibly


def bounds(rule: JsonValue) -> Bounds:
    """Return the two rules; the input is what `javascript.rewritten` returns."""
    return _Analysis().bounds(rule)


def compared_paths(rule: JsonValue) -> tuple[str, ...]:
    """Return the literal paths that stand as operands of comparisons and computations, outside loops, sorted."""
    found: set[str] = set()
    _collect_paths(rule, found, is_operand=False)
    return tuple(sorted(found))


def read_paths(rule: JsonValue) -> frozenset[str] | None:
    """Return the literal paths that a rule reads anywhere; None when it computes one, or loops over items."""
    if isinstance(rule, list):
        inner = [paths for item in rule if (paths := read_paths(item)) is not None]
        return None if len(inner) < len(rule) else frozenset[str]().union(*inner)
    if not isinstance(rule, dict):
        return frozenset()
    operation = _operation(rule)
    if operation is None or operation[0] in {"missing", "missing_some", *SCOPED}:
        return None
    operator, operands = operation
    if operator != "var":
        return read_paths(operands)
    path = operands[0] if operands else ""
    fallback = read_paths(operands[1:])
    return None if not isinstance(path, str) or fallback is None else fallback | {path}


def _operation(rule: JsonValue) -> tuple[str, list[JsonValue]] | None:
    if not isinstance(rule, dict):
        return None
    ((operator, operands),) = rule.items()
    assert isinstance(operands, list)
    return operator, operands


class _Analysis:
    """The bounds and the unknown parts of one rule; each part is looked at once, however many ways lead to it."""

    def __init__(self) -> None:
        # By identity; the part is kept, so that no other gets its identity.
        self._bounds: dict[int, tuple[JsonValue, Bounds]] = {}
        self._unknown: dict[int, tuple[JsonValue, JsonValue]] = {}

    def bounds(self, rule: JsonValue) -> Bounds:
        found = self._bounds.get(id(rule))
        if found is None:
            found = self._bounds[id(rule)] = (rule, self._bounds_of(rule))
        return found[1]

    def _bounds_of(self, rule: JsonValue) -> Bounds:
        operation = _operation(rule)
        if operation is None:
            return Bounds(rule, rule)
        operator, operands = operation
        if operator in {"and", "or", "!!"}:
            return self._monotone(operator, operands, rule)
        if operator == "!":
            inner = self.bounds(operands[0])
            return Bounds(rule, rule) if inner.is_exact else Bounds({"!": [inner.possibly]}, {"!": [inner.surely]})
        if operator == "if":
            return self._conditional(operands, rule)
        if operator in {"all", "some", "none"}:
            return self._quantified(operator, operands, rule)
        return _guarded(self.unknown(rule), rule, rule)

    def _monotone(self, operator: str, operands: list[JsonValue], rule: JsonValue) -> Bounds:
        inner = [self.bounds(operand) for operand in operands]
        if all(bound.is_exact for bound in inner):
            return Bounds(rule, rule)
        return Bounds({operator: [b.surely for b in inner]}, {operator: [b.possibly for b in inner]})

    def _conditional(self, operands: list[JsonValue], rule: JsonValue) -> Bounds:
        inner = [self.bounds(operand) for operand in operands]
        if all(bound.is_exact for bound in inner):
            return Bounds(rule, rule)
        surely: list[JsonValue] = []
        possibly: list[JsonValue] = []
        for index in range(0, len(operands) - 1, 2):
            condition, result = inner[index], inner[index + 1]
            surely += [condition.surely, result.surely]
            possibly += [condition.surely, result.possibly]
            if not condition.is_exact:  # here the condition is unknown, or false
                same = _same_constant(operands[index + 1 :])
                surely += [condition.possibly, same if same is not None else False]
                possibly += [condition.possibly, same if same is not None else True]
        if len(operands) % 2:
            surely.append(inner[-1].surely)
            possibly.append(inner[-1].possibly)
        return Bounds({"if": surely}, {"if": possibly})

    def _quantified(self, operator: str, operands: list[JsonValue], rule: JsonValue) -> Bounds:
        items, body = operands
        inner, unknown_items = self.bounds(body), self.unknown(items)
        if inner.is_exact and unknown_items is False:
            return Bounds(rule, rule)
        surely, possibly = (inner.possibly, inner.surely) if operator == "none" else (inner.surely, inner.possibly)
        return _guarded(unknown_items, {operator: [items, surely]}, {operator: [items, possibly]})

    def unknown(self, rule: JsonValue) -> JsonValue:
        """Return a rule that is true where the value of `rule` is unknown; False if it never is."""
        found = self._unknown.get(id(rule))
        if found is None:
            found = self._unknown[id(rule)] = (rule, self._unknown_of(rule))
        return found[1]

    def _unknown_of(self, rule: JsonValue) -> JsonValue:
        if isinstance(rule, list):
            return _any_of(*map(self.unknown, rule))
        operation = _operation(rule)
        if operation is None:
            return False
        operator, operands = operation
        if operator in COMPARISONS or operator in ARITHMETIC:
            return _any_of(*map(self.unknown, operands), *map(_null, operands))
        if operator in _BOOLEAN:
            bound = self.bounds(rule)
            return False if bound.is_exact else _all_of({"!": [bound.surely]}, bound.possibly)
        if operator == "if":
            return self._unknown_conditional(operands)
        if operator in SCOPED:
            return self._unknown_loop(operator, operands)
        return _any_of(*map(self.unknown, operands))

    def _unknown_conditional(self, operands: list[JsonValue]) -> JsonValue:
        parts: list[JsonValue] = []
        for index in range(0, len(operands) - 1, 2):
            condition = self.bounds(operands[index])
            parts += [condition.surely, self.unknown(operands[index + 1])]
            if not condition.is_exact:
                parts += [condition.possibly, True]
        parts.append(self.unknown(operands[-1]) if len(operands) % 2 else False)
        return {"if": parts} if any(part is not False for part in parts[1::2] + parts[-1:]) else False

    def _unknown_loop(self, operator: str, operands: list[JsonValue]) -> JsonValue:
        items, body, *initial = operands
        unknown_body = self.unknown(_for_one_item(body) if operator == "reduce" else body)
        within: JsonValue = False if unknown_body is False else {"some": [items, unknown_body]}
        return _any_of(self.unknown(items), *map(self.unknown, initial), within)


def _same_constant(rest: list[JsonValue]) -> JsonValue:
    """Return the constant that both branches of a last condition share, else None."""
    if len(rest) == 2 and not isinstance(rest[0], dict | list) and exact_json.equal(*rest):
        return rest[0]
    return None


def _guarded(unknown: JsonValue, surely: JsonValue, possibly: JsonValue) -> Bounds:
    if unknown is False:
        return Bounds(surely, possibly)
    return Bounds(_all_of({"!": [unknown]}, surely), _any_of(unknown, possibly))


def _for_one_item(body: JsonValue) -> JsonValue:
    """Return the body of a `reduce` for the data of a `some`: the item itself instead of `current`."""
    if isinstance(body, list):
        return [_for_one_item(item) for item in body]
    operation = _operation(body)
    if operation is None:
        return body
    operator, operands = operation
    if operator == "var" and operands and isinstance(operands[0], str):
        first, _, rest = operands[0].partition(".")
        if first == "accumulator":
            return 0
        return {"var": [rest, *operands[1:]]} if first == "current" else body
    if operator in SCOPED:
        source, inner, *initial = operands  # the inner body reads another item
        return {operator: [_for_one_item(source), inner, *map(_for_one_item, initial)]}
    return {operator: [_for_one_item(operand) for operand in operands]}


def _null(rule: JsonValue) -> JsonValue:
    """Return a rule that is true where the value is missing or null; False if it never is."""
    operation = _operation(rule)
    if operation is None:
        return rule is None
    operator, operands = operation
    if operator == "if":
        results = [*operands[1::2], operands[-1] if len(operands) % 2 else None]
        if all(_null(result) is False for result in results):
            return False
        return {"===": [rule, None]}
    return {"===": [rule, None]} if operator in _MAYBE_NULL else False


def _any_of(*rules: JsonValue) -> JsonValue:
    kept = [rule for rule in rules if rule is not False]
    if len(kept) <= 1:
        return kept[0] if kept else False
    return {"or": kept}


def _all_of(*rules: JsonValue) -> JsonValue:
    kept = [rule for rule in rules if rule is not True]
    return {"and": kept} if kept else True


def _collect_paths(rule: JsonValue, found: set[str], *, is_operand: bool) -> None:
    operation = _operation(rule)
    if operation is None:
        return
    operator, operands = operation
    if operator == "var":
        if is_operand and operands and isinstance(operands[0], str):
            found.add(operands[0])
        return
    is_computing = operator in COMPARISONS or operator in ARITHMETIC
    for operand in operands[:1] if operator in SCOPED else operands:
        _collect_paths(operand, found, is_operand=is_computing)
