"""What an answer is worth once the values are compared and the semantic validator has spoken, or has not."""

from __future__ import annotations

from dataclasses import replace

from taoloop.observation.semantic.model import ValidationRun
from taoloop.plan.answering import (
    CheckAnswerResponse,
    RecoveryMode,
    SemanticStatus,
    Validation,
    ValidationOrigin,
)


def decided(compared: CheckAnswerResponse, run: ValidationRun) -> CheckAnswerResponse:
    """Return the verdict on an answer whose values are compared and whose semantic validator was asked.

    Permission never widens: whatever the validator says or fails to say, the reply permits an effect only if the
    comparison did, and only after a verdict that is valid. A validator that is down lets a grounded answer stand, for
    a person to look at.

    Args:
        compared: The verdict of the comparison.
        run: What came of the validator.
    """
    attempts = sum(not attempt.skipped for attempt in run.attempts)
    is_valid = run.verdict is not None and run.verdict.status is SemanticStatus.VALID
    return replace(
        compared,
        grounded=compared.grounded and (run.verdict is None or is_valid),
        execution_permitted=compared.execution_permitted and compared.grounded and is_valid,
        validation=Validation(
            origin=_origin(compared, run),
            semantic_validation_attempts=attempts,
            validation_error_code=run.error_code,
            attempts=run.attempts,
            verdict=run.verdict,
            recovery_mode=RecoveryMode.MANUAL_REVIEW if run.verdict is None else None,
        ),
    )


def _origin(compared: CheckAnswerResponse, run: ValidationRun) -> ValidationOrigin:
    if run.verdict is not None:
        return ValidationOrigin.LLM_SEMANTIC
    if compared.grounded and any(claim.supported for claim in compared.claims):
        return ValidationOrigin.DETERMINISTIC_GROUNDED_FALLBACK
    return ValidationOrigin.LLM_FAILED
