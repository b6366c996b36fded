"""Rules of the plain forms as one function in Python, which tells at once of most results that all of them pass.

The engine of `taoloop.tools.rules` is the judge: here only texts are compared with texts, truth values with truth
values and numbers with numbers that it reads exactly. Whatever is missing or of another kind does not surely pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from taoloop.core.exact_json import Json, JsonValue
from taoloop.tools.rules.javascript import LOOSELY_EQUAL, rewritten
from taoloop.tools.rules.plain import MAX_CHARACTERS

SurelyPass = Callable[[JsonValue, JsonValue, Json, Json, int, float | None], bool]
"""Takes body, data, arguments, expect, status code and response time in seconds."""

PARAMETERS: Final = ("body", "data", "arguments", "expect", "status_code", "response_time_seconds")
MAX_SOURCE_CHARACTERS: Final = 5_000
"""Longest source of one rule; a longer one is left to the engine. Alternatives within alternatives double it."""

MAX_NESTING: Final = 80
"""Most brackets of that source within one another; Python reads 200."""

_TOO_LARGE: Final = 10**15
_MAX_DIGITS: Final = 16
"""Fifteen digits and a point: what so long a decimal is, a double gives back."""

_SYMBOLS: Final = {"===": "==", "!==": "!=", LOOSELY_EQUAL: "==", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SURE_TRUTH: Final = frozenset({str, list, bool})

_Path = tuple[str, ...]


def written_rules(rules: Sequence[JsonValue]) -> tuple[SurelyPass, frozenset[int]]:
    """Return a function that tells whether rules surely pass, and which of them it judges, by their index.

    Args:
        rules: As in the contract; each was compiled before, so that its form is right.
    """
    function = _Function()
    told = frozenset(index for index, rule in enumerate(rules) if function.require(rewritten(rule)))
    return function.made(), told


@dataclass(frozen=True, slots=True)
class _Condition:
    """A part of a rule in two expressions of Python, which are both false where its truth is not sure.

    Attributes:
        holds: True where the part surely does.
        fails: True where it surely does not.
    """

    holds: str
    fails: str


class _NotPlain(Exception):
    """The rule is of another form: the engine has to judge it."""


class _Function:
    """The function while it is written: what it reads, and what it asks for."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._names: dict[tuple[str, _Path], str] = {}
        self._required: list[str] = []
        self._constants: dict[str, object] = {
            "NOTHING": {},
            "MAX": MAX_CHARACTERS,
            "SURE": _SURE_TRUTH,
            "Decimal": Decimal,
            "is_number": _is_number,
            "is_exact": _is_exact,
        }

    def require(self, rule: JsonValue) -> bool:
        """Ask for a rule in normal form; False, and nothing asked, where it is not of a plain form."""
        try:
            condition = self._condition(rule)
        except _NotPlain:
            return False
        if len(condition.holds) > MAX_SOURCE_CHARACTERS or _nesting(condition.holds) > MAX_NESTING:
            return False
        self._required.append(condition.holds)
        return True

    def made(self) -> SurelyPass:
        """Return the function, compiled."""
        body = [*self._lines, *(f"if not ({each}): return False" for each in self._required), "return True"]
        text = "\n    ".join([f"def surely_pass({', '.join(PARAMETERS)}):", *body])
        made: dict[str, Any] = {}
        exec(compile(text, "<rules of a contract>", "exec"), self._constants, made)  # noqa: S102 - as dataclasses do
        function: SurelyPass = made["surely_pass"]
        return function

    def _condition(self, rule: JsonValue) -> _Condition:
        if not isinstance(rule, dict):
            raise _NotPlain
        ((name, operands),) = rule.items()
        assert isinstance(operands, list)
        if name == "var":
            return self._truth(rule)
        if name == "!!":
            return self._condition(operands[0])
        if name == "!":
            inner = self._condition(operands[0])
            return _Condition(inner.fails, inner.holds)
        if name in {"and", "or"}:
            return _joined([self._condition(operand) for operand in operands], is_any=name == "or")
        if name == "in":
            return self._member(*operands)
        if name not in _SYMBOLS:
            raise _NotPlain
        return self._compared(name, *operands)

    def _truth(self, operand: JsonValue) -> _Condition:
        value = self._value(_path(operand))
        is_sure = f"(type({value}) in SURE or is_number({value}))"
        return _Condition(f"({is_sure} and {value})", f"({is_sure} and not {value})")

    def _member(self, wanted: JsonValue, where: JsonValue) -> _Condition:
        texts = [text for text in where if isinstance(text, str)] if isinstance(where, list) else None
        if texts is None or len(texts) < len(where if isinstance(where, list) else ()):
            raise _NotPlain
        value = self._value(_path(wanted))
        constant = self._constant(frozenset(texts))
        is_text = f"type({value}) is str"
        return _Condition(f"({is_text} and {value} in {constant})", f"({is_text} and {value} not in {constant})")

    def _compared(self, name: str, left: JsonValue, right: JsonValue) -> _Condition:
        if not isinstance(right, dict | list):
            return self._compared_with(name, _path(left), right)
        if not isinstance(left, dict | list):
            return self._compared_with(_MIRRORED.get(name, name), _path(right), left)
        one, other = _path(left), _path(right)
        a, b, symbol = self._value(one), self._value(other), _SYMBOLS[name]
        is_sure = f"({self._is_text(one)} and {self._is_text(other)} or is_number({a}) and is_number({b}))"
        return _Condition(f"({is_sure} and {a} {symbol} {b})", f"({is_sure} and not {a} {symbol} {b})")

    def _compared_with(self, name: str, path: _Path, constant: JsonValue) -> _Condition:
        value, symbol = self._value(path), _SYMBOLS[name]
        if isinstance(constant, bool):
            return _of_truth_value(value, symbol, constant)
        if isinstance(constant, str) and len(constant) <= MAX_CHARACTERS and constant.isascii():
            is_sure = self._is_text(path)
        elif isinstance(constant, int | Decimal) and _is_number(constant):
            is_sure = self._is_number(path)
        else:
            raise _NotPlain
        compared = f"{value} {symbol} {self._constant(constant)}"
        return _Condition(f"({is_sure} and {compared})", f"({is_sure} and not {compared})")

    def _value(self, path: _Path) -> str:
        """Return the name of what stands at the place; None there is what is not there."""
        if len(path) == 1:
            return path[0]
        return self._line("value", path, lambda: f"{self._object(path[:-1])}.get({path[-1]!r})")

    def _object(self, path: _Path) -> str:
        value = self._value(path)
        return self._line("object", path, lambda: f"{value} if type({value}) is dict else NOTHING")

    def _is_text(self, path: _Path) -> str:
        value = self._value(path)
        return self._line("text", path, lambda: f"type({value}) is str and len({value}) <= MAX and {value}.isascii()")

    def _is_number(self, path: _Path) -> str:
        value = self._value(path)
        whole = f"type({value}) is int and {-_TOO_LARGE} < {value} < {_TOO_LARGE}"
        return self._line("number", path, lambda: f"{whole} or type({value}) is Decimal and is_exact({value})")

    def _line(self, kind: str, path: _Path, written: Callable[[], str]) -> str:
        """Return the name of what is computed once for a place, and write the line that computes it."""
        name = self._names.get((kind, path))
        if name is None:
            line = written()  # may write what it is computed from
            name = self._names[kind, path] = f"{kind}_{len(self._names)}"
            self._lines.append(f"{name} = {line}")
        return name

    def _constant(self, value: object) -> str:
        if isinstance(value, str | int):
            return repr(value)
        name = f"constant_{len(self._constants)}"
        self._constants[name] = value
        return name


def _joined(parts: Sequence[_Condition], *, is_any: bool) -> _Condition:
    """Return `or` and `and`, which end at the first part that decides; what is not sure before it is an answer, too."""
    found = parts[-1]
    for part in reversed(parts[:-1]):
        if is_any:
            found = _Condition(f"({part.holds} or {part.fails} and {found.holds})", f"({part.fails} and {found.fails})")
        else:
            found = _Condition(f"({part.holds} and {found.holds})", f"({part.fails} or {part.holds} and {found.fails})")
        if len(found.holds) + len(found.fails) > 2 * MAX_SOURCE_CHARACTERS:
            raise _NotPlain
    return found


def _of_truth_value(value: str, symbol: str, constant: bool) -> _Condition:
    if symbol not in {"==", "!="}:
        raise _NotPlain
    same, other = f"({value} is {constant})", f"({value} is {not constant})"
    return _Condition(same, other) if symbol == "==" else _Condition(other, same)


def _nesting(text: str) -> int:
    """Return at least how deep the brackets of a source nest; those in its texts count, too."""
    depth = deepest = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    return deepest


def _path(part: JsonValue) -> _Path:
    """Return the names on the way to what an operand reads.

    Raises:
        _NotPlain: It is another operand, or reads an index, the whole of the data or an odd name.
    """
    path = part.get("var") if isinstance(part, dict) and len(part) == 1 else None
    if not isinstance(path, list) or len(path) != 1 or not isinstance(path[0], str):
        raise _NotPlain
    tokens = tuple(path[0].split("."))
    if tokens[0] not in PARAMETERS or not all(token[:1].isalpha() or token[:1] == "_" for token in tokens):
        raise _NotPlain
    return tokens


def _is_number(value: object) -> bool:
    """Tell whether the engine reads a value as a number exactly, and compares it so with all others of the kind."""
    if type(value) is int:
        return -_TOO_LARGE < value < _TOO_LARGE
    return type(value) is Decimal and _is_exact(value)


def _is_exact(value: Decimal) -> bool:
    text = str(value)
    return len(text) <= _MAX_DIGITS and "E" not in text and value.is_finite()
