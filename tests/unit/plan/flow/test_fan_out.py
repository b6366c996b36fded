"""Steps that run once per item: what their arguments point at, and what of them is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.plan.flow.fan_out import at_item, item_step_id, planned_step_id, with_first_items
from taoloop.plan.form.json_form import plan_from_json
from taoloop.plan.model import Literal, PlanStep, StepOutput, Template
from taoloop.plan.rules.structure import MAX_STEP_ID
from taoloop.plan.task import TaintedEffects
from taoloop.plan.thinking import CompletedStep
from taoloop.tools.signature import Trust
from tests.unit.plan.checking import ALL, faults, step

LINES = {"items": "a/lines", "max_items": 3}


def planned(args: Any, for_each: Any = None) -> PlanStep:
    return plan_from_json({"steps": [step("b", "get", args, ["a"], for_each=for_each or LINES)]}).steps[0]


def test_the_step_for_an_item_points_into_the_list() -> None:
    one = at_item(planned({"id": {"$item": "/sku"}, "filter": {"a": {"$item": ""}}, "own": {"$ref": "a/id"}}), 2)
    assert one.step_id == "b#2"
    assert one.for_each is None
    assert {binding.pointer: binding.source for binding in one.bindings} == {
        "/id": StepOutput(step_id="a", pointer="/lines/2/sku"),
        "/filter/a": StepOutput(step_id="a", pointer="/lines/2"),
        "/own": StepOutput(step_id="a", pointer="/id"),
    }


def test_items_within_templates_point_into_the_list_and_texts_stay() -> None:
    (binding,) = at_item(planned({"id": {"$template": ["no. ", {"$item": "/sku"}]}}), 1).bindings
    assert isinstance(binding.source, Template)
    assert [part.source for part in binding.source.parts] == [
        Literal(text="no. "),
        StepOutput(step_id="a", pointer="/lines/1/sku"),
    ]


def test_ids_of_items_lead_back_to_the_planned_step_and_no_planned_id_looks_like_one() -> None:
    assert planned_step_id(item_step_id("2.t1", 17)) == "2.t1"
    assert planned_step_id("2.t1") == ""
    assert ("INVALID_STEP_ID", "/steps/0/id") in faults(step("a#0", "find"))
    assert len(item_step_id("x" * MAX_STEP_ID, 999)) <= 128


def test_a_plan_without_fan_out_stays_the_very_same() -> None:
    plan = plan_from_json({"steps": [step("a", "find")]})
    assert with_first_items(plan) is plan


def test_a_plan_may_run_a_step_for_each_item() -> None:
    assert faults(step("a", "find"), step("b", "get", {"id": {"$item": "/sku"}}, ["a"], for_each=LINES)) == []
    texts = {"items": "a/tags", "max_items": 0}
    assert faults(step("a", "find"), step("b", "get", {"id": {"$item": ""}}, ["a"], for_each=texts)) == []


@pytest.mark.parametrize(
    ("args", "for_each", "found"),
    [
        ({"id": {"$item": "/name"}}, LINES, ("UNKNOWN_REFERENCE", "/steps/1/args/id")),
        ({"id": {"$item": ""}}, LINES, ("TYPE_MISMATCH", "/steps/1/args/id")),
        ({"id": "abc"}, {"items": "a/id", "max_items": 3}, ("TYPE_MISMATCH", "/steps/1/for_each/items")),
        ({"id": "abc"}, {"items": "a/nothing", "max_items": 3}, ("UNKNOWN_REFERENCE", "/steps/1/for_each/items")),
        ({"id": "abc"}, {"items": "z/lines", "max_items": 3}, ("UNKNOWN_REFERENCE", "/steps/1/for_each/items")),
        ({"id": "abc"}, {"max_items": 3}, ("INVALID_PLAN", "/steps/1/for_each/items")),
        ({"id": "abc"}, {"items": "a/lines", "max_items": 5000}, ("INVALID_PLAN", "/steps/1/for_each/max_items")),
    ],
)
def test_the_list_and_what_its_items_feed_are_checked(args: Any, for_each: Any, found: tuple[str, str]) -> None:
    assert found in faults(step("a", "find"), step("b", "get", args, ["a"], for_each=for_each))


def test_a_list_is_of_a_step_that_is_waited_for() -> None:
    found = faults(step("a", "find"), step("b", "get", {"id": {"$item": "/sku"}}, for_each=LINES))
    assert ("UNDECLARED_DEPENDENCY", "/steps/1/for_each/items") in found
    assert ("UNDECLARED_DEPENDENCY", "/steps/1/args/id") in found


def test_only_a_step_that_fans_out_has_items() -> None:
    found = faults(step("a", "find"), step("b", "get", {"id": {"$item": "/sku"}}, ["a"]))
    assert found == [("UNKNOWN_REFERENCE", "/steps/1/args/id")]


def test_what_runs_per_item_brings_a_list_of_results() -> None:
    fan_out = step("b", "get", {"id": {"$item": "/sku"}}, ["a"], for_each=LINES)
    first = step("c", "find", {"text": {"$ref": "b/0/status"}}, ["b"])
    again = step("c", "find", {"text": {"$item": "/status"}}, ["b"], for_each={"items": "b", "max_items": 3})
    wrong = step("c", "find", {"text": {"$ref": "b/status"}}, ["b"])
    assert faults(step("a", "find"), fan_out, first) == []
    assert faults(step("a", "find"), fan_out, again) == []
    assert faults(step("a", "find"), fan_out, wrong) == [("UNKNOWN_REFERENCE", "/steps/2/args/text")]


def test_a_completed_step_that_ran_per_item_brings_a_list_too() -> None:
    done = CompletedStep(step_id="1.b", tool="get", trust=Trust.TRUSTED, is_gathered=True)
    args = {"text": {"$ref": {"step": "1.b", "pointer": "/0/status"}}}
    assert faults(step("2.a", "find", args), completed=(done,)) == []
    whole = replace(done, is_gathered=False)
    assert faults(step("2.a", "find", args), completed=(whole,)) == [("UNKNOWN_REFERENCE", "/steps/0/args/text")]


def test_a_list_of_untrusted_text_decides_over_no_write_where_that_is_refused() -> None:
    web = step("a", "web")
    find = step("b", "find", {"text": {"$ref": "a/page"}}, ["a"])
    pay = step("c", "pay", {"id": "x"}, ["b"], for_each={"items": "b/tags", "max_items": 2})
    refusing = replace(ALL, tainted_effects=TaintedEffects.REFUSE)
    assert faults(web, find, pay, permissions=refusing) == [("TAINTED_SOURCE", "/steps/2")]
    assert faults(web, find, pay, permissions=ALL) == []


def test_an_item_keeps_to_the_step_that_its_words_come_from() -> None:
    web_like = step("b", "pay", {"id": "x", "text": {"$item": ""}}, ["a"], for_each={"items": "a/tags", "max_items": 2})
    fed = step("a", "find", {"text": {"$ref": "w/page"}}, ["w"])
    refusing = replace(ALL, tainted_effects=TaintedEffects.REFUSE)
    found = faults(step("w", "web"), fed, web_like, permissions=refusing)
    assert ("TAINTED_SOURCE", "/steps/2/args/text") in found
