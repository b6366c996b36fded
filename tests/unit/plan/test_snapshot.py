"""A step names entries of the plan's state snapshot, and a call carries them or it is about something else."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.plan.form.json_form import plan_from_json, plan_to_json
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.rules.snapshot import carries, day_range, snapshot_uses_are_true, used_entries
from taoloop.plan.task import Role, Turn
from tests.unit.plan.checking import TURNS, context, faults, step
from tests.unit.plan.test_json_form import example

APRIL = "2024-04-01~2024-04-30"


@pytest.mark.parametrize(
    ("arguments", "entry"),
    [
        ({"period": APRIL}, APRIL),
        ({"from": "2024-04-01", "to": "2024-04-30"}, APRIL),
        ({"from": "2024-04-01T00:00:00+08:00", "to": "2024-04-30T23:59:59+08:00"}, APRIL),
        ({"query": {"since": "20240401"}, "until": "2024/04/30"}, APRIL),
        ({"day": "2024-04-01"}, "2024-04-01~2024-04-01"),
        ({"day": "2024-04-01"}, "2024-04-01"),
        ({"ids": ["a", "b"]}, ["b", "a"]),
        ({"filter": {"a": 1, "b": 2}}, {"a": 1, "b": 2}),
        ({"n": 5}, 5),
        ({"ok": None}, None),
    ],
)
def test_an_entry_is_carried_by_its_value_in_any_of_its_forms(arguments: Any, entry: Any) -> None:
    assert carries(arguments, entry)


@pytest.mark.parametrize(
    ("arguments", "entry"),
    [
        ({"from": "2024-03-01", "to": "2024-03-31"}, APRIL),
        ({"from": "2024-04-01"}, APRIL),
        ({"from": "2024-04-01", "to": "2024-04-3"}, APRIL),
        ({"number": "2024-04-0100"}, "2024-04-01"),
        ({"n": "5"}, 5),
        ({"n": True}, 1),
        ({"ids": ["a"]}, ["a", "b"]),
        ({}, APRIL),
        (None, "x"),
    ],
)
def test_another_value_does_not_carry_an_entry(arguments: Any, entry: Any) -> None:
    assert not carries(arguments, entry)


def test_the_days_of_a_call_are_one_day_or_two_ends() -> None:
    assert day_range(["2024-04-30", "2024-04-01", "x", 3]) == APRIL
    assert day_range([APRIL]) == APRIL
    assert day_range(["2024-04-01", "2024-04-02", "2024-04-03"]) == ""
    assert day_range([]) == ""


def test_a_step_names_only_entries_that_the_snapshot_has() -> None:
    plan = {"state_snapshot": {"date_range": APRIL}}
    assert faults(step("a", "find", uses_snapshot=["date_rage"]), plan=plan) == [
        ("INVALID_PLAN", "/steps/0/uses_snapshot/0")
    ]
    assert faults(step("a", "find", uses_snapshot=["date_range"])) == [("INVALID_PLAN", "/steps/0/uses_snapshot/0")]


def test_a_step_whose_arguments_are_known_carries_what_it_names() -> None:
    said = {"$query": [0, 6, 10], "value": "A100"}

    def found(entry: str) -> list[tuple[str, str]]:
        using = step("a", "get", {"id": said}, uses_snapshot=["order"])
        return faults(using, plan={"state_snapshot": {"order": entry}}, turns=TURNS)

    assert found("A100") == []
    assert found("B200") == [("INVALID_PLAN", "/steps/0/uses_snapshot/0")]


def test_a_step_whose_arguments_come_later_is_not_judged_before() -> None:
    first, second = step("a", "find"), step("b", "get", {"id": {"$ref": "a/id"}}, ["a"], uses_snapshot=["order"])
    assert faults(first, second, plan={"state_snapshot": {"order": "A100"}}) == []


def test_what_a_step_uses_has_a_place_in_the_form() -> None:
    form: Any = {"steps": [step("a", "find", uses_snapshot=["date_range"])], "state_snapshot": {"date_range": APRIL}}
    plan = plan_from_json(form)
    assert plan.steps[0].uses_snapshot == ("date_range",)
    assert plan_from_json(plan_to_json(plan)) == plan


def test_observation_is_told_of_the_named_entries_alone() -> None:
    using = PlanStep(step_id="a", tool="find", uses_snapshot=("date_range",))
    plan = ThoughtPlan(steps=(using,), state_snapshot={"date_range": APRIL, "user_intent": "find"})
    assert used_entries(plan, using) == {"date_range": APRIL}
    assert used_entries(plan, PlanStep(step_id="b", tool="find")) is ABSENT
    assert used_entries(None, using) is ABSENT


def test_the_example_of_the_page_carries_what_it_names() -> None:
    turns = (Turn(role=Role.USER, text="查一下 13800000000 的订单"),)
    plan = plan_from_json(example("snapshot"), turns)
    assert plan.steps[0].uses_snapshot == ("caller",)
    assert list(snapshot_uses_are_true(plan, context(turns=turns))) == []
