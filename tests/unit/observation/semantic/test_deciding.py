"""Whatever a validator says or fails to say, permission never widens."""

from hypothesis import given
from hypothesis import strategies as st

from taoloop.observation.semantic.deciding import decided
from taoloop.observation.semantic.model import ValidationErrorCode, ValidationRun
from taoloop.plan.answering import (
    CheckAnswerResponse,
    Claim,
    RecoveryMode,
    SemanticStatus,
    SemanticVerdict,
    ValidationAttempt,
    ValidationOrigin,
)

CODES = [code.value for code in ValidationErrorCode]
ATTEMPTS = st.lists(
    st.builds(
        ValidationAttempt, number=st.integers(1, 5), error_code=st.sampled_from(["", *CODES]), skipped=st.booleans()
    ),
    max_size=5,
).map(tuple)
VERDICTS = st.none() | st.builds(SemanticVerdict, status=st.sampled_from(SemanticStatus))
RUNS = st.builds(ValidationRun, verdict=VERDICTS, error_code=st.sampled_from(["", *CODES]), attempts=ATTEMPTS)
CLAIMS = st.lists(st.builds(Claim, supported=st.booleans()), max_size=4).map(tuple)
COMPARED = st.builds(CheckAnswerResponse, grounded=st.booleans(), claims=CLAIMS, execution_permitted=st.booleans())


@given(COMPARED, RUNS)
def test_permission_never_widens(compared: CheckAnswerResponse, run: ValidationRun) -> None:
    reply = decided(compared, run)
    assert reply.execution_permitted <= compared.execution_permitted
    assert reply.grounded <= compared.grounded
    assert not reply.execution_permitted or reply.grounded


@given(COMPARED, RUNS)
def test_without_a_valid_verdict_nothing_is_permitted(compared: CheckAnswerResponse, run: ValidationRun) -> None:
    reply = decided(compared, run)
    if run.verdict is None or run.verdict.status is not SemanticStatus.VALID:
        assert not reply.execution_permitted


@given(COMPARED, RUNS)
def test_without_a_verdict_a_person_looks_at_it(compared: CheckAnswerResponse, run: ValidationRun) -> None:
    validation = decided(compared, run).validation
    assert validation is not None
    assert (validation.recovery_mode is RecoveryMode.MANUAL_REVIEW) == (run.verdict is None)


@given(COMPARED, RUNS)
def test_the_whole_history_is_kept(compared: CheckAnswerResponse, run: ValidationRun) -> None:
    validation = decided(compared, run).validation
    assert validation is not None
    assert validation.attempts == run.attempts
    assert validation.validation_error_code == run.error_code
    assert validation.semantic_validation_attempts == sum(not one.skipped for one in run.attempts)


def origin(compared: CheckAnswerResponse, verdict: SemanticVerdict | None) -> ValidationOrigin | None:
    validation = decided(compared, ValidationRun(verdict=verdict, error_code="" if verdict else "timeout")).validation
    return None if validation is None else validation.origin


SUPPORTED = CheckAnswerResponse(grounded=True, claims=(Claim(supported=True),), execution_permitted=True)


def test_a_validator_that_is_down_leaves_a_grounded_answer_standing() -> None:
    reply = decided(SUPPORTED, ValidationRun(error_code="timeout"))
    assert (reply.grounded, reply.execution_permitted) == (True, False)
    assert origin(SUPPORTED, None) is ValidationOrigin.DETERMINISTIC_GROUNDED_FALLBACK


def test_with_nothing_to_compare_the_validator_has_failed() -> None:
    assert origin(CheckAnswerResponse(grounded=True), None) is ValidationOrigin.LLM_FAILED


def test_a_verdict_is_the_origin_whatever_it_says() -> None:
    for status in SemanticStatus:
        assert origin(SUPPORTED, SemanticVerdict(status=status)) is ValidationOrigin.LLM_SEMANTIC


def test_a_valid_verdict_keeps_what_was_permitted() -> None:
    reply = decided(SUPPORTED, ValidationRun(verdict=SemanticVerdict(status=SemanticStatus.VALID)))
    assert (reply.grounded, reply.execution_permitted) == (True, True)


def test_an_objection_makes_the_answer_ungrounded() -> None:
    reply = decided(SUPPORTED, ValidationRun(verdict=SemanticVerdict(status=SemanticStatus.INSUFFICIENT_EVIDENCE)))
    assert (reply.grounded, reply.execution_permitted) == (False, False)
