"""The server's clock is known by what it says, by nothing that this machine's wall clock says."""

from __future__ import annotations

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.testing.clock import FakeClock
from taoloop.thought.queue.server_time import ServerTime


def noted(clock: FakeClock, server_ahead: float = 1000.0, seconds_on_the_way: float = 0.0) -> ServerTime:
    time = ServerTime(clock)
    _note(time, clock, server_ahead, seconds_on_the_way)
    return time


def _note(time: ServerTime, clock: FakeClock, server_ahead: float, on_the_way: float) -> None:
    asked_at = clock.monotonic()
    clock.advance(on_the_way)
    told = asked_at + on_the_way / 2 + server_ahead
    time.note(int(told), round((told % 1) * 1_000_000), asked_at)


def test_nothing_is_known_before_the_server_is_heard_of() -> None:
    time = ServerTime(FakeClock())

    assert not time.is_known
    assert time.age_seconds(b"1-0") == 0.0


def test_a_moment_of_the_server_becomes_a_deadline_and_back() -> None:
    clock = FakeClock()
    time = noted(clock)

    deadline = time.deadline(clock.monotonic() + 1000.0 + 7.0)

    assert deadline.remaining_seconds() == pytest.approx(7.0, abs=1e-3)
    assert time.moment(deadline) == pytest.approx(clock.monotonic() + 1007.0, abs=1e-3)


def test_a_slow_answer_makes_nothing_late() -> None:
    clock = FakeClock()
    time = noted(clock, seconds_on_the_way=4.0)
    server_now = clock.monotonic() + 1000.0

    assert time.deadline(server_now + 5.0).remaining_seconds() <= 5.0
    assert time.moment(Deadline.after(5.0, clock)) <= server_now + 5.0


def test_a_slow_answer_does_not_spoil_what_is_known() -> None:
    clock = FakeClock()
    time = noted(clock)
    _note(time, clock, 1000.0, on_the_way=4.0)

    assert time.deadline(clock.monotonic() + 1005.0).remaining_seconds() == pytest.approx(5.0, abs=1e-3)


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_jump_of_the_servers_clock_is_followed(jump: float) -> None:
    clock = FakeClock()
    time = noted(clock)
    _note(time, clock, 1000.0 + jump, on_the_way=0.0)

    assert time.deadline(clock.monotonic() + 1000.0 + jump + 5.0).remaining_seconds() == pytest.approx(5.0, abs=1e-3)


def test_an_entrys_age_is_told_by_its_id() -> None:
    clock = FakeClock()
    time = noted(clock)
    added_ms = int((clock.monotonic() + 1000.0) * 1000)
    clock.advance(3.0)

    assert time.age_seconds(f"{added_ms}-0".encode()) == pytest.approx(3.0, abs=2e-3)
