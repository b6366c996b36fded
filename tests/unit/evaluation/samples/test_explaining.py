"""An explanation says what each rule read, each normaliser changed, and what the confidence is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.evaluation.samples.exchanges import Exchange
from taoloop.evaluation.samples.explaining import Explanation, explained, operands, path_read
from tests.unit.evaluation.samples.orders import GOOD, OBSERVE, observer, write

LIST = {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "object"}}}}


def explain(directory: Path, body: Any, status: int = 200, **changes: Any) -> Explanation:
    judge = observer(write(directory, **changes))
    exchange = Exchange(tool="get_order", arguments={"order_id": "A-1001"}, body=body, status_code=status)
    tool = judge.catalogue.compiled("get_order")
    return explained(tool, judge.request(exchange), judge.observe(exchange))


def test_rules_come_with_the_success_rule_first_and_with_what_they_read(tmp_path: Path) -> None:
    found = explain(tmp_path, {**GOOD, "fee": 11})
    assert [(rule.rule_id, rule.trace.verdict.value) for rule in found.rules] == [
        ("success_rule", "pass"),
        ("cheap", "fail"),
        ("shipped_has_eta", "pass"),
    ]
    assert [(path_read(node), node.value) for node in operands(found.rules[1].trace)] == [("body.fee", 11)]


def test_rules_that_were_not_come_to_are_left_out(tmp_path: Path) -> None:
    assert [rule.rule_id for rule in explain(tmp_path, {"state": 5}).rules] == ["success_rule"]
    assert explain(tmp_path, {}, 404).rules == ()


def test_a_normaliser_is_shown_before_and_after(tmp_path: Path) -> None:
    (found,) = explain(tmp_path, GOOD).normalisers
    assert (found.field, found.to, found.how, found.before, found.after) == (
        "/state",
        "/status",
        "enum",
        "S",
        "shipped",
    )


def test_a_refused_value_is_named_with_its_reason(tmp_path: Path) -> None:
    (found,) = explain(tmp_path, {**GOOD, "state": "LOST"}).normalisers
    assert (found.before, found.after) == ("LOST", ABSENT)
    assert found.refusal


def test_a_star_stands_for_every_place_that_the_body_has(tmp_path: Path) -> None:
    rule = {"field": "/items/*/state", "enum": {"S": "shipped", "D": "delivered"}}
    body = {"items": [{"state": "S"}, {}, {"state": "D"}]}
    found = explain(tmp_path, body, spec__response=LIST, spec__observe={"normalise": [rule]}).normalisers
    assert [(each.field, each.to, each.after) for each in found] == [
        ("/items/0/state", "/items/0/state", "shipped"),
        ("/items/2/state", "/items/2/state", "delivered"),
    ]


@pytest.mark.parametrize(
    ("rule", "how"),
    [
        ({"field": "/eta", "to": "/when"}, "moved"),
        ({"field": "/eta", "as": "datetime", "time_zone": "Asia/Shanghai"}, "as datetime (Asia/Shanghai)"),
        ({"field": "/eta", "as": "money", "currency": "CNY", "locale": "de"}, "as money (currency CNY, locale de)"),
    ],
)
def test_what_a_normaliser_does_is_said_in_the_words_of_the_contract(tmp_path: Path, rule: Any, how: str) -> None:
    body = {"state": "S", "eta": "2026-03-10 08:00" if "money" not in how else "1,50"}
    found = explain(tmp_path, body, spec__observe={"normalise": [rule]}).normalisers
    assert [each.how for each in found] == [how]


def test_hits_that_do_not_count_are_gone_before_the_normalisers_see_the_body(tmp_path: Path) -> None:
    observe = {
        "min_score": {"field": "/items/*/score", "min": 0.6, "take": "all"},
        "normalise": [{"field": "/items/*/state", "enum": {"S": "shipped", "D": "delivered"}}],
    }
    body = {"items": [{"score": 0.1, "state": "S"}, {"score": 0.9, "state": "D"}]}
    found = explain(tmp_path, body, spec__response=LIST, spec__observe=observe)
    assert found.hits.startswith("/items/*/score at least 0.6, all: ")
    assert [(each.field, each.before, each.after) for each in found.normalisers] == [
        ("/items/0/state", "D", "delivered")
    ]


def test_the_confidence_is_that_of_the_verdict_with_its_parts(tmp_path: Path) -> None:
    found = explain(tmp_path, {**GOOD, "fee": 11}, spec__observe=OBSERVE)
    total = sum(stage.score * stage.weight for stage in found.stages if stage.ran) * found.source_weight
    assert found.confidence == pytest.approx(total)
