"""An answer compared with its evidence: every claim with its support, in time linear in both."""

from __future__ import annotations

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.observation.grounding.candidates import Candidates
from taoloop.observation.grounding.evidence import EvidenceIndex, EvidenceTooLarge, index_evidence
from taoloop.observation.grounding.extracting import extract
from taoloop.observation.grounding.matching import Matcher, Support
from taoloop.observation.grounding.model import GroundingLimits, Mention
from taoloop.observation.grounding.reading import Reading
from taoloop.plan.answering import (
    CheckAnswerRequest,
    CheckAnswerResponse,
    Claim,
    ClaimKind,
    ClaimReason,
    Validation,
    ValidationOrigin,
)

_SUPPORTED = frozenset(
    {ClaimReason.SAME_VALUE, ClaimReason.UNIT_NOT_STATED, ClaimReason.ITEM_COUNT, ClaimReason.WITHIN_PERIOD}
)
_DEFAULT_LIMITS = GroundingLimits()


def check_answer(request: CheckAnswerRequest, limits: GroundingLimits = _DEFAULT_LIMITS) -> CheckAnswerResponse:
    """Compare the values of an answer with those of the evidence; no request makes it raise.

    A value is supported by the same value in any form; a rounded or a computed one is another value. What is above
    a limit is not compared: the reply then has a fault, no claim, and is not grounded.

    Args:
        request: The answer and its evidence.
        limits: What the check may cost.
    """
    if len(request.text) > limits.max_characters:
        return refused(FaultCode.ANSWER_TOO_LARGE, "characters", len(request.text), limits.max_characters)
    reading = Reading.of(request.locale, request.time_zone)
    try:
        index = index_evidence(request.evidence, reading, limits)
    except EvidenceTooLarge as above:
        return refused(FaultCode.EVIDENCE_TOO_LARGE, above.what, None, above.limit)
    mentions = [one for one in extract(request.text, reading, index.names) if not _is_heading(one, index)]
    if len(mentions) > limits.max_claims:
        return refused(FaultCode.ANSWER_TOO_LARGE, "claims", len(mentions), limits.max_claims)
    claims = _claims(request.text, mentions, index)
    is_grounded = all(claim.supported for claim in claims)
    return CheckAnswerResponse(
        grounded=is_grounded,
        claims=claims,
        validation=Validation(origin=ValidationOrigin.DETERMINISTIC),
        execution_permitted=request.execution_permitted and is_grounded,
    )


def refused(code: FaultCode, what: str, count: int | None, limit: int) -> CheckAnswerResponse:
    """Return the reply to an answer that is not compared, since it or its evidence is above a limit."""
    has = f"more than {limit}" if count is None else str(count)
    fault = Fault(
        code,
        FaultStage.ANSWER,
        f"The answer was not checked: it has {has} {what}, and at most {limit} are compared.",
        expected=limit,
        suggestion=code.remedy,
    )
    return CheckAnswerResponse(fault=fault, validation=Validation(origin=ValidationOrigin.DETERMINISTIC))


def _is_heading(mention: Mention, index: EvidenceIndex) -> bool:
    """Whether a name is made of the words of the evidence's own fields, as in `Order Status: shipped`."""
    if mention.kind is not ClaimKind.NAME or mention.normalised in index.names:
        return False
    return all(word in index.field_words for word in mention.normalised.split())


def _claims(text: str, mentions: list[Mention], index: EvidenceIndex) -> tuple[Claim, ...]:
    matcher, candidates = Matcher(index), Candidates(index)
    return tuple(_claim(text, mention, matcher.support(mention), candidates) for mention in mentions)


def _claim(text: str, mention: Mention, support: Support, candidates: Candidates) -> Claim:
    is_supported = support.reason in _SUPPORTED
    candidate = None if is_supported else candidates.nearest(mention)
    return Claim(
        text=text[mention.start : mention.end],
        start=mention.start,
        end=mention.end,
        supported=is_supported,
        step_id=support.node.step_id if support.node is not None else "",
        pointer=support.node.pointer if support.node is not None else "",
        kind=mention.kind,
        normalised=mention.normalised,
        reason=support.reason,
        candidate=candidate[0] if candidate is not None else "",
        candidate_step_id=candidate[1].step_id if candidate is not None else "",
        candidate_pointer=candidate[1].pointer if candidate is not None else "",
    )
