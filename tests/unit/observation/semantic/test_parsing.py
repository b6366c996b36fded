"""A validator's reply is read strictly."""

from contextlib import suppress
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue, dumps, loads
from taoloop.observation.semantic.chat_validator import INSTRUCTIONS
from taoloop.observation.semantic.model import Candidate, ReasonCode, ValidationErrorCode, VerdictRefused
from taoloop.observation.semantic.parsing import parse_verdict, verdict_schema
from taoloop.plan.answering import Evidence, SemanticStatus, SemanticVerdict

CANDIDATE = Candidate(
    text="The order ships on May 20 and is insured.",
    evidence=(Evidence(step_id="1.t1", exposed={"ships": "2026-05-20"}), Evidence(step_id="1.t2", exposed={})),
)
VALID: dict[str, JsonValue] = {
    "status": "valid",
    "reasonCodes": [],
    "unsupportedClaims": [],
    "missingEvidenceIds": [],
    "summary": "Carried.",
}
INVALID: dict[str, JsonValue] = {
    "status": "invalid",
    "reasonCodes": ["unsupported_claim"],
    "unsupportedClaims": ["is insured"],
    "missingEvidenceIds": ["1.t2"],
    "summary": "Nothing says that it is insured.",
}


def refusal(reply: str) -> tuple[ValidationErrorCode, str]:
    with pytest.raises(VerdictRefused) as refused:
        parse_verdict(reply, CANDIDATE)
    return refused.value.complaint.code, refused.value.complaint.field


def test_a_valid_verdict_is_read() -> None:
    assert parse_verdict(dumps(VALID), CANDIDATE) == SemanticVerdict(status=SemanticStatus.VALID, summary="Carried.")


def test_an_invalid_verdict_names_what_it_objects_to() -> None:
    assert parse_verdict(dumps(INVALID), CANDIDATE) == SemanticVerdict(
        status=SemanticStatus.INVALID,
        reason_codes=("unsupported_claim",),
        unsupported_claims=("is insured",),
        missing_evidence_ids=("1.t2",),
        summary="Nothing says that it is insured.",
    )


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("", ValidationErrorCode.INVALID_JSON),
        ("The answer is valid.", ValidationErrorCode.INVALID_JSON),
        (f"```json\n{dumps(VALID)}\n```", ValidationErrorCode.INVALID_JSON),
        (dumps(VALID)[:-1], ValidationErrorCode.INVALID_JSON),
        (dumps(VALID) + dumps(VALID), ValidationErrorCode.INVALID_JSON),
        (dumps(VALID).replace('"summary"', '"status":"invalid","summary"'), ValidationErrorCode.INVALID_JSON),
        ("[" * 10_000, ValidationErrorCode.INVALID_JSON),
        ('"' + "x" * 100_000 + '"', ValidationErrorCode.INVALID_JSON),
        ("[]", ValidationErrorCode.INVALID_ENVELOPE),
        ("null", ValidationErrorCode.INVALID_ENVELOPE),
        (dumps([VALID]), ValidationErrorCode.INVALID_ENVELOPE),
    ],
)
def test_a_reply_that_is_no_object_is_refused(reply: str, code: ValidationErrorCode) -> None:
    assert refusal(reply) == (code, "")


@pytest.mark.parametrize("name", list(VALID))
def test_a_missing_field_is_refused_by_name(name: str) -> None:
    reply = {key: value for key, value in VALID.items() if key != name}
    assert refusal(dumps(reply)) == (ValidationErrorCode.MISSING_FIELD, f"/{name}")


def test_an_extra_field_is_refused_and_its_name_not_repeated() -> None:
    assert refusal(dumps({**VALID, "executionPermitted": True})) == (ValidationErrorCode.EXTRA_FIELD, "")


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"status": "VALID"}, ValidationErrorCode.INVALID_ENUM, "/status"),
        ({"status": "ok"}, ValidationErrorCode.INVALID_ENUM, "/status"),
        ({"status": True}, ValidationErrorCode.INVALID_ENUM, "/status"),
        ({"status": []}, ValidationErrorCode.INVALID_ENUM, "/status"),
        ({"reasonCodes": ["because"]}, ValidationErrorCode.INVALID_ENUM, "/reasonCodes/0"),
        ({"reasonCodes": "misleading"}, ValidationErrorCode.INVALID_CONTAINER, "/reasonCodes"),
        ({"reasonCodes": None}, ValidationErrorCode.INVALID_CONTAINER, "/reasonCodes"),
        ({"reasonCodes": ["misleading", "misleading"]}, ValidationErrorCode.INVALID_CONTAINER, "/reasonCodes"),
        ({"unsupportedClaims": {"a": 1}}, ValidationErrorCode.INVALID_CONTAINER, "/unsupportedClaims"),
        ({"unsupportedClaims": [1]}, ValidationErrorCode.INVALID_CONTAINER, "/unsupportedClaims"),
        ({"unsupportedClaims": [" "]}, ValidationErrorCode.INVALID_CONTAINER, "/unsupportedClaims"),
        ({"missingEvidenceIds": ["1.t2", "1.t2"]}, ValidationErrorCode.INVALID_CONTAINER, "/missingEvidenceIds"),
        ({"summary": 3}, ValidationErrorCode.INVALID_CONTAINER, "/summary"),
        ({"summary": "x" * 501}, ValidationErrorCode.INVALID_CONTAINER, "/summary"),
        ({"missingEvidenceIds": ["2.t1"]}, ValidationErrorCode.FOREIGN_EVIDENCE, "/missingEvidenceIds/0"),
        ({"unsupportedClaims": ["is Insured"]}, ValidationErrorCode.FOREIGN_CLAIM, "/unsupportedClaims/0"),
        ({"status": "valid"}, ValidationErrorCode.CONTRADICTORY, "/status"),
    ],
)
def test_a_field_out_of_form_is_refused_by_its_place(
    change: dict[str, JsonValue], code: ValidationErrorCode, field: str
) -> None:
    assert refusal(dumps({**INVALID, **change})) == (code, field)


def test_an_objection_without_a_reason_is_contradictory() -> None:
    assert refusal(dumps({**VALID, "status": "invalid"})) == (ValidationErrorCode.CONTRADICTORY, "/status")


@given(st.text(max_size=300))
def test_no_reply_raises_anything_else(reply: str) -> None:
    with suppress(VerdictRefused):
        parse_verdict(reply, CANDIDATE)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
)


@given(st.fixed_dictionaries({name: st.sampled_from([VALID[name], INVALID[name]]) | _JSON for name in VALID}))
def test_what_is_read_fits_the_schema_that_servers_get(reply: dict[str, JsonValue]) -> None:
    try:
        parse_verdict(dumps(reply), CANDIDATE)
    except VerdictRefused:
        return
    schema: Any = loads(dumps(verdict_schema(CANDIDATE)))
    assert jsonschema_rs.is_valid(schema, loads(dumps(reply)))


def test_the_instructions_name_every_word_of_the_contract() -> None:
    words = [*VALID, *(status.value for status in SemanticStatus), *(code.value for code in ReasonCode)]
    assert [word for word in words if word not in INSTRUCTIONS] == []
