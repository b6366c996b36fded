"""Answers made by code: what is said, in which language, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from taoloop.core.exact_json import loads
from taoloop.core.faults import Fault, FaultCode
from taoloop.loop.answering.facts import MAX_FACTS, compose
from taoloop.loop.answering.findings import findings_of
from taoloop.loop.answering.wording import words_of
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.acting import ToolSummary
from taoloop.plan.running import CorrectionMade
from taoloop.plan.thinking import Answer, AnswerOrigin
from taoloop.tools.signature import Effect
from tests.unit.loop.answering.results import LOW, failed, known, record, tool

TRACK = tool(
    "track", {"zh": "订单 {arguments.order_id} {data.status}", "en": "Order {arguments.order_id}: {data.status}"}
)


def composed(
    *records: StepRecord,
    tools: Sequence[ToolSummary] = (),
    locale: str = "en",
    plan_steps: Sequence[str] = (),
    corrections: Sequence[CorrectionMade] = (),
    with_templates: bool = True,
) -> Answer:
    words = words_of([each.tool for each in records], known(*tools).by_name)
    return compose(findings_of(records, plan_steps, corrections), words, locale, with_templates=with_templates)


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

    answer = composed(found, tools=[TRACK], locale=locale)

    assert (answer.text, answer.origin) == (text, AnswerOrigin.TEMPLATE)


def test_an_amount_is_said_with_its_decimals_as_they_came() -> None:
    found = record("1.t1", "pay", loads('{"amount": 0.10}'))

    assert composed(found, tools=[tool("pay", {"en": "{data.amount}"})]).text == "0.10"


def test_a_template_that_names_a_field_which_is_not_there_gives_way_to_the_facts() -> None:
    found = record("1.t1", "track", {"other": 1}, {"order_id": "A1"})

    answer = composed(found, tools=[TRACK])

    assert (answer.text, answer.origin) == ("track: other: 1", AnswerOrigin.FACTS)


def test_facts_leave_templates_aside() -> None:
    found = record("1.t1", "track", {"status": "shipped"}, {"order_id": "A1"})

    assert composed(found, tools=[TRACK], with_templates=False).text == "track: status: shipped"


def test_only_steps_that_no_other_builds_on_are_spoken_of() -> None:
    first, second = record("1.t1", "find", {"id": 1}), record("1.t2", "track", {"at": "x"}, after=("1.t1",))

    answer = composed(first, second)

    assert answer.text == "track: at: x"
    assert answer.data == {"at": "x"}


def test_several_ends_are_spoken_of_line_by_line_and_keyed_by_step() -> None:
    answer = composed(record("1.t1", "a", {"n": 1}), record("1.t2", "b", {"n": 2}))

    assert answer.text.splitlines() == ["a: n: 1", "b: n: 2"]
    assert answer.data == {"1.t1": {"n": 1}, "1.t2": {"n": 2}}


def test_an_answer_that_templates_word_in_part_is_one_of_facts() -> None:
    by_template = record("1.t1", "track", {"status": "shipped"}, {"order_id": "A1"})
    answer = composed(by_template, record("1.t2", "b", {"n": 2}), tools=[TRACK])

    assert (answer.text.splitlines(), answer.origin) == (["Order A1: shipped", "b: n: 2"], AnswerOrigin.FACTS)


def test_what_an_earlier_plan_brought_is_spoken_of_beside_the_latest_one() -> None:
    records = record("1.t1", "a", {"n": 1}), failed("1.t2", "b"), record("2.t1", "c", {"n": 3})

    answer = composed(*records, plan_steps=["2.t1"])

    assert answer.text.splitlines() == ["a: n: 1", "c: n: 3"]


@pytest.mark.parametrize("is_left_out", [False, True])
def test_what_a_step_was_to_build_on_is_told_where_that_step_brought_nothing(is_left_out: bool) -> None:
    first, second = record("1.t1", "stock", {"left": 0}), failed("1.t2", "order", after=("1.t1",))
    if is_left_out:
        second.observation = None
        second.skipped = Fault(code=FaultCode.CONDITION_NOT_MET, stage="loop", message="false")

    answer = composed(first, second, plan_steps=["1.t1", "1.t2"])

    assert answer.text.splitlines()[0] == "stock: left: 0"
    assert len(answer.text.splitlines()) == 2


def test_a_step_towards_what_a_later_plan_found_in_another_way_is_not_told() -> None:
    records = (
        record("1.t1", "find", {"id": 1}),
        failed("1.t2", "track", after=("1.t1",)),
        record("2.t1", "ask", {"at": 2}),
    )

    assert composed(*records, plan_steps=["2.t1"]).text == "ask: at: 2"


def test_every_value_of_an_answer_says_where_it_comes_from() -> None:
    answer = composed(record("1.t1", "stock", {"items": [{"sku": "A", "left": 3}]}))

    assert [(part.text, part.pointer) for part in answer.grounding] == [("A", "/items/0/sku"), ("3", "/items/0/left")]
    assert answer.text == "stock: items 1 sku: A; items 1 left: 3"


def test_a_long_list_of_facts_is_cut_and_says_so() -> None:
    answer = composed(record("1.t1", "many", {str(number): number for number in range(MAX_FACTS + 5)}))

    assert answer.text.endswith("…")
    assert len(answer.grounding) == MAX_FACTS


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("zh-CN", "Where an order is：order status：shipped；tags：a、b"),
        ("en", "Where an order is: order status: shipped; tags: a, b"),
    ],
)
def test_facts_are_in_words_with_the_marks_of_the_language(locale: str, text: str) -> None:
    described = tool("get_order_status", description="Where an order is. Not for parcels.")
    found = record("1.t1", "get_order_status", {"order_status": "shipped", "note": None, "tags": ["a", "b"]})

    answer = composed(found, tools=[described], locale=locale)

    assert answer.text == text
    assert [part.pointer for part in answer.grounding] == ["/order_status", "/tags/0", "/tags/1"]


@pytest.mark.parametrize("exposed", [None, {}, [], {"orders": [], "next": None}])
@pytest.mark.parametrize(
    ("locale", "text"), [("zh", "订单列表：没有找到结果。"), ("en", "订单列表: nothing was found.")]
)
def test_a_result_of_nothing_is_said_in_words(exposed: object, locale: str, text: str) -> None:
    listing = tool("list_orders", {"zh": "订单：{data.orders}", "en": "Orders: {data.orders}"}, "订单列表。")

    assert composed(record("1.t1", "list_orders", exposed), tools=[listing], locale=locale).text == text  # type: ignore[arg-type]  # JSON


def test_a_write_that_says_nothing_is_done_and_not_missing() -> None:
    cancel = tool("cancel_order", description="Cancels an order", effect=Effect.WRITE)

    assert composed(record("1.t1", "cancel_order", None), tools=[cancel]).text == "Cancels an order: done."


@pytest.mark.parametrize(
    ("locale", "remark"),
    [("zh", "没有得到结果：Weather of one city。"), ("en", "No result could be had: Weather of one city.")],
)
def test_what_could_not_be_found_out_is_said_without_names_of_the_engine(locale: str, remark: str) -> None:
    weather = tool("get_weather_v2", description="Weather of one city.")
    records = record("1.t1", "a", {"n": 1}), failed("1.t2", "get_weather_v2")

    answer = composed(*records, tools=[weather], locale=locale, plan_steps=["1.t1", "1.t2"])

    assert answer.text.splitlines()[1] == remark
    assert answer.data == {"n": 1}


def test_a_step_that_was_skipped_for_anothers_failure_is_not_told_again() -> None:
    records = record("1.t1", "a", {"n": 1}), failed("1.t2", "b"), failed("1.t3", "c", cause="1.t2", after=("1.t2",))

    answer = composed(*records, plan_steps=["1.t1", "1.t2", "1.t3"])

    assert answer.text.splitlines()[1:] == ["No result could be had: b."]


def test_a_doubtful_result_is_told_as_one() -> None:
    records = record("1.t1", "a", {"n": 1}), record("1.t2", "b", {"n": 2}, level=LOW)

    assert composed(*records).text.splitlines()[2] == "This result is of low confidence, please check it: b."


@pytest.mark.parametrize(
    ("locale", "remark"),
    [
        ("en", "Two sources disagree on rate: 7.2 and 7.1. 7.2 is given, from the surer source."),
        ("zh", "两个来源的rate不一致：7.2 与 7.1。以可信度较高的 7.2 为准。"),
    ],
)
def test_where_two_sources_disagree_the_surer_one_is_given_and_the_difference_is_said(locale: str, remark: str) -> None:
    fault = Fault(
        code=FaultCode.SOURCES_DISAGREE,
        stage="loop",
        message="they disagree",
        actual={"/rate": {"rates": 7.1, "bank_rates": 7.2}},
    )
    made = CorrectionMade(fault=fault, reaction="prefer", step_id="1.t1", tool="rates")
    served, second = record("1.t1", "rates", {"rate": 7.2}), record("1.t1-second", "bank_rates", {"rate": 7.2})

    answer = composed(served, second, corrections=[made], locale=locale)

    assert answer.text.splitlines()[1:] == [remark]
    assert answer.data == {"rate": 7.2}


def test_two_tools_that_the_plan_itself_asks_are_both_told() -> None:
    assert len(composed(record("1.t1", "a", {"n": 1}), record("1.t2", "b", {"n": 1})).text.splitlines()) == 2


def test_the_items_of_a_list_have_their_say_in_their_step() -> None:
    records = (
        record("1.t1", "a", [{"n": 1}, {"n": 2}]),
        record("1.t1#0", "a", {"n": 1}),
        record("1.t1#1", "a", {"n": 2}),
    )

    assert composed(*records).text == "a: 1 n: 1; 2 n: 2"


@pytest.mark.parametrize(
    ("locale", "remark"),
    [
        ("zh", "条件不满足，未执行：Refunds an order。"),
        ("en", "Not done, since its condition does not hold: Refunds an order."),
    ],
)
def test_a_step_whose_condition_does_not_hold_is_told_as_left_out(locale: str, remark: str) -> None:
    fault = Fault(code=FaultCode.CONDITION_NOT_MET, stage="loop", message="false")
    left_out = StepRecord("1.t2", "refund", skipped=fault)
    refund = tool("refund", description="Refunds an order")

    answer = composed(record("1.t1", "a", {"n": 1}), left_out, tools=[refund], plan_steps=["1.t2"], locale=locale)

    assert answer.text.splitlines()[1:] == [remark]
    assert composed(left_out, tools=[refund], plan_steps=["1.t2"], locale=locale).text == remark


def test_of_one_call_that_was_made_again_the_later_result_counts() -> None:
    first, second = record("1.t1", "a", {"n": 1}, {"x": 1}), record("2.t1", "a", {"n": 2}, {"x": 1})

    assert composed(first, second).text == "a: n: 2"


def test_a_run_without_any_result_says_so() -> None:
    assert composed(locale="zh").text == "没有找到结果。"
