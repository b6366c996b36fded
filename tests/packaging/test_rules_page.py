"""What docs/rules.md teaches is what rules do."""

import re
from typing import Any

import pytest

from taoloop.core import exact_json
from taoloop.tools.rules import OPERATION_BUDGET, CompiledRule, RuleData, TraceNode, TraceState, explain
from taoloop.tools.rules.compiled import MAX_RULE_DEPTH, MAX_RULE_PARTS
from taoloop.tools.rules.javascript import OPERATORS
from taoloop.tools.rules.metering import MAX_OPERAND_CHARACTERS
from tests.packaging import checkout

_PAGE = (checkout.ROOT / "docs" / "rules.md").read_text()


def _examples() -> list[Any]:
    found: list[Any] = []
    for block in re.findall(r"^```json\n(.*?)^```", _PAGE, re.MULTILINE | re.DOTALL):
        read = exact_json.loads(block)
        found += read if isinstance(read, list) else [read]
    return found


def _not_evaluated(node: TraceNode) -> list[str]:
    if node.state is TraceState.NOT_EVALUATED:
        return [node.pointer]
    return [pointer for operand in node.operands for pointer in _not_evaluated(operand)]


@pytest.mark.parametrize("example", _examples(), ids=lambda example: exact_json.dumps(example["rule"]))
def test_example_has_the_verdict_that_the_page_says(example: Any) -> None:
    rule, data = CompiledRule.compile(example["rule"]), RuleData(example["data"])
    outcome = rule.verdict(data)
    assert outcome.verdict.value == example["verdict"]
    assert outcome.cause == example.get("cause", outcome.cause)
    assert list(outcome.missing) == example.get("missing", list(outcome.missing))
    if "not_evaluated" in example:
        assert _not_evaluated(explain(rule, data).root) == example["not_evaluated"]


def test_the_table_names_every_operator_and_no_other() -> None:
    table = _PAGE.partition("## The operators")[2].partition("Any other operator")[0]
    first_cells = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    assert {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)} == OPERATORS


def test_the_table_of_and_and_or_is_that_of_the_rules() -> None:
    values: dict[str, Any] = {"true": True, "false": False, "unknown": {"<": [{"var": "absent"}, 1]}}
    words = {"pass": "true", "fail": "false", "indeterminate": "unknown"}
    rows = re.findall(r"^\| \*\*(\w+)\*\* `(\w+)` \| (\w+) \| (\w+) \| (\w+) \|$", _PAGE, re.MULTILINE)
    assert len(rows) == 6
    for left, operator, *cells in rows:
        for right, cell in zip(("true", "false", "unknown"), cells, strict=True):
            said = CompiledRule.compile({operator: [values[left], values[right]]}).verdict(RuleData({}))
            assert words[said.verdict.value] == cell, (left, operator, right)


def test_the_bounds_are_those_of_the_code() -> None:
    bounds = _PAGE.partition("## Bounds")[2].partition("## ")[0]
    assert f"| {OPERATION_BUDGET:,} |" in bounds
    assert f"| {MAX_RULE_DEPTH}, {MAX_RULE_PARTS:,} |" in bounds
    assert f"| {MAX_OPERAND_CHARACTERS // 1024**2} Mi characters |" in bounds
