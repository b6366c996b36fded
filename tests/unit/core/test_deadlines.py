"""Rules of deadlines."""

from datetime import UTC, datetime, timedelta

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline

START = datetime(2026, 3, 1, tzinfo=UTC)


class _ManualClock(SystemClock):
    def __init__(self) -> None:
        self.seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds - 100.0)


def test_a_deadline_shrinks_and_never_goes_below_zero() -> None:
    clock = _ManualClock()
    deadline = Deadline.after(5.0, clock)
    clock.seconds += 3
    assert deadline.remaining_seconds() == 2.0
    expiries = [deadline.is_expired]
    clock.seconds += 2
    expiries.append(deadline.is_expired)
    assert expiries == [False, True]
    clock.seconds += 10
    assert deadline.remaining_seconds() == 0.0


def test_a_step_gets_the_smaller_of_its_limit_and_what_is_left() -> None:
    deadline = Deadline.at(103.0, _ManualClock())
    assert deadline.bounded(1.0) == 1.0
    assert deadline.bounded(9.0) == 3.0
    assert deadline.bounded(-1.0) == 0.0


def test_a_shortened_deadline_is_never_later() -> None:
    deadline = Deadline.after(3.0, _ManualClock())
    assert deadline.shortened(1.0).remaining_seconds() == 1.0
    assert deadline.shortened(9.0).remaining_seconds() == 3.0


def test_a_deadline_travels_as_a_moment() -> None:
    here, there = _ManualClock(), _ManualClock()
    there.seconds += 1
    moment = Deadline.after(5.0, here).moment()
    assert moment == START + timedelta(seconds=5)
    assert Deadline.until(moment, there).remaining_seconds() == pytest.approx(4.0)
