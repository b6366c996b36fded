"""What is counted, and what is not."""

from __future__ import annotations

import pytest

from loadtest.recorder import CLIENT_FULL, Answered, Failed, Recorder
from taoloop.plan.task import Outcome
from tests.unit.loadtest.arrivals import arrival, task

ANSWERED = Answered(Outcome.ANSWERED)


def test_outcomes_and_errors_are_counted_with_their_latencies() -> None:
    recorder = Recorder()
    for result, seconds in ((ANSWERED, 0.1), (ANSWERED, 0.2), (Failed("QUEUE_FULL"), 0.01)):
        recorder.note_sent(arrival(), 0.0)
        recorder.note_ended(arrival(), result, seconds)

    assert recorder.outcomes == {Outcome.ANSWERED: 2}
    assert recorder.errors == {"QUEUE_FULL": 1}
    assert recorder.latencies.count == 3
    assert recorder.latencies_by_end["answered"].percentiles().max == 0.2
    assert recorder.latencies_by_end["error"].count == 1
    assert recorder.tasks["a"] == {"answered": 2, "QUEUE_FULL": 1}


def test_warm_up_is_in_flight_and_not_counted() -> None:
    recorder = Recorder()
    early = arrival(is_measured=False)
    recorder.note_sent(early, 5.0)

    assert recorder.in_flight == 1

    recorder.note_ended(early, Failed("QUEUE_FULL"), 9.0)
    recorder.note_refused(early)

    assert (recorder.in_flight, recorder.scheduled, recorder.error_count) == (0, 0, 0)
    assert (recorder.latencies.count, recorder.client_lag.count) == (0, 0)


def test_arrival_that_was_not_sent_is_an_error_without_latency() -> None:
    recorder = Recorder()
    recorder.note_refused(arrival())

    assert recorder.errors == {CLIENT_FULL: 1}
    assert (recorder.scheduled, recorder.sent, recorder.latencies.count) == (1, 0, 0)


def test_what_was_sent_and_has_not_ended_is_abandoned() -> None:
    recorder = Recorder()
    recorder.note_sent(arrival(), 0.0)
    recorder.note_sent(arrival(), 0.0)
    recorder.note_ended(arrival(), ANSWERED, 0.1)

    assert recorder.abandoned == 1


def test_peak_is_the_most_that_were_in_flight_together() -> None:
    recorder = Recorder()
    for _ in range(3):
        recorder.note_sent(arrival(), 0.0)
    recorder.note_ended(arrival(), ANSWERED, 0.1)
    recorder.note_sent(arrival(), 0.0)

    assert (recorder.in_flight, recorder.in_flight_peak) == (3, 3)


@pytest.mark.parametrize(
    ("expected", "count"),
    [(frozenset({Outcome.ANSWERED}), 0), (frozenset({Outcome.NO_TOOL}), 1), (frozenset(), 0)],
)
def test_other_outcome_than_expected_is_unexpected(expected: frozenset[Outcome], count: int) -> None:
    recorder = Recorder()
    wanted = arrival(of=task(expected=expected))
    recorder.note_sent(wanted, 0.0)
    recorder.note_ended(wanted, ANSWERED, 0.1)

    assert recorder.unexpected == count
