"""Rules of the times of jobs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from taoloop.action.ports import JobTicket
from taoloop.action.transports.jobs import pace
from taoloop.action.transports.jobs.pace import JobTime, JobTimes
from taoloop.testing.clock import FakeClock
from taoloop.tools.contract import JobState
from tests.unit.action.transports.jobs.job_contracts import FORM


def ticket(clock: FakeClock, age_seconds: float = 0.0, job_id: str = "j-1") -> JobTicket:
    return JobTicket(job_id=job_id, created_at=clock.now() - timedelta(seconds=age_seconds))


def test_a_new_job_is_due_after_a_pause_and_ends_with_its_total() -> None:
    clock = FakeClock()
    clock.advance(100)
    assert JobTimes(clock).of("t", FORM, ticket(clock)) == JobTime(due_at=102.0, ends_at=120.0)


def test_a_job_of_another_process_is_placed_by_its_date() -> None:
    clock = FakeClock()
    clock.advance(100)
    assert JobTimes(clock).of("t", FORM, ticket(clock, 15)) == JobTime(due_at=87.0, ends_at=105.0)


def test_a_date_in_the_future_counts_as_now() -> None:
    clock = FakeClock()
    assert JobTimes(clock).of("t", FORM, ticket(clock, -50)) == JobTime(due_at=2.0, ends_at=20.0)


def test_once_known_a_job_keeps_its_times_whatever_its_date_says() -> None:
    clock = FakeClock()
    times = JobTimes(clock)
    first = times.of("t", FORM, ticket(clock))
    assert times.of("t", FORM, ticket(clock, 1000)) is first
    times.forget("t", "j-1")
    times.forget("t", "j-1")
    assert times.of("t", FORM, ticket(clock, 10)) is not first


def test_a_job_that_was_over_at_its_creation_is_due_at_once() -> None:
    clock = FakeClock()
    over = replace(ticket(clock), state=JobState.SUCCEEDED)
    assert JobTimes(clock).of("t", FORM, over).due_at == 0.0


def test_what_is_remembered_is_bounded() -> None:
    clock = FakeClock()
    times = JobTimes(clock)
    for number in range(pace.MAX_JOBS + 5):
        times.of("t", FORM, ticket(clock, job_id=str(number)))
    assert repr(times) == f"JobTimes(jobs={pace.MAX_JOBS})"
