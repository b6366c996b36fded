"""The observer's verdicts, a row for each stage and each way to fail."""

from dataclasses import replace
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, dumps, loads
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.acting import ActionStatus, ServedBy
from taoloop.plan.observing import CheckVerdict, Consistency
from taoloop.tools.contract import Empty, Observe, ObserveRule, RuleSeverity
from taoloop.tools.signature import Effect, Trust
from tests.unit.observation.contracts import GOOD, PARCEL, bare, observed


def test_good_result_is_valid_with_its_trail() -> None:
    verdict = observed(GOOD)

    assert verdict.valid
    assert verdict.data == {
        "eta": "2024-05-20T14:30:00Z",
        "fee": 3,
        "depot": "Ulm",
        "parcel_state": "moving",
    }
    assert verdict.exposed == {"eta": "2024-05-20T14:30:00Z", "parcel_state": "moving"}
    assert verdict.omitted == ("/fee", "/depot")
    assert verdict.audit_trail == (
        "status_2xx",
        "body_parsed",
        "not_empty",
        "schema_valid",
        "normalised",
        "rule_has_state",
        "rule_cheap",
        "consistency_ok",
    )
    assert (verdict.confidence, verdict.failures, verdict.fault) == (1.0, (), None)
    assert verdict.consistency is Consistency.OK
    assert verdict.suggested_next == ""
    assert verdict.execution_permitted


@pytest.mark.parametrize("code", [404, 500, 503, 301])
@pytest.mark.parametrize("body", [GOOD, ABSENT, None])
def test_error_status_is_an_error_with_or_without_a_body(code: int, body: Any) -> None:
    verdict = observed(body, status_code=code)

    assert not verdict.valid
    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.STATUS_FAILED
    assert verdict.data is ABSENT
    assert verdict.confidence == 0.0


@pytest.mark.parametrize(
    ("status", "code", "hint"),
    [
        (ActionStatus.TIMED_OUT, FaultCode.TOOL_TIMEOUT, "try_again_later"),
        (ActionStatus.REJECTED, FaultCode.INVALID_PARAMETER, "correct_the_input"),
        (ActionStatus.FAILED, FaultCode.NOT_FOUND, "correct_the_input"),
        (ActionStatus.FAILED, "OUT_OF_STOCK", "plan_again"),
        (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN, "switch_to_manual_review"),
        (ActionStatus.APPROVAL_REQUIRED, FaultCode.DECISION_BY_PERSON_NEEDED, "ask_for_approval"),
    ],
)
def test_fault_of_the_action_is_the_verdicts_fault(status: ActionStatus, code: str, hint: str) -> None:
    fault = Fault(code=str(code), stage="action", message="As it was.", retriable=True)

    verdict = observed(GOOD, status=status, fault=fault)

    assert verdict.fault == fault
    assert not verdict.valid
    assert verdict.suggested_next == hint
    assert verdict.audit_trail == ()
    assert [failure.stage for failure in verdict.failures] == ["status"]
    assert verdict.confidence == 0.0
    assert not verdict.execution_permitted


@pytest.mark.parametrize("status", list(ActionStatus))
def test_action_that_did_not_say_why_still_gets_a_fault(status: ActionStatus) -> None:
    verdict = observed(ABSENT, status=status, status_code=0)

    assert not verdict.valid
    assert (verdict.fault is None) is (status is ActionStatus.PENDING)


@pytest.mark.parametrize("fields", [{"status": ActionStatus.PENDING, "status_code": 0}, {"status_code": 202}])
@pytest.mark.parametrize("body", [ABSENT, {"job": 1}])
def test_pending_result_waits(fields: dict[str, Any], body: Any) -> None:
    verdict = observed(body, **fields)

    assert (verdict.valid, verdict.fault, verdict.suggested_next) == (False, None, "wait")
    assert not any(stage.ran for stage in verdict.stages)
    assert not verdict.execution_permitted


@pytest.mark.parametrize(
    ("response", "document", "empty", "code"),
    [
        ({"type": ["object", "null"]}, {}, Empty.FAIL, None),
        ({"type": ["object", "null"]}, {"spec": {"empty": "fail"}}, Empty.FAIL, FaultCode.EMPTY_RESULT),
        ({"type": ["object", "null"]}, {}, Empty.RETRY, FaultCode.EMPTY_RESULT),
        ({"type": "object"}, {}, Empty.FAIL, FaultCode.EMPTY_RESULT),
        ({"type": "object"}, {}, Empty.ACCEPT, None),
        (True, {}, Empty.FAIL, FaultCode.EMPTY_RESULT),
        ({}, {}, Empty.FAIL, FaultCode.EMPTY_RESULT),
    ],
)
@pytest.mark.parametrize(("body", "status_code"), [(ABSENT, 204), (None, 200), (ABSENT, 200)])
def test_null_is_right_only_where_the_contract_says_so(
    response: Any, document: dict[str, Any], empty: Empty, code: FaultCode | None, body: Any, status_code: int
) -> None:
    contract = bare(response=response, document=document, empty=empty)

    verdict = observed(body, contract, status_code=status_code)

    assert verdict.valid is (code is None)
    assert (verdict.fault.code if verdict.fault else None) == code
    assert verdict.data is (None if code is None else ABSENT)


@pytest.mark.parametrize(
    ("body", "verdict", "is_valid"),
    [
        ({"code": 0, "data": [1]}, None, True),
        ({"code": 40301, "data": None}, CheckVerdict.FAIL, False),
        ({"data": [1]}, CheckVerdict.FAIL, False),
    ],
)
def test_success_rule_decides_after_the_status(body: Any, verdict: CheckVerdict | None, is_valid: bool) -> None:
    contract = bare(success={"===": [{"var": "body.code"}, 0]})

    result = observed(body, contract)

    assert result.valid is is_valid
    assert [failure.verdict for failure in result.failures] == ([] if verdict is None else [verdict])
    if verdict is not None:
        assert result.fault is not None
        assert result.fault.code == FaultCode.SUCCESS_RULE_FAILED


def test_error_field_alone_is_no_failure() -> None:
    assert observed({"error": "none", "data": {"id": 7}}, bare()).valid


def test_schema_failure_names_pointer_keyword_and_value() -> None:
    verdict = observed({**GOOD, "eta": "2024-05-20"})

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.SCHEMA_VIOLATION
    assert (verdict.fault.field, verdict.fault.expected, verdict.fault.actual) == ("/eta", "date-time", "2024-05-20")
    assert [failure.rule_id for failure in verdict.failures] == ["format"]
    assert verdict.confidence == 0.0
    assert verdict.data is ABSENT


def test_every_schema_failure_is_listed_up_to_the_bound() -> None:
    assert {failure.pointer for failure in observed({"eta": 1, "fee": "x"}).failures} == {"/state", "/eta", "/fee"}


def test_refused_normalisation_is_a_hard_failure_with_candidates() -> None:
    contract = replace(PARCEL, observe=replace(PARCEL.observe, known={}))

    verdict = observed({"state": "lost"}, contract)

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.NORMALISATION_REFUSED
    assert verdict.fault.candidates == ("moving",)
    assert verdict.confidence == 0.0


@pytest.mark.parametrize(
    ("when", "code", "said"),
    [
        ({"===": [{"var": "data.n"}, 2]}, FaultCode.RULE_FAILED, CheckVerdict.FAIL),
        ({">": [{"var": "data.missing"}, 2]}, FaultCode.RULE_INDETERMINATE, CheckVerdict.INDETERMINATE),
        ({"/": [{"var": "data.n"}, 0]}, FaultCode.RULE_ERROR, CheckVerdict.ERROR),
    ],
)
def test_hard_rule_that_does_not_pass_makes_the_result_invalid(when: Any, code: str, said: CheckVerdict) -> None:
    rule = ObserveRule(id="mine", severity=RuleSeverity.HARD, when=when)

    verdict = observed({"n": 1}, bare(observe=Observe(rules=(rule,))))

    assert verdict.fault is not None
    assert (verdict.fault.code, verdict.failures[0].verdict, verdict.failures[0].rule_id) == (code, said, "mine")
    assert verdict.confidence == 0.0
    assert verdict.data == {"n": 1}


def test_soft_rule_that_fails_only_lowers_the_confidence() -> None:
    verdict = observed({**GOOD, "fee": 50})

    assert verdict.valid
    assert verdict.fault is None
    assert [(failure.rule_id, failure.hard) for failure in verdict.failures] == [("cheap", False)]
    assert verdict.confidence == pytest.approx(0.7)


def test_rules_read_status_time_body_data_arguments_and_expect() -> None:
    when: Any = {
        "and": [
            {"===": [{"var": "status_code"}, 200]},
            {"<": [{"var": "response_time_seconds"}, 1]},
            {"===": [{"var": "body.state"}, {"var": "arguments.state"}]},
            {"===": [{"var": "data.state"}, "x"]},
            {"in": ["x", {"var": ["expect./state", []]}]},
        ]
    }
    contract = bare(observe=Observe(rules=(ObserveRule(id="all_scopes", severity=RuleSeverity.HARD, when=when),)))
    request = {"arguments": {"state": "x"}, "expect": {"/state": ["x"]}}

    assert observed({"state": "x"}, contract, request=request, response_time_seconds=0.5).valid


@pytest.mark.parametrize(
    ("fields", "passes"),
    [
        ({"response_time_seconds": 0.5}, True),
        ({"response_time_seconds": 2.0}, True),
        ({"response_time_seconds": 2.5}, False),
        ({}, False),
        ({"served_by": ServedBy.DUPLICATE}, None),
    ],
)
def test_latency_is_a_soft_check_only_where_the_contract_sets_it(fields: dict[str, Any], passes: bool | None) -> None:
    contract = bare(observe=Observe(max_latency_seconds=2.0))

    verdict = observed({}, contract, **fields)

    assert verdict.valid
    assert ("latency_ok" in verdict.audit_trail) is (passes is True)
    assert [failure.stage for failure in verdict.failures] == (["latency"] if passes is False else [])
    assert "latency_ok" not in observed({}, bare(), **fields).audit_trail


@pytest.mark.parametrize(
    ("expect", "broken_at"),
    [
        ({"/parcel_state": ["moving", "delivered"]}, None),
        ({"/fee": [3.0]}, None),
        ({}, None),
        ({"/parcel_state": ["delivered"]}, "/parcel_state"),
        ({"/parcel_state": []}, "/parcel_state"),
        ({"/nowhere": ["x"]}, "/nowhere"),
        ({"no pointer": ["x"]}, "no pointer"),
        ({"/parcel_state": "moving"}, "/parcel_state"),
        (["moving"], ""),
    ],
)
def test_expectation_of_the_plan_is_checked_and_keeps_the_data(expect: Any, broken_at: str | None) -> None:
    verdict = observed(GOOD, request={"expect": expect})

    assert verdict.valid is (broken_at is None)
    assert [failure.pointer for failure in verdict.failures] == ([] if broken_at is None else [broken_at])
    assert verdict.data is not ABSENT
    if broken_at is not None:
        assert verdict.consistency is Consistency.BROKEN
        assert verdict.fault is not None
        assert verdict.fault.code == FaultCode.CONSISTENCY_BROKEN
        assert verdict.confidence == pytest.approx(0.9)
        assert verdict.suggested_next == "cross_check"
        assert not verdict.execution_permitted


def test_value_unknown_to_the_contract_breaks_the_consistency_with_what_was_expected() -> None:
    verdict = observed({**GOOD, "state": "in_customs"})

    assert verdict.consistency is Consistency.BROKEN
    assert verdict.failures[0].expected == ["moving", "delivered"]
    assert verdict.failures[0].actual == "in_customs"
    assert verdict.data is not ABSENT


@pytest.mark.parametrize(
    ("schema", "is_valid"),
    [
        ({"type": "object", "required": ["parcel_state"]}, True),
        ({"type": "object", "required": ["state"]}, False),
        (False, False),
        ({"$ref": "https://example.com/s.json"}, False),
        (["no schema"], False),
        (None, True),
    ],
)
def test_schema_of_the_step_judges_the_data(schema: Any, is_valid: bool) -> None:
    verdict = observed(GOOD, request={"output_schema": schema})

    assert verdict.valid is is_valid
    assert is_valid or verdict.consistency is Consistency.BROKEN


def test_nothing_expected_leaves_consistency_unsaid() -> None:
    verdict = observed({}, bare())

    assert verdict.consistency is None
    assert [stage.ran for stage in verdict.stages] == [True, False, False]


@pytest.mark.parametrize(
    ("fields", "contract_fields", "confidence"),
    [
        ({}, {}, 1.0),
        ({"trust": Trust.UNTRUSTED}, {}, 0.7),
        ({}, {"observe": Observe(weight=0.5)}, 0.5),
        ({"served_by": ServedBy.CACHE}, {}, 0.6),
        ({"served_by": ServedBy.FALLBACK}, {"observe": Observe(weight=0.5)}, 0.4),
    ],
)
def test_confidence_counts_the_source(
    fields: dict[str, Any], contract_fields: dict[str, Any], confidence: float
) -> None:
    assert observed({}, bare(**contract_fields), **fields).confidence == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("contract_trust", "result_trust"),
    [(Trust.UNTRUSTED, Trust.TRUSTED), (Trust.TRUSTED, Trust.UNTRUSTED), (Trust.UNTRUSTED, Trust.UNTRUSTED)],
)
def test_effects_may_not_rest_on_untrusted_words(contract_trust: Trust, result_trust: Trust) -> None:
    verdict = observed({}, bare(trust=contract_trust), trust=result_trust)

    assert verdict.valid
    assert verdict.trust is Trust.UNTRUSTED
    assert not verdict.execution_permitted


def test_exact_numbers_survive_from_the_body_to_what_is_exposed() -> None:
    body = loads('{"price":0.10,"id":12345678901234567,"big":1e400}')

    verdict = observed(body, bare(observe=Observe(expose=("/price", "/id"))))

    assert dumps(verdict.data) == '{"price":0.10,"id":12345678901234567,"big":1E+400}'
    assert dumps(verdict.exposed) == '{"price":0.10,"id":12345678901234567}'


def test_write_whose_answer_is_bad_goes_to_a_person() -> None:
    verdict = observed({"eta": 1}, replace(PARCEL, effect=Effect.WRITE))

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.SCHEMA_VIOLATION
    assert verdict.suggested_next == "switch_to_manual_review"
