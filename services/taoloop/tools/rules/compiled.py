"""Compiled JsonLogic rules and their verdicts: pass, fail, indeterminate or error."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, Self

import datalogic_py

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules import coercion, javascript, lowering, missing, plain, reading
from taoloop.tools.rules.exactness import BEYOND_RANGE, Path, inexact_paths, is_suspect
from taoloop.tools.rules.metering import TextMeter

OPERATION_BUDGET: Final = 400_000
"""Most operations that one evaluation may charge, as the engine counts them; more is an error."""

MAX_RULE_DEPTH: Final = 40
"""Deepest nesting of a rule as written; the engine takes 256 after the rewriting."""

MAX_RULE_PARTS: Final = 5_000
"""Most constants, lists and operations of a rule as written."""

MAX_DATA_DEPTH: Final = exact_json.MAX_DEPTH + 1
"""Deepest data: a scope that holds a body or arguments is one level deeper than they may be."""

_MAX_REWRITTEN_PARTS: Final = 20_000
_MAX_RESULT_DEPTH: Final = 190
_IN_REWRITING: Final = 400


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
    """Data that was made ready once for any number of rules."""

    def __init__(self, value: JsonValue, text: str | None = None) -> None:
        """Take JSON data.

        Args:
            value: The data.
            text: The same as JSON, from who has it at hand; None writes it.

        Raises:
            JsonEncodeError: The value has no JSON form or nests deeper than `MAX_DATA_DEPTH`.
        """
        written = exact_json.dumps(value, max_depth=MAX_DATA_DEPTH) if text is None else text
        self.value: Final = value
        self.inexact: Final[tuple[Path, ...]] = inexact_paths(value) if is_suspect(written) else ()
        try:
            self.handle: Final = datalogic_py.DataHandle(written)
        except datalogic_py.DataLogicError as exc:
            raise exact_json.JsonEncodeError("the data nests too deep for rules") from exc


class CompiledRule:
    """A rule that was checked once and judges any number of data; safe to share between tasks and threads.

    Attributes:
        rule: As written.
        paths: The paths that the rule reads; None when they are not all written out in it.
        roots: The members of the data that the verdict hangs on; None where it may be any.
        surely: For the engine: true if the rule passes whatever is missing.
        possibly: For the engine: false if it fails whatever is missing.
        is_exact: Whether nothing in the rule can be missing, so that both are one.
        plain: What judges most data at once without the engine; None where the rule is not of a plain form.
    """

    def __init__(self, rule: JsonValue, javascript_rule: JsonValue, bounds: missing.Bounds) -> None:
        self.rule: Final = rule
        self.paths: Final = missing.read_paths(javascript_rule)
        self._raw = _compiled(javascript_rule)
        self.surely: Final = _compiled({"!!": [bounds.surely]})
        self.is_exact: Final = bounds.is_exact
        self.possibly: Final = self.surely if bounds.is_exact else _compiled({"!!": [bounds.possibly]})
        self.plain: Final = plain.condition(javascript_rule)
        self._compared_paths = missing.compared_paths(javascript_rule)
        self._reads: Final = reading.reads(javascript_rule)
        self.roots: Final = reading.roots(self._reads)
        self._reads_for_result: Final = reading.reads([javascript_rule])

    @classmethod
    def compile(cls, rule: JsonValue) -> Self:
        """Check and compile a rule.

        Raises:
            RuleRefused: An unknown operator, by name; a form that is no JsonLogic; too deep or too large.
        """
        try:
            if _parts(rule, {}, MAX_RULE_DEPTH) > MAX_RULE_PARTS:
                raise RuleRefused("", f"the rule has more than {MAX_RULE_PARTS} parts")
            exact_json.dumps(rule)
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
        if self.reads_beyond_range(data):
            return OUT_OF_RANGE
        if data.inexact and self.plain is not None and isinstance(data.value, dict) and self.plain(data.value) is True:
            return PASSED
        meter().start()
        try:
            if self.surely.evaluate_data_str(data.handle) == "true":
                return PASSED
            if self.is_exact or self.possibly.evaluate_data_str(data.handle) == "false":
                return FAILED
        except datalogic_py.DataLogicError as exc:
            return failed_with(exc.error_type, str(exc), exc.operator)
        return self.hanging(data)

    def result(self, data: RuleData) -> JsonValue:
        """Return the raw result, which is that of json-logic-js.

        Raises:
            ArithmeticError: The evaluation failed, or a number that the rule reads is beyond the exact range.
        """
        if data.inexact and any(read.covers(path) for read in self._reads_for_result for path in data.inexact):
            raise ArithmeticError(BEYOND_RANGE)
        meter().start()
        try:
            return exact_json.loads(self._raw.evaluate_data_str(data.handle), max_depth=_MAX_RESULT_DEPTH)
        except datalogic_py.DataLogicError as exc:
            raise ArithmeticError(failed_with(exc.error_type, str(exc), exc.operator).cause) from exc

    def reads_beyond_range(self, data: RuleData) -> bool:
        """Tell whether the verdict would hang on a number that the engine does not read exactly.

        What a plain form surely passes does not hang on the engine at all, with or without other rules beside it.
        """
        if not data.inexact or not any(read.covers(path) for read in self._reads for path in data.inexact):
            return False
        return self.plain is None or not isinstance(data.value, dict) or self.plain(data.value) is not True

    def hanging(self, data: RuleData) -> RuleOutcome:
        """Return the outcome where neither a pass nor a failure is sure, with the operands that it hangs on."""
        missing_paths = tuple(path for path in self._compared_paths if _at(data.value, path) is None)
        return RuleOutcome(Verdict.INDETERMINATE, missing=missing_paths)

    def __repr__(self) -> str:
        return f"CompiledRule({self.rule!r})"


PASSED: Final = RuleOutcome(Verdict.PASS)
FAILED: Final = RuleOutcome(Verdict.FAIL)
OUT_OF_RANGE: Final = RuleOutcome(Verdict.ERROR, cause=BEYOND_RANGE)


def failed_with(kind: str, message: str, operator: str | None) -> RuleOutcome:
    """Return the outcome of an evaluation that failed; of the message only what `coercion.CAUSES` lists is kept."""
    said = next((cause for cause in coercion.CAUSES if kind == "Custom" and cause in message), kind)
    said = _KINDS.get(said, said)
    is_named = operator is not None and not operator.startswith(lowering.PREFIX)
    return RuleOutcome(Verdict.ERROR, cause=f"{said} in {operator!r}" if is_named else said)


_KINDS: Final = {"Thrown": coercion.NOT_A_NUMBER, "BudgetExceeded": "more operations than the budget (BudgetExceeded)"}


@cache
def meter() -> TextMeter:
    """Return the meter of the engine's custom operators; it counts for each thread."""
    return TextMeter()


@cache
def engine() -> datalogic_py.Engine:
    """Return the one engine: it is immutable, and the library says that it may be shared by threads."""
    return datalogic_py.Engine(
        families=["ExtControl"],  # for `type`; what a contract may name is checked before
        strict_operator_names=True,
        custom_operators={name: meter().metered(each) for name, each in coercion.CUSTOM_OPERATORS.items()},
        config={"ops_budget": OPERATION_BUDGET, "division_by_zero": "throw_error"},
    )


def _compiled(rule: JsonValue) -> datalogic_py.Rule:
    """Compile a rule in normal form.

    Raises:
        RuleRefused: It is too large; parts that the rewriting repeats count each time.
    """
    engine_rule = lowering.lowered(rule)
    if _parts(engine_rule, {}, _IN_REWRITING) > _MAX_REWRITTEN_PARTS:
        raise RuleRefused("", "the rule is too large once missing operands are taken into account")
    return engine().compile_checked(exact_json.dumps(engine_rule, max_depth=_IN_REWRITING))


def _parts(rule: JsonValue, counted: dict[int, int], depth_left: int) -> int:
    """Return how many parts the rule has when it is written out; a part that is shared is looked at once.

    Raises:
        RuleRefused: It nests deeper.
    """
    if not isinstance(rule, dict | list):
        return 1
    if depth_left <= 0:
        raise RuleRefused("", "the nesting is deeper than the limit")
    if id(rule) not in counted:
        inner = rule.values() if isinstance(rule, dict) else rule
        counted[id(rule)] = 1 + sum(_parts(part, counted, depth_left - 1) for part in inner)
    return counted[id(rule)]


def _at(value: JsonValue, path: str) -> JsonValue:
    for token in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(token)
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return None
    return value
