"""Compiled JsonLogic rules and their verdicts: pass, fail, indeterminate or error."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, Self

import datalogic_py

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules import javascript, missing

OPERATION_BUDGET: Final = 100_000
"""Most operations that one evaluation may charge, as the engine counts them; more is an error."""

MAX_RULE_DEPTH: Final = 40
"""Deepest nesting of a rule as written; the engine takes 256 after the rewriting."""

_MAX_REWRITTEN_BYTES: Final = 1 << 18


class Verdict(StrEnum):
    """What a rule says about the data; only PASS passes."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    INDETERMINATE = "indeterminate"
    """The verdict hangs on a comparison or computation with a missing or null operand."""

    ERROR = "error"
    """The evaluation failed: a text that is no number, a division by zero, the operation budget."""


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """The verdict of one evaluation.

    Attributes:
        verdict: See `Verdict`.
        missing: Paths of compared operands that are missing or null; only for INDETERMINATE.
        cause: What failed, without data; only for ERROR.
    """

    verdict: Verdict
    missing: tuple[str, ...] = ()
    cause: str = ""


class RuleRefused(ValueError):
    """The rule must not be used.

    Attributes:
        pointer: Where in the rule the fault is.
    """

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.pointer = pointer


class RuleData:
    """Data that was made ready once for any number of rules.

    The engine reads integers of up to 64 bits exactly and other numbers as doubles.
    """

    def __init__(self, value: JsonValue, text: str | None = None) -> None:
        """Take JSON data.

        Args:
            value: The data.
            text: The same as JSON, from who has it at hand; None writes it.

        Raises:
            JsonEncodeError: The value has no JSON form or nests deeper than 64; not raised for a given text.
        """
        self.value: Final = value
        self._handle = datalogic_py.DataHandle(exact_json.dumps(value) if text is None else text)

    def evaluated(self, rule: datalogic_py.Rule) -> str:
        """Return the rule's result as JSON text.

        Raises:
            DataLogicError: The evaluation failed.
        """
        return rule.evaluate_data_str(self._handle)


class CompiledRule:
    """A rule that was checked once and judges any number of data; safe to share between tasks and threads.

    Attributes:
        rule: As written.
        paths: The paths that the rule reads; None when they are not all written out in it.
    """

    def __init__(self, rule: JsonValue, javascript_rule: JsonValue, bounds: missing.Bounds) -> None:
        self.rule: Final = rule
        self.paths: Final = missing.read_paths(javascript_rule)
        self._raw = _compiled(javascript_rule)
        self._surely = _compiled({"!!": [bounds.surely]})
        self._possibly = self._surely if bounds.is_exact else _compiled({"!!": [bounds.possibly]})
        self._compared_paths = missing.compared_paths(javascript_rule)

    @classmethod
    def compile(cls, rule: JsonValue) -> Self:
        """Check and compile a rule.

        Raises:
            RuleRefused: An unknown operator, by name; a form that is no JsonLogic; too deep or too large.
        """
        try:
            exact_json.dumps(rule, max_depth=MAX_RULE_DEPTH)
            javascript_rule = javascript.rewritten(rule)
            return cls(rule, javascript_rule, missing.bounds(javascript_rule))
        except javascript.RuleFormFault as exc:
            raise RuleRefused(exc.pointer, str(exc)) from exc
        except exact_json.JsonEncodeError as exc:
            raise RuleRefused("", str(exc)) from exc
        except datalogic_py.DataLogicError as exc:
            raise RuleRefused("", f"the rule does not compile: {exc}") from exc

    def verdict(self, data: RuleData) -> RuleOutcome:
        """Judge the data; never raises."""
        try:
            if data.evaluated(self._surely) == "true":
                return RuleOutcome(Verdict.PASS)
            if self._possibly is self._surely or data.evaluated(self._possibly) == "false":
                return RuleOutcome(Verdict.FAIL)
        except datalogic_py.DataLogicError as exc:
            return RuleOutcome(Verdict.ERROR, cause=_cause(exc))
        return RuleOutcome(Verdict.INDETERMINATE, missing=self._missing(data.value))

    def result(self, data: RuleData) -> JsonValue:
        """Return the raw result, which is that of json-logic-js.

        Raises:
            ArithmeticError: The evaluation failed.
        """
        try:
            return exact_json.loads(data.evaluated(self._raw))
        except datalogic_py.DataLogicError as exc:
            raise ArithmeticError(_cause(exc)) from exc

    def __repr__(self) -> str:
        return f"CompiledRule({self.rule!r})"

    def _missing(self, value: JsonValue) -> tuple[str, ...]:
        return tuple(path for path in self._compared_paths if _at(value, path) is None)


@cache
def _engine() -> datalogic_py.Engine:
    """Return the one engine: it is immutable, and the library says that it may be shared by threads."""
    return datalogic_py.Engine(
        families=[],
        strict_operator_names=True,
        custom_operators={javascript.LOOSELY_EQUAL: javascript.loosely_equal},
        config={"ops_budget": OPERATION_BUDGET},
    )


def _compiled(rule: JsonValue) -> datalogic_py.Rule:
    text = exact_json.dumps(rule, max_depth=1000)
    if len(text) > _MAX_REWRITTEN_BYTES:
        raise RuleRefused("", "the rule is too large once missing operands are taken into account")
    return _engine().compile_checked(text)


def _cause(error: datalogic_py.DataLogicError) -> str:
    operator = getattr(error, "operator", None)
    kind = str(getattr(error, "error_type", "Error"))
    return f"{kind} in {operator!r}" if operator else kind


def _at(value: JsonValue, path: str) -> JsonValue:
    for token in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(token)
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return None
    return value
