"""A validator's reply read strictly: what is missing, extra, foreign or contradictory is refused."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeVar

from taoloop.core.exact_json import JsonSyntaxError, JsonValue, loads
from taoloop.core.pointers import join
from taoloop.observation.semantic.model import Candidate, ReasonCode, ValidationErrorCode, VerdictRefused
from taoloop.plan.answering import SemanticStatus, SemanticVerdict

MAX_ITEMS: Final = 50
MAX_SUMMARY_CHARACTERS: Final = 500
MAX_REPLY_BYTES: Final = 64 * 1024

_FIELDS: Final = ("status", "reasonCodes", "unsupportedClaims", "missingEvidenceIds", "summary")
_WordT = TypeVar("_WordT", bound=StrEnum)


def verdict_schema(candidate: Candidate) -> dict[str, JsonValue]:
    """Return the JSON Schema of a verdict on this candidate, for servers that keep replies to one."""
    ids: list[JsonValue] = [*sorted(candidate.evidence_ids)]
    id_items: JsonValue = {"type": "string", "enum": ids} if ids else {"type": "string"}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(_FIELDS),
        "properties": {
            "status": {"type": "string", "enum": [status.value for status in SemanticStatus]},
            "reasonCodes": _list_of({"type": "string", "enum": [code.value for code in ReasonCode]}, len(ReasonCode)),
            "unsupportedClaims": _list_of({"type": "string"}, MAX_ITEMS),
            "missingEvidenceIds": _list_of(id_items, min(MAX_ITEMS, len(ids))),
            "summary": {"type": "string", "maxLength": MAX_SUMMARY_CHARACTERS},
        },
    }


def parse_verdict(reply: str, candidate: Candidate) -> SemanticVerdict:
    """Return the verdict in a reply.

    ```json
    {"status": "valid", "reasonCodes": [], "unsupportedClaims": [], "missingEvidenceIds": [], "summary": "…"}
    ```

    Raises:
        VerdictRefused: The reply breaks the contract; the complaint says where.
    """
    members = _members(reply)
    status = _word(members["status"], SemanticStatus, "status")
    reasons = tuple(
        _word(item, ReasonCode, f"reasonCodes/{place}") for place, item in enumerate(_texts(members, "reasonCodes"))
    )
    claims = _texts(members, "unsupportedClaims")
    missing = _texts(members, "missingEvidenceIds")
    _check_known(claims, missing, candidate)
    _check_agreement(status, reasons, claims, missing)
    return SemanticVerdict(
        status=status,
        reason_codes=tuple(reason.value for reason in reasons),
        unsupported_claims=claims,
        missing_evidence_ids=missing,
        summary=_summary(members["summary"]),
    )


def _list_of(items: JsonValue, most: int) -> JsonValue:
    return {"type": "array", "items": items, "maxItems": most}


def _members(reply: str) -> dict[str, JsonValue]:
    try:
        value = loads(reply, max_depth=4, max_bytes=MAX_REPLY_BYTES)
    except JsonSyntaxError as exc:
        raise VerdictRefused(ValidationErrorCode.INVALID_JSON, expected="one JSON object and nothing else") from exc
    if not isinstance(value, dict):
        raise VerdictRefused(ValidationErrorCode.INVALID_ENVELOPE, expected="a JSON object")
    for name in _FIELDS:
        if name not in value:
            raise VerdictRefused(ValidationErrorCode.MISSING_FIELD, join(name), f"the fields {', '.join(_FIELDS)}")
    if len(value) > len(_FIELDS):
        # The name of the field is the model's word and is not repeated.
        raise VerdictRefused(ValidationErrorCode.EXTRA_FIELD, expected=f"no other field than {', '.join(_FIELDS)}")
    return value


def _word(value: JsonValue, words: type[_WordT], field: str) -> _WordT:
    for word in words:
        if word.value == value:
            return word
    expected = f"one of {', '.join(word.value for word in words)}"
    raise VerdictRefused(ValidationErrorCode.INVALID_ENUM, f"/{field}", expected)


def _texts(members: dict[str, JsonValue], name: str) -> tuple[str, ...]:
    value = members[name]
    items = value if isinstance(value, list) else [None]
    texts = tuple(item for item in items if isinstance(item, str) and item.strip())
    if len(texts) != len(items) or len(set(texts)) != len(texts) or len(texts) > MAX_ITEMS:
        expected = f"a list of at most {MAX_ITEMS} different texts"
        raise VerdictRefused(ValidationErrorCode.INVALID_CONTAINER, join(name), expected)
    return texts


def _check_known(claims: tuple[str, ...], missing: tuple[str, ...], candidate: Candidate) -> None:
    for place, step_id in enumerate(missing):
        if step_id not in candidate.evidence_ids:
            expected = "ids of the evidence that was shown"
            raise VerdictRefused(ValidationErrorCode.FOREIGN_EVIDENCE, f"/missingEvidenceIds/{place}", expected)
    for place, claim in enumerate(claims):
        if claim not in candidate.text:
            expected = "parts of the answer, copied word for word"
            raise VerdictRefused(ValidationErrorCode.FOREIGN_CLAIM, f"/unsupportedClaims/{place}", expected)


def _check_agreement(
    status: SemanticStatus, reasons: tuple[ReasonCode, ...], claims: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    """Refuse a status that the lists contradict: which of the two was meant is a guess."""
    has_objections = bool(reasons or claims or missing)
    if (status is SemanticStatus.VALID) == has_objections:
        expected = "empty lists with status valid, at least one reason code with every other status"
        raise VerdictRefused(ValidationErrorCode.CONTRADICTORY, "/status", expected)


def _summary(value: JsonValue) -> str:
    if not isinstance(value, str) or len(value) > MAX_SUMMARY_CHARACTERS:
        expected = f"a text of at most {MAX_SUMMARY_CHARACTERS} characters"
        raise VerdictRefused(ValidationErrorCode.INVALID_CONTAINER, "/summary", expected)
    return value
