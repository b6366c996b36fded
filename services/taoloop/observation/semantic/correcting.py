"""Attempts to get a verdict: a reply out of form is asked for again, as often as allowed and as time permits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.observation.semantic.model import (
    Complaint,
    ValidationErrorCode,
    ValidationRun,
    ValidatorUnavailable,
    VerdictRefused,
)
from taoloop.plan.answering import SemanticVerdict, ValidationAttempt

SCHEDULING_MARGIN_SECONDS: Final = 0.5
"""What must remain beside the validator's own timeout before it is asked once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionPolicy:
    """How often, and how late, a validator is asked again.

    Attributes:
        max_corrections: Most repeats after a reply out of form; a validator that gives no reply is never asked again.
        timeout_seconds: The validator's own timeout.
        model: The model's name, for the audit.
    """

    max_corrections: int = 1
    timeout_seconds: float = 10.0
    model: str = ""

    def has_time(self, deadline: Deadline) -> bool:
        """Whether one more attempt may begin."""
        return deadline.remaining_seconds() >= self.timeout_seconds + SCHEDULING_MARGIN_SECONDS


Ask = Callable[[Complaint | None], Awaitable[SemanticVerdict]]
"""Asks once, with what was wrong with the reply before; raises VerdictRefused or ValidatorUnavailable."""


async def validated(ask: Ask, policy: CorrectionPolicy, deadline: Deadline, clock: Clock) -> ValidationRun:
    """Ask until there is a verdict, a failure that no correction helps against, or no correction left.

    The first attempt is made with whatever time there is; the caller's deadline bounds it.
    """
    attempts: list[ValidationAttempt] = []
    complaint: Complaint | None = None
    for number in range(1, policy.max_corrections + 2):
        if complaint is not None and not policy.has_time(deadline):
            code = ValidationErrorCode.RETRY_SKIPPED_INSUFFICIENT_DEADLINE
            attempts.append(ValidationAttempt(number=number, error_code=code.value, model=policy.model, skipped=True))
            return ValidationRun(error_code=code.value, attempts=tuple(attempts))
        started = clock.monotonic()
        verdict: SemanticVerdict | None = None
        failure: ValidationErrorCode | None = None
        try:
            verdict = await ask(complaint)
        except VerdictRefused as refused:
            complaint = refused.complaint
            failure = complaint.code
        except ValidatorUnavailable as unavailable:
            complaint = None
            failure = unavailable.code
        attempts.append(
            ValidationAttempt(
                number=number,
                error_code="" if failure is None else failure.value,
                duration_seconds=clock.monotonic() - started,
                model=policy.model,
                field="" if complaint is None or failure is None else complaint.field,
            )
        )
        if verdict is not None:
            return ValidationRun(verdict=verdict, attempts=tuple(attempts))
        if complaint is None and failure is not None:
            return ValidationRun(error_code=failure.value, attempts=tuple(attempts))
    return ValidationRun(error_code=ValidationErrorCode.CORRECTION_EXHAUSTED.value, attempts=tuple(attempts))
