"""How a verdict came about: each rule with its evaluated operands, each normaliser before and after, the confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonEncodeError, JsonValue, dumps
from taoloop.observation.stages.relevance import RelevanceCheck
from taoloop.plan.observing import ObservationResult, ObserveRequest, StageScore
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import NormaliseRule
from taoloop.tools.rules import CompiledRule, RuleData
from taoloop.tools.rules.explaining import RuleTrace, TraceNode, explain

MAX_PLACES: Final = 20
"""Most places of one normaliser with a star that are shown."""

_READERS: Final = frozenset({"var", "val", "missing", "missing_some", "exists"})

RULE_STAGES: Final = frozenset({"success", "rule"})
"""Stages of a verdict whose failures are of rules, and whose ids are those of rules."""

SUCCESS_RULE: Final = "success_rule"
"""The id of the contract's success rule, as the verdict names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedRule:
    """One rule that was evaluated.

    Attributes:
        rule_id: The contract's id of it.
        severity: hard or soft.
        written: The rule as the contract has it.
        trace: What each part of it evaluated to.
    """

    rule_id: str
    severity: str
    written: JsonValue
    trace: RuleTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedNormaliser:
    """One place that a normaliser changed, moved or refused.

    Attributes:
        field: Pointer into the body.
        to: Pointer into the data.
        how: What was done, such as `enum, as datetime (Asia/Shanghai)`.
        before: What the tool answered.
        after: What became of it; absent where there is no data.
        refusal: Why it was refused; empty when it was not.
    """

    field: str
    to: str
    how: str
    before: Json
    after: Json
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What led to a verdict.

    Attributes:
        rules: The success rule first, then the others in the contract's order; only those that were evaluated.
        hits: How the hits of a search were chosen; empty where the contract has no `min_score`, or it did not run.
        normalisers: In the contract's order; a place that the body does not have is left out.
        pick: What of the body stays besides what is normalised; None for all of it.
        stages: The parts of the confidence.
        source_weight: How much the source counts, 0 to 1.
        confidence: Their product, 0 to 1.
    """

    rules: tuple[ExplainedRule, ...]
    hits: str = ""
    normalisers: tuple[ExplainedNormaliser, ...]
    pick: tuple[str, ...] | None = None
    stages: tuple[StageScore, ...]
    source_weight: float
    confidence: float


def explained_rules(
    tool: CompiledTool, request: ObserveRequest, verdict: ObservationResult
) -> dict[str, ExplainedRule]:
    """Return the rules that were evaluated, by their id."""
    return {rule.rule_id: rule for rule in _rules(tool, request, verdict)}


def explained(tool: CompiledTool, request: ObserveRequest, verdict: ObservationResult) -> Explanation:
    """Return how the verdict on a request came about; it takes milliseconds and is for people.

    Args:
        tool: By whose contract it was judged.
        request: What was judged.
        verdict: What came of it.
    """
    body, hits = _relevant(tool, request)
    return Explanation(
        rules=tuple(_rules(tool, request, verdict)),
        hits=hits,
        normalisers=tuple(_normalisers(tool, body, verdict)),
        pick=tool.contract.observe.pick,
        stages=verdict.stages,
        source_weight=verdict.source_weight,
        confidence=verdict.confidence,
    )


def operands(trace: RuleTrace) -> tuple[TraceNode, ...]:
    """Return the parts of a rule that read the data, each place once."""
    read: dict[str, TraceNode] = {}
    for node in _walk(trace.root):
        if node.operator in _READERS and node.item is None:
            read.setdefault(node.written, node)
    return tuple(read.values())


def path_read(node: TraceNode) -> str:
    """Return the path that a part of a rule reads, such as `data.amount`; empty for everything."""
    return node.written.removeprefix(f'{{"{node.operator}":').removesuffix("}").strip('"[]')


def _walk(node: TraceNode) -> Iterator[TraceNode]:
    yield node
    for operand in node.operands:
        yield from _walk(operand)


def _rules(tool: CompiledTool, request: ObserveRequest, verdict: ObservationResult) -> Iterator[ExplainedRule]:
    result = request.result
    if result is None or isinstance(result.parsed, Absent) or result.fault is not None:
        return
    arguments = None if isinstance(request.arguments, Absent) else request.arguments
    scope: dict[str, JsonValue] = {
        "status_code": result.status_code,
        "response_time_seconds": result.response_time_seconds,
        "body": result.parsed,
        "arguments": arguments,
    }
    if tool.success is not None:
        yield from _evaluated(SUCCESS_RULE, "hard", tool.success, scope)
    if isinstance(verdict.data, Absent):
        return  # the rules run on data alone
    expect = None if isinstance(request.expect, Absent) else request.expect
    for rule, compiled in tool.rules:
        yield from _evaluated(rule.id, rule.severity.value, compiled, {**scope, "data": verdict.data, "expect": expect})


def _evaluated(rule_id: str, severity: str, rule: CompiledRule, scope: dict[str, JsonValue]) -> Iterator[ExplainedRule]:
    try:
        data = RuleData(scope)
    except JsonEncodeError:  # nests deeper than rules may read; the verdict says so
        return
    yield ExplainedRule(rule_id=rule_id, severity=severity, written=rule.rule, trace=explain(rule, data))


def _relevant(tool: CompiledTool, request: ObserveRequest) -> tuple[Json, str]:
    """Return the body as the normalisers get it, and how the hits of a search were chosen."""
    body: Json = ABSENT if request.result is None else request.result.parsed
    min_score = tool.contract.observe.min_score
    if min_score is None or isinstance(body, Absent) or body is None:
        return body, ""
    relevant = RelevanceCheck.compile(min_score).check(body)
    note = relevant.note or "; ".join(found.failure.message for found in relevant.outcome.flaws)
    return relevant.body, f"{min_score.field} at least {min_score.min}, {min_score.take.value}: {note or 'all count'}"


def _normalisers(tool: CompiledTool, body: Json, verdict: ObservationResult) -> Iterator[ExplainedNormaliser]:
    if isinstance(body, Absent):
        return
    ran = "normalised" in verdict.audit_trail
    refused = {failure.pointer: failure.message for failure in verdict.failures if failure.stage == "normalise"}
    if not ran and not refused:
        return
    for rule in tool.contract.observe.normalise:
        for count, (field, stars) in enumerate(_places(body, pointers.parse(rule.field))):
            if count == MAX_PLACES:
                break
            to = _filled(rule.to, stars)
            yield ExplainedNormaliser(
                field=field,
                to=to,
                how=how(rule),
                before=pointers.find(body, field),
                after=pointers.find(verdict.data, to),
                refusal=refused.get(field, ""),
            )


def how(rule: NormaliseRule) -> str:
    """Return what a normaliser does, in words of the contract."""
    done = []
    if rule.enum is not None:
        done.append("enum")
    if rule.vocabulary is not None:
        done.append("vocabulary")
    if rule.convert is not None:
        options = [rule.time_zone, *(f"{name} {_word(value)}" for name, value in rule.conversion_options.items())]
        stated = ", ".join(option for option in options if option)
        done.append(f"as {rule.convert.value}" + (f" ({stated})" if stated else ""))
    if rule.plugin:
        done.append(f"plugin {rule.plugin}")
    return ", ".join(done) or ("moved" if rule.to != rule.field else "kept")


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else dumps(value)


def _places(value: JsonValue, tokens: tuple[str, ...], at: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the pointers that a field with stars stands for, each with what its stars stand for."""
    if not tokens:
        yield at, ()
        return
    first, rest = tokens[0], tokens[1:]
    members: list[str] = []
    if isinstance(value, dict):
        members = list(value) if first == "*" and "*" not in value else [first] if first in value else []
    elif isinstance(value, list):
        is_index = first.isascii() and first.isdecimal() and len(first) < 10 and int(first) < len(value)
        members = [str(index) for index in range(len(value))] if first == "*" else [first] if is_index else []
    for member in members:
        inner = value[int(member)] if isinstance(value, list) else value[member] if isinstance(value, dict) else None
        for pointer, stars in _places(inner, rest, at + pointers.join(member)):
            yield pointer, ((member, *stars) if first == "*" else stars)


def _filled(pointer: str, stars: tuple[str, ...]) -> str:
    left = iter(stars)
    return pointers.join(*(next(left, part) if part == "*" else part for part in pointers.parse(pointer)))
