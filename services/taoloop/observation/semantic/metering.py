"""The check of an answer in a span, counted by verdict, by claim, by attempt and by the limit that bit."""

from __future__ import annotations

from opentelemetry.trace import Span

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.names import (
    ANSWER_CHECK_DURATION,
    ANSWER_CLAIMS,
    ANSWER_REFUSED,
    ANSWERS_CHECKED,
    VALIDATION_ATTEMPTS,
    Attribute,
    answer_span,
)
from taoloop.observation.grounding.checking import refused
from taoloop.observation.grounding.model import GroundingLimits
from taoloop.observation.semantic.answer_checker import AnswerChecker
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse, Validation


class MeteredAnswerChecker:
    """Checks like the checker inside it, and tells of it; the text and the evidence stay out.

    Args:
        checker: Checks.
        telemetry: Where it is told.
        clock: Measures.
    """

    def __init__(self, checker: AnswerChecker, telemetry: Telemetry, clock: Clock) -> None:
        self._checker = checker
        self._clock = clock
        self._tracing = telemetry.tracing
        self._checked = telemetry.metrics.counter(ANSWERS_CHECKED)
        self._claims = telemetry.metrics.counter(ANSWER_CLAIMS)
        self._refused = telemetry.metrics.counter(ANSWER_REFUSED)
        self._attempts = telemetry.metrics.counter(VALIDATION_ATTEMPTS)
        self._duration = telemetry.metrics.histogram(ANSWER_CHECK_DURATION)

    @property
    def limits(self) -> GroundingLimits:
        """What one comparison may cost."""
        return self._checker.limits

    async def check(
        self, request: CheckAnswerRequest, deadline: Deadline, *, is_large: bool = False
    ) -> CheckAnswerResponse:
        """See `AnswerChecker.check`."""
        started = self._clock.monotonic()
        with self._tracing.span(answer_span()) as span:
            response = await self._checker.check(request, deadline, is_large=is_large)
            _describe(span, response)
        self._duration.observe(self._clock.monotonic() - started)
        self._count(response)
        return response

    def refuse_evidence(self) -> CheckAnswerResponse:
        """Return the reply to evidence that is too large to be read at all."""
        limit = self._checker.limits.max_evidence_bytes
        response = refused(FaultCode.EVIDENCE_TOO_LARGE, "bytes of evidence", None, limit)
        self._count(response)
        return response

    def _count(self, response: CheckAnswerResponse) -> None:
        validation = response.validation or Validation()
        origin = validation.origin.value if validation.origin is not None else ""
        self._checked.labels("true" if response.grounded else "false", origin).inc()
        for claim in response.claims:
            if claim.kind is not None and claim.reason is not None:
                self._claims.labels(claim.kind.value, claim.reason.value).inc()
        if response.fault is not None:
            self._refused.labels(response.fault.code.lower()).inc()
        for attempt in validation.attempts:
            self._attempts.labels(attempt.error_code or "verdict").inc()

    def __repr__(self) -> str:
        return f"MeteredAnswerChecker({self._checker!r})"


def _describe(span: Span, response: CheckAnswerResponse) -> None:
    if not span.is_recording():
        return
    validation = response.validation or Validation()
    span.set_attribute(Attribute.ANSWER_GROUNDED, response.grounded)
    span.set_attribute(Attribute.ANSWER_CLAIMS, len(response.claims))
    span.set_attribute(Attribute.ANSWER_UNSUPPORTED, sum(not claim.supported for claim in response.claims))
    if validation.origin is not None:
        span.set_attribute(Attribute.VALIDATION_ORIGIN, validation.origin.value)
    span.set_attribute(Attribute.VALIDATION_ATTEMPTS, validation.semantic_validation_attempts)
    if validation.validation_error_code:
        span.set_attribute(Attribute.VALIDATION_ERROR_CODE, validation.validation_error_code)
    if response.fault is not None:
        span.set_attribute(Attribute.FAULT_CODE, response.fault.code)
        span.set_attribute(Attribute.FAULT_STAGE, response.fault.stage)
