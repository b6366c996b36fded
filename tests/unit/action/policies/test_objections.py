"""Rules that forbid a call."""

from typing import Any

import pytest

from taoloop.action.policies.objections import objection, reason_of, taints, unknown_tool
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ExecuteRequest, Provenance
from taoloop.plan.task import Permissions, TaintedEffects
from taoloop.tools.schemas import CompiledSchema, Violation
from taoloop.tools.signature import Effect, Trust
from tests.unit.action.contracts import catalogue, request


def objection_to(wanted: ExecuteRequest) -> Fault | None:
    return objection(wanted, catalogue().compiled(wanted.tool), wanted.arguments)


def code_of(wanted: ExecuteRequest) -> str:
    fault = objection_to(wanted)
    return fault.code if fault is not None else ""


@pytest.mark.parametrize("tool", ["look_up", "change", "send_out", "hearsay"])
def test_a_request_in_order_is_not_objected_to(tool: str) -> None:
    assert objection_to(request(tool)) is None


def test_an_unknown_tool_is_refused_with_the_nearest_names() -> None:
    fault = unknown_tool(request("lookup"), catalogue())
    assert (fault.code, fault.stage, fault.candidates[0]) == (FaultCode.UNKNOWN_TOOL, FaultStage.POLICY, "look_up")


def test_an_invalid_argument_names_field_and_reason() -> None:
    fault = objection_to(request(arguments={"key": "ab"}))
    assert fault is not None
    assert (fault.code, fault.field, fault.expected, fault.actual) == (FaultCode.INVALID_PARAMETER, "/key", 3, "ab")
    assert fault.message == "/key: length < 3."


def test_an_enum_lists_what_would_be_accepted() -> None:
    fault = objection_to(request(arguments={"key": "abc", "colour": "blue"}))
    assert fault is not None
    assert fault.candidates == ("red", "green")


def test_a_long_argument_is_cut_in_the_fault() -> None:
    fault = objection_to(request(arguments={"key": "abc", "colour": "x" * 500}))
    assert fault is not None
    assert fault.actual == "x" * 200


@pytest.mark.parametrize("arguments", [None, [], "text", 1])
def test_arguments_are_an_object(arguments: Any) -> None:
    assert code_of(request(arguments=arguments)) == FaultCode.INVALID_PARAMETER


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ({"minLength": 12}, "short", "length < 12"),
        ({"maxLength": 2}, "long", "length > 2"),
        ({"minimum": 1}, 0, "value < 1"),
        ({"type": "integer"}, "x", "not of type integer"),
        ({"pattern": "^[0-9]+$"}, "x", "does not match the pattern ^[0-9]+$"),
        ({"format": "date"}, "x", "not in the format date"),
        ({"required": ["a"]}, {}, "missing"),
        ({"minProperties": 1}, {}, "breaks the schema's minProperties"),
    ],
)
def test_a_reason_is_a_few_words(schema: dict[str, Any], value: Any, reason: str) -> None:
    assert reason_of(CompiledSchema.compile(schema).violations(value)[0]) == reason


def test_a_tool_outside_the_allow_list_is_refused() -> None:
    assert code_of(request(permissions=Permissions(allowed_tools=("other",)))) == FaultCode.TOOL_NOT_ALLOWED


@pytest.mark.parametrize("permissions", [None, Permissions(), Permissions(max_effect=Effect.IDEMPOTENT_WRITE)])
def test_an_effect_above_the_permission_is_refused(permissions: Permissions | None) -> None:
    assert code_of(request("change", permissions=permissions)) == FaultCode.EFFECT_NOT_ALLOWED


@pytest.mark.parametrize("tool", ["change", "send_out"])
def test_untrusted_text_neither_feeds_nor_steers_a_write_or_an_outward_call_where_that_is_refused(tool: str) -> None:
    source = Provenance(pointer="/key", source="step_output", trust=Trust.UNTRUSTED)
    refusing = Permissions(max_effect=Effect.WRITE, tainted_effects=TaintedEffects.REFUSE)
    assert code_of(request(tool, provenance=(source,), permissions=refusing)) == FaultCode.TAINTED_SOURCE
    assert code_of(request(tool, tainted_context=True, permissions=refusing)) == FaultCode.TAINTED_SOURCE
    assert code_of(request(tool, permissions=refusing)) == ""


@pytest.mark.parametrize("effects", [None, TaintedEffects.ASK, TaintedEffects.ALLOW])
def test_taint_is_no_objection_where_a_person_is_asked_or_it_is_allowed(effects: TaintedEffects | None) -> None:
    source = Provenance(pointer="/key", source="step_output", trust=Trust.UNTRUSTED)
    permissions = Permissions(max_effect=Effect.WRITE, tainted_effects=effects)
    assert code_of(request("change", provenance=(source,), tainted_context=True, permissions=permissions)) == ""


def test_every_way_of_taint_is_told_with_its_steps() -> None:
    fed = (
        Provenance(pointer="/key", source="step_output", step_id="1.t1", trust=Trust.UNTRUSTED),
        Provenance(pointer="/size", source="generated", trust=Trust.UNTRUSTED),
        Provenance(pointer="/colour", source="query_span", trust=Trust.TRUSTED),
    )
    told = [taint.message for taint in taints(request(provenance=fed, tainted_context=True, tainted_by=("1.t1",)))]
    assert told == [
        "Untrusted text (1.t1) may have shaped this call.",
        "Untrusted text (1.t1) feeds /key.",
        "Untrusted text (generated) feeds /size.",
    ]


@pytest.mark.parametrize("tool", ["look_up", "hearsay"])
def test_untrusted_text_may_feed_an_internal_read(tool: str) -> None:
    source = Provenance(pointer="/key", source="step_output", trust=Trust.UNTRUSTED)
    assert objection_to(request(tool, provenance=(source,), tainted_context=True)) is None


@pytest.mark.parametrize("effects", list(TaintedEffects))
def test_an_argument_without_a_source_is_not_trusted_in_a_write(effects: TaintedEffects) -> None:
    permissions = Permissions(max_effect=Effect.WRITE, tainted_effects=effects)
    arguments = {"key": "abc", "size": 1}
    wanted = request("change", arguments=arguments, provenance=request().provenance, permissions=permissions)
    fault = objection_to(wanted)
    assert fault is not None
    assert (fault.code, fault.field) == (FaultCode.TAINTED_SOURCE, "/size")


def test_one_source_may_vouch_for_all_arguments() -> None:
    whole = Provenance(pointer="", source="input_value", trust=Trust.TRUSTED)
    assert objection_to(request("change", provenance=(whole,))) is None


def test_a_source_for_what_is_no_pointer_vouches_for_nothing() -> None:
    wanted = request("change", provenance=(Provenance(pointer="/~7", source="query_span", trust=Trust.TRUSTED),))
    fault = objection_to(wanted)
    assert fault is not None
    assert (fault.code, fault.field) == (FaultCode.TAINTED_SOURCE, "/key")


def test_an_argument_that_is_no_text_is_told_as_it_is() -> None:
    fault = objection_to(request(arguments={"key": ["abc"]}))
    assert fault is not None
    assert fault.actual == ["abc"]


def test_a_keyword_that_expects_nothing_to_tell_is_a_few_words_too() -> None:
    assert reason_of(Violation(pointer="", keyword="minLength", message="", expected=ABSENT, actual="x")) == "length <"
