"""A validator is asked again as often as allowed and as time permits."""

from taoloop.core.deadlines import Deadline
from taoloop.observation.semantic.correcting import Ask, CorrectionPolicy, validated
from taoloop.observation.semantic.model import (
    Complaint,
    ValidationErrorCode,
    ValidatorUnavailable,
    VerdictRefused,
)
from taoloop.plan.answering import SemanticStatus, SemanticVerdict
from taoloop.testing.clock import FakeClock

POLICY = CorrectionPolicy(max_corrections=2, timeout_seconds=10.0, model="small")
VERDICT = SemanticVerdict(status=SemanticStatus.VALID)
MISSING = VerdictRefused(ValidationErrorCode.MISSING_FIELD, "/status", "the fields")
FOREIGN = VerdictRefused(ValidationErrorCode.FOREIGN_EVIDENCE, "/missingEvidenceIds/0", "ids")


class Script:
    """Gives one outcome after the other, each after some time."""

    def __init__(self, clock: FakeClock, *outcomes: SemanticVerdict | Exception, seconds: float = 1.0) -> None:
        self._clock = clock
        self._outcomes = list(outcomes)
        self._seconds = seconds
        self.complaints: list[Complaint | None] = []

    async def ask(self, complaint: Complaint | None) -> SemanticVerdict:
        self.complaints.append(complaint)
        self._clock.advance(self._seconds)
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def test_the_port_of_an_attempt_is_a_function() -> None:
    ask: Ask = Script(FakeClock()).ask
    assert callable(ask)


async def test_the_first_verdict_ends_the_attempts() -> None:
    clock = FakeClock()
    script = Script(clock, VERDICT)
    run = await validated(script.ask, POLICY, Deadline.after(60.0, clock), clock)
    assert (run.verdict, run.error_code) == (VERDICT, "")
    assert [(one.number, one.error_code, one.duration_seconds, one.model) for one in run.attempts] == [
        (1, "", 1.0, "small")
    ]


async def test_a_correction_is_told_what_was_wrong_and_the_history_keeps_both() -> None:
    clock = FakeClock()
    script = Script(clock, MISSING, VERDICT)
    run = await validated(script.ask, POLICY, Deadline.after(60.0, clock), clock)
    assert run.verdict == VERDICT
    assert [one.error_code for one in run.attempts] == ["missing_field", ""]
    assert run.attempts[0].field == "/status"
    assert script.complaints == [None, MISSING.complaint]


async def test_replies_that_stay_out_of_form_exhaust_the_corrections() -> None:
    clock = FakeClock()
    script = Script(clock, MISSING, FOREIGN, MISSING, VERDICT)
    run = await validated(script.ask, POLICY, Deadline.after(60.0, clock), clock)
    assert (run.verdict, run.error_code) == (None, "correction_exhausted")
    assert [one.error_code for one in run.attempts] == ["missing_field", "foreign_evidence", "missing_field"]


async def test_a_model_that_does_not_reply_is_not_asked_again() -> None:
    clock = FakeClock()
    script = Script(clock, MISSING, ValidatorUnavailable(ValidationErrorCode.TIMEOUT), VERDICT)
    run = await validated(script.ask, POLICY, Deadline.after(60.0, clock), clock)
    assert run.error_code == "timeout"
    assert [one.error_code for one in run.attempts] == ["missing_field", "timeout"]


async def test_a_correction_without_time_is_skipped_and_said_so() -> None:
    clock = FakeClock()
    script = Script(clock, MISSING, VERDICT, seconds=2.0)
    run = await validated(script.ask, POLICY, Deadline.after(12.4, clock), clock)  # 10.4 s remain, 10.5 s are needed
    assert run.error_code == "retry_skipped_insufficient_deadline"
    assert [(one.number, one.skipped) for one in run.attempts] == [(1, False), (2, True)]
    assert len(script.complaints) == 1


async def test_a_correction_with_just_enough_time_is_made() -> None:
    clock = FakeClock()
    script = Script(clock, MISSING, VERDICT, seconds=2.0)
    run = await validated(script.ask, POLICY, Deadline.after(12.5, clock), clock)
    assert run.verdict == VERDICT
