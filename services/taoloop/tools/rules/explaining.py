"""What a rule made of its data, step by step: every operand with its value, and what was not come to.

Every value is the engine's: a part of a rule is a rule, so each part is compiled and evaluated alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.redaction import redact_text
from taoloop.tools.rules import coercion
from taoloop.tools.rules.compiled import CompiledRule, RuleData, RuleOutcome, Verdict
from taoloop.tools.rules.javascript import SCOPED

MAX_VALUE_CHARACTERS: Final = 120
"""Longest value that a trace shows; more is cut and marked."""

MAX_ITEMS: Final = 5
"""Most items of a loop that a trace shows; the one that decided is among them."""

MAX_ITEMS_TRIED: Final = 10_000
"""Most items that are tried to find the one that decided."""

MAX_STEPS: Final = 2_000
"""Most parts of a rule that one trace evaluates; the rest is not evaluated."""


class TraceState(StrEnum):
    """How far a part of a rule got."""

    EVALUATED = "evaluated"
    MISSING = "missing"
    """A `var` that found nothing, or null."""

    UNKNOWN = "unknown"
    """The value hangs on a comparison or computation with a missing or null operand."""

    ERROR = "error"
    NOT_EVALUATED = "not_evaluated"
    """An operand before decided, or failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceNode:
    """One part of a rule.

    Attributes:
        pointer: Where in the rule as written; the body of a loop has one pointer for all items.
        operator: The operator; empty for a constant or a list.
        written: The part as JSON text, cut.
        state: How far it got.
        value: The engine's result, free of secrets that a pattern knows and cut; `ABSENT` unless the state is
            EVALUATED or MISSING.
        cause: What failed; only for ERROR.
        path: What a `var` reads whose path is written out, such as `data.total`; None for all else.
        item: Index of the item that it was evaluated with; None outside the body of a loop.
        operands: Its operands in order; in a loop the items come after the list, at most `MAX_ITEMS`. Empty for a
            `var` whose path is written out.
    """

    pointer: str
    operator: str
    written: str
    state: TraceState
    value: Json = ABSENT
    cause: str = ""
    path: str | None = None
    item: int | None = None
    operands: tuple[TraceNode, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTrace:
    """One rule over one data.

    Attributes:
        verdict: What `CompiledRule.verdict` says.
        missing: The compared paths that are missing or null; only for INDETERMINATE.
        cause: What failed, without data; only for ERROR.
        root: The whole rule.
    """

    verdict: Verdict
    missing: tuple[str, ...]
    cause: str
    root: TraceNode


def explain(rule: CompiledRule, data: RuleData, *, mask: Callable[[str], str] = redact_text) -> RuleTrace:
    """Return what each part of the rule evaluates to; never raises.

    The result is for people: it compiles every part anew, which takes milliseconds.

    Args:
        rule: The rule.
        data: The data.
        mask: Takes out of a text, or of the JSON text of a value, what nobody may see.
    """
    outcome = rule.verdict(data)
    root = _Walk(mask).step(_Part(rule.rule, ""), data).node
    return RuleTrace(verdict=outcome.verdict, missing=outcome.missing, cause=outcome.cause, root=root)


@dataclass(frozen=True, slots=True)
class _Step:
    """A traced part, and how it decides where a condition is wanted."""

    node: TraceNode
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a rule as written, with its place."""

    rule: JsonValue
    pointer: str

    @property
    def operator(self) -> str:
        return next(iter(self.rule)) if isinstance(self.rule, dict) else ""

    @property
    def operands(self) -> list[_Part]:
        if isinstance(self.rule, list):
            return [_Part(item, f"{self.pointer}/{index}") for index, item in enumerate(self.rule)]
        if not isinstance(self.rule, dict):
            return []
        ((operator, written),) = self.rule.items()
        here = f"{self.pointer}/{operator.replace('~', '~0').replace('/', '~1')}"
        if not isinstance(written, list):
            return [_Part(written, here)]
        return [_Part(operand, f"{here}/{index}") for index, operand in enumerate(written)]


class _Walk:
    """One walk over one rule, bounded by the number of parts that it evaluates."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        self._mask = mask
        self._steps_left = MAX_STEPS

    def step(self, part: _Part, data: RuleData, item: int | None = None) -> _Step:
        if self._steps_left <= 0:
            return self._skipped(part, item)
        self._steps_left -= 1
        outcome = CompiledRule.compile(part.rule).verdict(data)
        node = TraceNode(
            pointer=part.pointer,
            operator=part.operator,
            written=self._text(part.rule),
            state=TraceState.EVALUATED,
            path=_path(part),
            item=item,
            operands=tuple(step.node for step in self._operands(part, data)),
        )
        return _Step(self._with_result(node, part, data, outcome), outcome.verdict)

    def _operands(self, part: _Part, data: RuleData) -> Sequence[_Step]:
        operator, operands = part.operator, part.operands
        if operator in SCOPED:
            return self._loop(operator, operands, data)
        if operator in {"if", "?:"}:
            return self._branches(operands, data)
        if operator == "and":
            return self._until(Verdict.FAIL, operands, data)
        if operator == "or":
            return self._until(Verdict.PASS, operands, data)
        if operator in _READING:
            operands = [operand for operand in operands if _computes(operand.rule)]
        elif not _computes(part.rule) and not operator:
            return ()
        return self._until(None, operands, data)

    def _until(self, deciding: Verdict | None, parts: Iterable[_Part], data: RuleData) -> list[_Step]:
        """Evaluate parts in order up to one that decides or fails; the others are not come to."""
        steps: list[_Step] = []
        is_over = False
        for part in parts:
            step = self._skipped(part) if is_over else self.step(part, data)
            is_over = is_over or step.verdict in {deciding, Verdict.ERROR}
            steps.append(step)
        return steps

    def _branches(self, parts: Sequence[_Part], data: RuleData) -> list[_Step]:
        """Evaluate conditions up to one that holds, and its result; an unknown or failed one ends it."""
        steps: list[_Step] = []
        is_over = False
        for index in range(0, len(parts), 2):
            condition = self._skipped(parts[index]) if is_over else self.step(parts[index], data)
            steps.append(condition)
            if index + 1 == len(parts):
                break
            holds = not is_over and condition.verdict is Verdict.PASS
            steps.append(self.step(parts[index + 1], data) if holds else self._skipped(parts[index + 1]))
            is_over = is_over or condition.verdict is not Verdict.FAIL
        return steps

    def _loop(self, operator: str, parts: Sequence[_Part], data: RuleData) -> list[_Step]:
        source, body, *initial = parts
        steps = [self.step(source, data), *(self.step(part, data) for part in initial)]
        if any(step.verdict is Verdict.ERROR for step in steps):
            return [*steps, self._skipped(body)]
        items = _value(source, data)
        if not isinstance(items, list) or not items:
            return [*steps, self._skipped(body)]
        if operator == "reduce":
            return [*steps, *self._reduction(items, body, _value(initial[0], data) if initial else None)]
        shown = _shown_items(operator, items, CompiledRule.compile(body.rule))
        return [*steps, *(self._item(body, items[index], index) for index in shown)]

    def _item(self, body: _Part, value: JsonValue, index: int) -> _Step:
        data = _data(value)
        return self._skipped(body, index) if data is None else self.step(body, data, index)

    def _reduction(self, items: list[JsonValue], body: _Part, accumulator: JsonValue) -> list[_Step]:
        steps: list[_Step] = []
        for index, item in enumerate(items[:MAX_ITEMS]):
            step = self._item(body, {"current": item, "accumulator": accumulator}, index)
            steps.append(step)
            data = _data({"current": item, "accumulator": accumulator})
            if data is None or step.verdict is Verdict.ERROR:
                break
            accumulator = _value(body, data)
        return steps

    def _with_result(self, node: TraceNode, part: _Part, data: RuleData, outcome: RuleOutcome) -> TraceNode:
        if outcome.verdict is Verdict.ERROR:
            return replace(node, state=TraceState.ERROR, cause=outcome.cause)
        if outcome.verdict is Verdict.INDETERMINATE:
            return replace(node, state=TraceState.UNKNOWN)
        value = _value(part, data, outcome.verdict is Verdict.PASS)
        is_missing = value is None and node.operator == "var"
        return replace(node, state=TraceState.MISSING if is_missing else TraceState.EVALUATED, value=self._shown(value))

    def _skipped(self, part: _Part, item: int | None = None) -> _Step:
        node = TraceNode(
            pointer=part.pointer,
            operator=part.operator,
            written=self._text(part.rule),
            state=TraceState.NOT_EVALUATED,
            path=_path(part),
            item=item,
        )
        return _Step(node, Verdict.INDETERMINATE)

    def _shown(self, value: JsonValue) -> JsonValue:
        """Return the value if it is short and holds no secret, else the start of its redacted text."""
        if isinstance(value, str):
            return _cut(self._mask(value))
        text = exact_json.dumps(value, max_depth=_ANY_DEPTH)
        masked = self._mask(text)
        return value if masked == text and len(text) <= MAX_VALUE_CHARACTERS else _cut(masked)

    def _text(self, rule: JsonValue) -> str:
        return _cut(self._mask(exact_json.dumps(rule)))


def _shown_items(operator: str, items: list[JsonValue], body: CompiledRule) -> list[int]:
    """Return the items to show: the first ones, and the one that decided, after which none is come to."""
    ends = {_DECIDING.get(operator), Verdict.ERROR}
    made = enumerate(map(_data, items[:MAX_ITEMS_TRIED]))
    decided = (at for at, data in made if data is not None and body.verdict(data).verdict in ends)
    last = next(decided, len(items) - 1)
    return list(range(last + 1)) if last < MAX_ITEMS else [*range(MAX_ITEMS - 1), last]


_DECIDING: Final = {"all": Verdict.FAIL, "some": Verdict.PASS, "none": Verdict.PASS}


def _value(part: _Part, data: RuleData, otherwise: JsonValue = None) -> JsonValue:
    """Return what a part evaluates to; what is read by a path that is written out is the data itself, and exact."""
    path = _path(part)
    found, is_there = (None, False) if path is None else coercion.lookup(data.value, path)
    if is_there:
        return found
    try:
        return CompiledRule.compile(part.rule).result(data)
    except ArithmeticError:  # a part that the verdict did not need
        return otherwise


def _data(value: JsonValue) -> RuleData | None:
    """Return the data of a loop's body; None where the rule built it up deeper than data may be."""
    try:
        return RuleData(value)
    except exact_json.JsonEncodeError:
        return None


_READING: Final = frozenset({"var", "missing", "missing_some"})


def _path(part: _Part) -> str | None:
    if part.operator != "var":
        return None
    path = part.operands[0].rule if part.operands else ""
    return None if isinstance(path, list | dict) else coercion.path_text(path)


def _computes(rule: JsonValue) -> bool:
    return isinstance(rule, dict) or (isinstance(rule, list) and any(map(_computes, rule)))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[: MAX_VALUE_CHARACTERS - 1] + "…"


_ANY_DEPTH: Final = 2_000
