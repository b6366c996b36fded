"""Answers made by code: what is said, in which language, and what it rests on."""

from __future__ import annotations

import pytest

from taoloop.core.exact_json import JsonValue, loads
from taoloop.loop.answering.facts import MAX_FACTS, AnswerTemplates, compose
from taoloop.loop.state import StepRecord
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import ObservationResult

TEMPLATES = {
    "track": AnswerTemplates(
        {"zh": "订单 {arguments.order_id} {data.status}", "en": "Order {arguments.order_id}: {data.status}"}
    )
}


def record(
    step_id: str, tool: str, exposed: JsonValue, arguments: JsonValue = None, *, valid: bool = True
) -> StepRecord:
    observation = ObservationResult(step_id=step_id, tool=tool, valid=valid, data=exposed, exposed=exposed)
    return StepRecord(step_id, tool, arguments=arguments, observation=observation)


def plan_of(*records: StepRecord, depends_on: dict[str, tuple[str, ...]] | None = None) -> ThoughtPlan:
    needs = depends_on or {}
    steps = tuple(
        PlanStep(step_id=found.step_id, tool=found.tool, depends_on=needs.get(found.step_id, ())) for found in records
    )
    return ThoughtPlan(steps=steps)


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("zh-CN", "订单 12345678901234567 shipped"),
        ("en-GB", "Order 12345678901234567: shipped"),
        ("fr", "Order 12345678901234567: shipped"),
    ],
)
def test_a_template_is_filled_in_the_users_language_or_in_english(locale: str, text: str) -> None:
    found = record("1.t1", "track", {"status": "shipped"}, {"order_id": 12345678901234567})

    answer = compose(plan_of(found), {"1.t1": found}, TEMPLATES, locale)

    assert answer.text == text


def test_an_amount_is_said_with_its_decimals_as_they_came() -> None:
    found = record("1.t1", "pay", loads('{"amount": 0.10}'))

    answer = compose(plan_of(found), {"1.t1": found}, {"pay": AnswerTemplates({"en": "{data.amount}"})}, "en")

    assert answer.text == "0.10"


def test_a_template_that_names_a_field_which_is_not_there_gives_way_to_the_facts() -> None:
    found = record("1.t1", "track", {"other": 1}, {"order_id": "A1"})

    answer = compose(plan_of(found), {"1.t1": found}, TEMPLATES, "en")

    assert answer.text == "track: other: 1"


def test_only_steps_that_no_other_builds_on_are_spoken_of() -> None:
    first, second = record("1.t1", "find", {"id": 1}), record("1.t2", "track", {"at": "x"})
    plan = plan_of(first, second, depends_on={"1.t2": ("1.t1",)})

    answer = compose(plan, {"1.t1": first, "1.t2": second}, {}, "en")

    assert answer.text == "track: at: x"
    assert answer.data == {"at": "x"}


def test_several_ends_are_spoken_of_line_by_line_and_keyed_by_step() -> None:
    first, second = record("1.t1", "a", {"n": 1}), record("1.t2", "b", {"n": 2})

    answer = compose(plan_of(first, second), {"1.t1": first, "1.t2": second}, {}, "en")

    assert answer.text.splitlines() == ["a: n: 1", "b: n: 2"]
    assert answer.data == {"1.t1": {"n": 1}, "1.t2": {"n": 2}}


def test_every_value_of_an_answer_says_where_it_comes_from() -> None:
    found = record("1.t1", "stock", {"items": [{"sku": "A", "left": 3}]})

    answer = compose(plan_of(found), {"1.t1": found}, {}, "en")

    assert [(part.text, part.pointer) for part in answer.grounding] == [("A", "/items/0/sku"), ("3", "/items/0/left")]


def test_a_long_list_of_facts_is_cut_and_says_so() -> None:
    found = record("1.t1", "many", {str(number): number for number in range(MAX_FACTS + 5)})

    answer = compose(plan_of(found), {"1.t1": found}, {}, "en")

    assert answer.text.endswith("…")
    assert len(answer.grounding) == MAX_FACTS


def test_a_failed_step_is_not_spoken_of() -> None:
    good, bad = record("1.t1", "a", {"n": 1}), record("1.t2", "b", {"n": 2}, valid=False)

    answer = compose(plan_of(good, bad), {"1.t1": good, "1.t2": bad}, {}, "en")

    assert answer.text == "a: n: 1"
