"""For how long logs are kept: no time to live loses a run that goes on or waits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from taoloop.loop.app import form_of, retention_of
from taoloop.loop.runlog.retention import Retention
from taoloop.loop.settings import LoopSettings
from taoloop.plan.running import (
    ApprovalRequired,
    EventBody,
    LimitReached,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    RunSummary,
)
from taoloop.plan.task import Outcome

NOW = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)
RETENTION = Retention(ended_seconds=60.0, open_seconds=600.0)


def events(first: int, *bodies: EventBody) -> list[RunEvent]:
    return [
        RunEvent(run_id="r", sequence=first + index, time=NOW, host_epoch=1, body=body)
        for index, body in enumerate(bodies)
    ]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (events(1, RunStarted()), 600.0),
        (events(1, RunStarted(), LimitReached(limit="x")), 600.0),
        (events(2, LimitReached(limit="x")), None),
        (events(5, RunResumed(reason="input")), 600.0),
        (events(5, LimitReached(limit="x"), RunFinished(outcome=Outcome.FAILED)), 60.0),
        (events(5, RunFinished(outcome=Outcome.NEEDS_INPUT)), 600.0),
        (events(5, RunFinished(outcome=Outcome.NEEDS_APPROVAL)), 600.0),
        (events(5, RunFinished(outcome=Outcome.NEEDS_HUMAN)), 600.0),
    ],
)
def test_only_starts_rests_and_resumptions_change_how_long_a_log_is_kept(
    written: list[RunEvent], kept: float | None
) -> None:
    assert RETENTION.after(written) == kept


def test_a_run_that_waits_is_kept_until_after_its_longest_wait() -> None:
    waits = tuple(
        ApprovalRequired(approval_id=str(seconds), expires_at=NOW + timedelta(seconds=seconds))
        for seconds in (100, 5000, 900)
    )
    waiting = RunSummary(run_id="r", outcome=Outcome.NEEDS_APPROVAL, approvals_required=waits)

    assert RETENTION.of(waiting, NOW) == 5060.0


def test_a_run_that_waits_for_no_moment_is_kept_as_long_as_open_ones_are() -> None:
    assert RETENTION.of(RunSummary(run_id="r", outcome=Outcome.NEEDS_INPUT), NOW) == 600.0
    assert RETENTION.of(RunSummary(run_id="r"), NOW) == 600.0
    assert RETENTION.of(RunSummary(run_id="r", outcome=Outcome.ANSWERED), NOW) == 60.0


def test_a_time_that_would_lose_open_runs_is_corrected_and_said(caplog: pytest.LogCaptureFixture) -> None:
    settings = LoopSettings(
        run_retention_seconds=3600.0,
        max_wall_time_seconds=1800.0,
        runs={"open_retention_seconds": 60.0},
    )

    assert retention_of(settings) == Retention(ended_seconds=3600.0, open_seconds=5400.0)
    assert "run_retention_corrected" in caplog.text


def test_a_time_that_loses_nothing_is_taken_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    assert retention_of(LoopSettings()) == Retention(ended_seconds=86_400.0, open_seconds=604_800.0)
    assert not caplog.text


def test_the_log_takes_no_event_that_could_not_be_sent_to_a_caller() -> None:
    settings = LoopSettings(grpc={"max_message_bytes": 128 * 1024})

    assert form_of(settings).max_bytes == 127 * 1024
    assert form_of(LoopSettings()).max_bytes == 4 * 1024 * 1024
