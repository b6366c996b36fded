"""The report, its JSON form, its doubts and the limits it is held against."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import jsonschema_rs
import pytest

from loadtest.recorder import CLIENT_FULL, Answered, Failed, Recorder
from loadtest.report import Measured, Report, report_json, report_of
from loadtest.schedule import Arrivals, Schedule
from loadtest.summary import progress_of, summary_of
from loadtest.thresholds import Thresholds
from taoloop.plan.task import Outcome
from tests.unit.loadtest.arrivals import arrival, task

SCHEMA = Path(__file__).parents[3] / "loadtest" / "report.schema.json"
SCHEDULE = Schedule(rate_per_second=10.0, warm_up_seconds=1.0, duration_seconds=2.0, arrivals=Arrivals.CONSTANT, seed=7)
MEASURED = Measured(
    address="127.0.0.1:7701",
    tasks_file="mix.yaml",
    started_at=datetime(2026, 3, 10, 8, 0, tzinfo=UTC),
    measured_seconds=2.0,
    drain_seconds=0.0,
    client_cpu_share=0.1,
    is_interrupted=False,
    max_in_flight=100,
)


def recorder_of(*, answered: int = 19, failed: int = 1, lag_seconds: float = 0.0) -> Recorder:
    recorder = Recorder()
    for number in range(answered + failed):
        result = Answered(Outcome.ANSWERED) if number < answered else Failed("QUEUE_FULL")
        recorder.note_sent(arrival(), lag_seconds)
        recorder.note_ended(arrival(), result, 0.100)
    return recorder


def report(recorder: Recorder | None = None, measured: Measured = MEASURED) -> Report:
    return report_of(recorder or recorder_of(), SCHEDULE, measured)


def test_shares_are_of_all_measured_arrivals() -> None:
    found = report()

    assert found.error_share == pytest.approx(0.05)
    assert found.share(found.outcomes["answered"]) == pytest.approx(0.95)


def test_rates_are_of_the_measured_time() -> None:
    found = report(measured=replace(MEASURED, drain_seconds=0.5))

    assert (found.sent_rate, found.ended_rate) == (10.0, 8.0)


def test_sound_test_has_no_doubts() -> None:
    assert report().doubts == ()


@pytest.mark.parametrize(
    ("recorder", "measured", "word"),
    [
        (recorder_of(lag_seconds=0.011), MEASURED, "sent late"),
        (recorder_of(), replace(MEASURED, client_cpu_share=0.9), "busy"),
        (recorder_of(answered=5, failed=0), MEASURED, "only 2.5 of 10"),
    ],
)
def test_figures_that_tell_of_the_client_are_doubted(recorder: Recorder, measured: Measured, word: str) -> None:
    (doubt,) = report(recorder, measured).doubts

    assert word in doubt


def test_arrivals_that_were_not_sent_are_a_doubt() -> None:
    recorder = recorder_of()
    recorder.note_refused(arrival())

    assert any("100 were in flight" in doubt for doubt in report(recorder).doubts)


def test_lag_below_a_tenth_of_the_latency_is_not_doubted() -> None:
    assert report(recorder_of(lag_seconds=0.009)).doubts == ()


@pytest.mark.parametrize("recorder", [recorder_of(), Recorder()])
def test_json_form_keeps_its_schema(recorder: Recorder) -> None:
    recorder.note_refused(arrival())
    written = json.loads(json.dumps(report_json(report(recorder), ("p99 is above",))))

    jsonschema_rs.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")), validate_formats=True).validate(written)


def test_json_schema_describes_every_field() -> None:
    written = report_json(report(), ())

    assert set(json.loads(SCHEMA.read_text("utf-8"))["properties"]) == set(written)


@pytest.mark.parametrize(
    ("thresholds", "words"),
    [
        (Thresholds(), ()),
        (Thresholds(max_error_share=0.05, max_p99_seconds=0.102), ()),
        (Thresholds(max_error_share=0.049), ("error share 0.05 is above 0.049",)),
        (Thresholds(max_p99_seconds=0.05), ("p99 99.76 ms is above 50 ms",)),
        (Thresholds(max_unexpected_share=0.0), ()),
    ],
)
def test_limit_is_broken_above_its_value(thresholds: Thresholds, words: tuple[str, ...]) -> None:
    assert thresholds.broken_by(report()) == words


def test_unexpected_outcomes_are_held_against_their_limit() -> None:
    recorder = Recorder()
    wanted = arrival(of=task(expected=frozenset({Outcome.NO_TOOL})))
    recorder.note_sent(wanted, 0.0)
    recorder.note_ended(wanted, Answered(Outcome.ANSWERED), 0.1)

    assert Thresholds(max_unexpected_share=0.5).broken_by(report(recorder)) == ("unexpected share 1 is above 0.5",)


def test_test_without_an_ended_call_keeps_no_limit() -> None:
    assert Thresholds(max_p99_seconds=1.0).broken_by(report(Recorder())) == ("p99: no call ended",)


def test_summary_shows_outcomes_errors_doubts_and_broken_limits() -> None:
    recorder = recorder_of(lag_seconds=0.05)
    recorder.note_refused(arrival())
    text = summary_of(report(recorder), ("p99 100 ms is above 50 ms",))

    for part in ("answered", "QUEUE_FULL", CLIENT_FULL, "DO NOT TRUST", "BROKEN", "p99.9"):
        assert part in text


def test_progress_shows_what_is_under_way() -> None:
    recorder = recorder_of()
    recorder.note_sent(arrival(), 0.0)

    assert progress_of(recorder, 1.0, 3.0) == "   1 of 3 s  21 sent  20 ended  1 in flight  p99 100 ms  1 errors"
