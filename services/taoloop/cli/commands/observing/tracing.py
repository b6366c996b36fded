"""How a verdict came about, as lines for a person and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from rich.text import Text

from taoloop.cli.records import record_json
from taoloop.cli.run_view import value_words
from taoloop.cli.terminal import styled
from taoloop.core.exact_json import ABSENT, Json, JsonValue, dumps
from taoloop.evaluation.samples.explaining import ExplainedNormaliser, ExplainedRule, Explanation, operands, path_read
from taoloop.plan.observing import ObservationResult
from taoloop.tools.rules import Verdict
from taoloop.tools.rules.explaining import TraceNode, TraceState

_STYLES: Final = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.INDETERMINATE: "yellow", Verdict.ERROR: "red"}


def explanation_json(explanation: Explanation) -> dict[str, JsonValue]:
    """Return everything that an explanation says."""
    return record_json(explanation)


def operand_lines(rule: ExplainedRule) -> Iterator[Text]:
    """Yield a rule as written and each value of the data that it read."""
    yield styled(f"      {dumps(rule.written)}")
    for node in operands(rule.trace):
        yield styled(f"      {_read_words(node)} is {_value(node)}", "bold")


def explanation_lines(explanation: Explanation, verdict: ObservationResult) -> Iterator[Text]:
    """Yield normalisers, rules and the confidence, step by step."""
    if explanation.hits:
        yield styled("hits", "bold")
        yield styled(f"  {explanation.hits}")
    if explanation.normalisers or explanation.pick is not None:
        yield styled("normalisers", "bold")
        yield from map(_normaliser_line, explanation.normalisers)
        if explanation.pick is not None:
            yield styled(f"  else only these stay: {', '.join(explanation.pick) or 'nothing'}")
    if explanation.rules:
        yield styled("rules", "bold")
        for rule in explanation.rules:
            yield from _rule_lines(rule)
    yield styled("confidence", "bold")
    yield from _confidence_lines(explanation, verdict)


def _normaliser_line(normaliser: ExplainedNormaliser) -> Text:
    place = normaliser.field if normaliser.to == normaliser.field else f"{normaliser.field} → {normaliser.to}"
    before = _shown(normaliser.before)
    if normaliser.refusal:
        return styled(f"  {place}, {normaliser.how}: {before} refused: {normaliser.refusal}", "red")
    return styled(f"  {place}, {normaliser.how}: {before} → {_shown(normaliser.after)}")


def _rule_lines(rule: ExplainedRule) -> Iterator[Text]:
    trace = rule.trace
    head = Text.assemble("  ", (f"{trace.verdict.value:<13}", _STYLES[trace.verdict]), f" {rule.rule_id}")
    because = trace.cause or ", ".join(trace.missing)
    head.append(f" ({rule.severity})" + (f": {because}" if because else ""))
    yield head
    yield from _node_lines(trace.root, "    ")


def _node_lines(node: TraceNode, indent: str) -> Iterator[Text]:
    item = "" if node.item is None else f"[{node.item}] "
    if node.state is TraceState.NOT_EVALUATED:
        yield styled(f"{indent}{item}{node.written}  not evaluated", "dim")
        return
    if not node.operator:  # a constant is its own value
        yield styled(f"{indent}{item}{node.written}")
    elif not node.operands:
        yield styled(f"{indent}{item}{_read_words(node)} → {_value(node)}")
    else:
        yield styled(f"{indent}{item}{node.operator} → {_value(node)}")
    if node.operator or any(operand.operator for operand in node.operands):
        for operand in node.operands:
            yield from _node_lines(operand, indent + "  ")


def _confidence_lines(explanation: Explanation, verdict: ObservationResult) -> Iterator[Text]:
    """Yield the stages with their weights, and the product that the confidence is."""
    terms = []
    for stage in explanation.stages:
        if not stage.ran:
            yield styled(f"  {stage.name:<12} did not run", "dim")
            continue
        detail = f"  {stage.detail}" if stage.detail else ""
        yield styled(f"  {stage.name:<12} score {_number(stage.score)}, weight {_number(stage.weight)}{detail}")
        terms.append(f"{_number(stage.score)} × {_number(stage.weight)}")
    source = f"  {verdict.source_detail}" if verdict.source_detail else ""
    yield styled(f"  {'source':<12} weight {_number(explanation.source_weight)}{source}")
    total = f"{explanation.confidence:.4f}".rstrip("0").rstrip(".")
    hard = next((stage for stage in explanation.stages if stage.name == "hard" and stage.ran), None)
    if hard is not None and hard.score < 1:
        yield styled(f"  {total}: a hard check failed, and then nothing else counts", "bold")
    elif terms:
        yield styled(f"  ({' + '.join(terms)}) × {_number(explanation.source_weight)} = {total}", "bold")


def _read_words(node: TraceNode) -> str:
    return path_read(node) or "everything"


def _value(node: TraceNode) -> str:
    if node.state is TraceState.ERROR:
        return f"error: {node.cause}"
    if node.state is TraceState.UNKNOWN:
        return "unknown"
    if node.state is TraceState.MISSING:
        return "missing"
    return _shown(node.value)


def _shown(value: Json) -> str:
    return "nothing" if value is ABSENT else value_words(value)


def _number(value: float) -> str:
    return f"{Decimal(repr(value)):.3f}".rstrip("0").rstrip(".")
