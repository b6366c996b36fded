"""The static check: each rule on plans that break it, all faults at once, nothing on plans that keep them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.check import CheckContext, PlanLimits, check_plan, estimate_tokens
from taoloop.plan.form.json_form import plan_from_json
from taoloop.plan.model import Binding, PlanStep, QuerySpan, ThoughtPlan
from taoloop.plan.task import Permissions, Role, TaintedEffects, ToolAvailability, Turn
from taoloop.plan.thinking import CompletedStep
from taoloop.tools.signature import ToolSignature, Trust
from tests.unit.plan.checking import A100, ALL, TOOLS, TURNS, context, faults, full_faults, step


def test_valid_plan_has_its_order_and_no_fault() -> None:
    steps: Any = [step("b", "get", {"id": {"$ref": "a/id"}}, ["a"]), step("a", "find", {"text": A100})]
    verdict = check_plan(plan_from_json({"steps": steps}, TURNS), context(turns=TURNS))
    assert verdict.is_valid
    assert verdict.order == ("a", "b")


def test_faults_come_in_the_order_of_the_form() -> None:
    found = faults(
        step("a", "nope", after=["zz"]), step("a", "get", {"limit": "x", "other": 1}), plan={"version": "2.0"}
    )
    assert found == [
        ("NOT_YET_SUPPORTED", "/version"),
        ("UNKNOWN_TOOL", "/steps/0/tool"),
        ("UNKNOWN_DEPENDENCY", "/steps/0/depends_on/0"),
        ("DUPLICATE_STEP_ID", "/steps/1/id"),
        ("MISSING_PARAMETER", "/steps/1/args/id"),
        ("INVALID_PARAMETER", "/steps/1/args/limit"),
        ("UNKNOWN_PARAMETER", "/steps/1/args/other"),
    ]


def test_every_fault_has_a_remedy_and_the_plan_stage() -> None:
    for fault in full_faults(step("!", "nope"), step("!", "get")):
        assert fault.stage is FaultStage.PLAN
        assert fault.suggestion == FaultCode(fault.code).remedy


@pytest.mark.parametrize(
    ("steps", "code", "field", "key", "wanted"),
    [
        # Cases C008-1 to C008-4.
        (
            [step("a", "orders_serch")], "UNKNOWN_TOOL", "/steps/0/tool", "candidates",
            ("orders_search", "orders_get", "refund"),
        ),
        ([step("a", "orders_get"), step("a", "orders_search")], "DUPLICATE_STEP_ID", "/steps/1/id", "actual", "a"),
        ([step("a", "orders_get", after=["zz"])], "UNKNOWN_DEPENDENCY", "/steps/0/depends_on/0", "actual", "zz"),
        (
            [step(name, "orders_get", after=other) for name, other in ("ac", "ba", "cb")],
            "DEPENDENCY_CYCLE", "/steps/0/depends_on", "actual", ["a", "b", "c"],
        ),
    ],
)  # fmt: skip
def test_fault_of_the_graph_names_what_is_wrong(steps: list[Any], code: str, field: str, key: str, wanted: Any) -> None:
    tools = {
        name: ToolSignature(name=name, description="", parameters={"type": "object"})
        for name in ("orders_get", "orders_search", "refund")
    }
    (fault,) = full_faults(*steps, tools=tools)
    assert (fault.code, fault.field, getattr(fault, key)) == (code, field, wanted)


def test_empty_and_large_plans_are_refused() -> None:
    assert faults() == [("EMPTY_PLAN", "/steps")]
    assert faults(*(step(f"t{n}", "find") for n in range(8))) == [("PLAN_TOO_LARGE", "/steps")]
    assert faults(*(step(f"t{n}", "find") for n in range(7))) == []
    assert faults(step("a", "find", description="x" * 2048)) == [("PLAN_TOO_LARGE", "/steps")]
    assert faults(step("a", "find", description="x" * 2048), limits=PlanLimits(max_tokens=700)) == []


def test_token_counter_is_the_one_that_is_given() -> None:
    assert faults(step("a", "find"), count_tokens=lambda _: 513) == [("PLAN_TOO_LARGE", "/steps")]


def test_a_long_quotation_is_counted_by_its_place_and_not_by_its_words() -> None:
    words = "字" * 1000
    quoted = Binding(pointer="/text", source=QuerySpan(start=0, end=1000, text=words), value=words)
    plan = ThoughtPlan(steps=(PlanStep(step_id="a", tool="find", bindings=(quoted,)),))

    verdict = check_plan(plan, CheckContext(tools=TOOLS, turns=(Turn(role=Role.USER, text=words),)))

    assert verdict.faults == ()


def test_estimate_counts_wide_characters_one_by_one() -> None:
    assert (estimate_tokens(""), estimate_tokens("abcd"), estimate_tokens("abcde"), estimate_tokens("订单ab")) == (
        0,
        1,
        2,
        3,
    )


@pytest.mark.parametrize("step_id", ["", "a b", "a.b.c", ".a", "步骤", "a" * 65, "a/b"])
def test_malformed_step_id_is_refused(step_id: str) -> None:
    plan = ThoughtPlan(steps=(PlanStep(step_id=step_id, tool="find"),))
    assert [fault.code for fault in check_plan(plan, context()).faults] == ["INVALID_STEP_ID"]


def test_id_of_a_completed_step_is_taken_and_its_output_can_be_used() -> None:
    done = (CompletedStep(step_id="1.t1", tool="find", trust=Trust.TRUSTED),)
    assert faults(step("1.t1", "find"), completed=done) == [("DUPLICATE_STEP_ID", "/steps/0/id")]
    assert faults(step("2.t1", "get", {"id": {"$ref": "1.t1/id"}}), completed=done) == []
    assert faults(step("2.t1", "get", {"id": {"$ref": "1.t1/count"}}, ["1.t1"]), completed=done) == [
        ("TYPE_MISMATCH", "/steps/0/args/id")
    ]


def test_completed_step_that_failed_gives_nothing() -> None:
    fault = Fault(code=FaultCode.TOOL_ERROR, stage=FaultStage.ACTION, message="")
    done = (CompletedStep(step_id="1.t1", tool="find", trust=Trust.TRUSTED, fault=fault),)
    assert faults(step("2.t1", "get", {"id": {"$ref": "1.t1/id"}}, ["1.t1"]), completed=done) == [
        ("UNKNOWN_REFERENCE", "/steps/0/args/id"),
        ("UNKNOWN_DEPENDENCY", "/steps/0/depends_on/0"),
    ]


def test_catalogue_of_the_plan_is_compared() -> None:
    plan = {"catalogue_digest": "one"}
    assert faults(step("a", "find"), plan=plan, catalogue_digest="other") == [
        ("CATALOGUE_MISMATCH", "/catalogue_digest")
    ]
    assert faults(step("a", "find"), plan=plan, catalogue_digest="one") == []
    assert faults(step("a", "find"), catalogue_digest="one") == []


def test_permissions_limit_tools_and_effects() -> None:
    only_get = Permissions(allowed_tools=("get",))
    (fault,) = full_faults(step("a", "find"), permissions=only_get)
    assert (fault.code, fault.candidates) == ("TOOL_NOT_ALLOWED", ("get",))
    assert faults(step("a", "pay", {"id": "x"}), permissions=Permissions()) == [("EFFECT_NOT_ALLOWED", "/steps/0/tool")]
    assert full_faults(step("a", "gett"), permissions=only_get)[0].candidates == ("get",)


def test_tool_that_cannot_be_called_is_refused_for_now() -> None:
    availability = (
        ToolAvailability(tool="find", available=False, reason="breaker_open"),
        ToolAvailability(tool="get", available=True),
    )  # fmt: skip
    (fault,) = full_faults(step("a", "find"), step("b", "get", {"id": "xyz"}), availability=availability)
    assert (fault.code, fault.field, fault.retriable) == ("TOOL_UNAVAILABLE", "/steps/0/tool", True)


REFUSING = replace(ALL, tainted_effects=TaintedEffects.REFUSE)


@pytest.mark.parametrize(("name", "parameter"), [("pay", "id"), ("mail", "text")])
def test_untrusted_result_feeds_no_step_that_writes_or_reaches_outside_where_that_is_refused(
    name: str, parameter: str
) -> None:
    def refused(*steps: Any) -> list[tuple[str, str]]:
        return faults(*steps, permissions=REFUSING)

    page = step("w", "web")
    direct = step("p", name, {parameter: {"$ref": "w/page"}}, ["w"])
    assert refused(page, direct) == [("TAINTED_SOURCE", f"/steps/1/args/{parameter}")]
    between = step("f", "find", {"text": {"$ref": "w/page"}}, ["w"])
    through = step("p", name, {parameter: {"$ref": "f/id"}}, ["f"])
    assert refused(page, between, through) == [("TAINTED_SOURCE", f"/steps/2/args/{parameter}")]
    in_template = step("p", name, {parameter: {"$template": [{"$ref": "w/page"}]}}, ["w"])
    assert refused(page, in_template) == [("TAINTED_SOURCE", f"/steps/1/args/{parameter}")]
    assert refused(step("f", "find"), step("p", name, {parameter: {"$ref": "f/id"}}, ["f"])) == []


def test_untrusted_result_of_an_earlier_iteration_counts_too() -> None:
    done = (CompletedStep(step_id="1.w", tool="find", trust=Trust.UNTRUSTED),)
    assert faults(step("p", "pay", {"id": {"$ref": "1.w/id"}}), completed=done, permissions=REFUSING) == [
        ("TAINTED_SOURCE", "/steps/0/args/id")
    ]


def test_tainted_context_forbids_writing_and_outward_steps_where_that_is_refused() -> None:
    steps = [step("a", "pay", {"id": "x"}), step("b", "mail"), step("c", "find")]
    wanted = [("TAINTED_SOURCE", "/steps/0/tool"), ("TAINTED_SOURCE", "/steps/1/tool")]
    assert faults(*steps, plan={"tainted_context": True}, permissions=REFUSING) == wanted
    assert faults(*steps, tainted_context=True, permissions=REFUSING) == wanted


@pytest.mark.parametrize("effects", [None, TaintedEffects.ASK, TaintedEffects.ALLOW])
def test_the_check_lets_tainted_steps_pass_that_a_person_is_asked_about_or_that_are_allowed(
    effects: TaintedEffects | None,
) -> None:
    fed = [step("w", "web"), step("p", "pay", {"id": {"$ref": "w/page"}}, ["w"])]
    permissions = replace(ALL, tainted_effects=effects)
    assert faults(*fed, permissions=permissions) == []
    assert faults(step("a", "pay", {"id": "x"}), tainted_context=True, permissions=permissions) == []


def test_generated_text_is_refused_for_a_write_by_default() -> None:
    args = {"id": "x", "text": {"$generated": "please"}}
    assert faults(step("a", "pay", args)) == [("SOURCE_NOT_ALLOWED", "/steps/0/args/text")]


def test_schemas_and_expectations_of_the_plan_are_checked() -> None:
    bad = {"type": "strin"}
    assert faults(step("a", "find", output_schema=bad), plan={"final_output_schema": {"$ref": "http://x/y"}}) == [
        ("INVALID_PLAN", "/steps/0/output_schema/type"), ("INVALID_PLAN", "/final_output_schema/$ref"),
    ]  # fmt: skip
    assert faults(step("a", "find", expect={"/id": ["x"]})) == []
    assert faults(step("a", "find", expect={"/id": "x", "id": ["x"]})) == [
        ("INVALID_PLAN", "/steps/0/expect/~1id"), ("INVALID_PLAN", "/steps/0/expect/id"),
    ]  # fmt: skip
    assert faults(step("a", "find"), plan={"state_snapshot": [1]}) == [("INVALID_PLAN", "/state_snapshot")]
    assert faults(step("a", "find"), plan={"state_snapshot": {"date_range": "2024-04-01~2024-04-30"}}) == []


def test_fault_without_a_value_says_absent() -> None:
    assert full_faults()[0].actual is ABSENT


def test_projection_is_one_of_its_tool() -> None:
    goals = {"is_vip": "whether the customer is VIP"}
    goal_tools = CheckContext(tools={**TOOLS, "find": replace(TOOLS["find"], projections=goals)})

    def named(name: str) -> list[Fault]:
        planned = PlanStep(step_id="t1", tool="find", projection=name)
        return list(check_plan(ThoughtPlan(version="1.0", steps=(planned,)), goal_tools).faults)

    assert [each for each in named("is_vip") if each.field.endswith("projection")] == []
    (fault,) = [each for each in named("is_vp") if each.field.endswith("projection")]
    assert (fault.code, fault.candidates) == (FaultCode.INVALID_PLAN, ("is_vip",))
