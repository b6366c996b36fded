"""Rules of the circuit breaker."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taoloop.action.policies.breaker import (
    Breaker,
    BreakerClosed,
    BreakerHalfOpened,
    BreakerOpened,
    Permit,
    Refusal,
)
from taoloop.plan.acting import BreakerState
from taoloop.tools.contract import BREAKER_PRESETS, ConsecutiveBreaker, SlidingWindowType, WindowBreaker

ROW = ConsecutiveBreaker(failures=3, open_for_seconds=30.0)
RATES = WindowBreaker(
    failure_rate_threshold=50.0,
    sliding_window_size=4,
    minimum_number_of_calls=4,
    wait_duration_in_open_state_seconds=10.0,
    permitted_number_of_calls_in_half_open_state=2,
    slow_call_rate_threshold=75.0,
    slow_call_duration_threshold_seconds=1.0,
)


def permit(breaker: Breaker, now: float) -> Permit:
    admitted = breaker.admit(now)
    assert isinstance(admitted, Permit)
    return admitted


def opened(rules: ConsecutiveBreaker | WindowBreaker = ROW, now: float = 0.0) -> Breaker:
    breaker = Breaker(rules)
    while breaker.state(now) is BreakerState.CLOSED:
        permit(breaker, now).failed(now, 0.1)
    return breaker


def test_the_presets_are_those_that_were_decided() -> None:
    mesh, strict = BREAKER_PRESETS["mesh"], BREAKER_PRESETS["strict"]
    assert (mesh.failures, mesh.open_for_seconds, mesh.half_open_calls) == (5, 30.0, 1)
    assert (strict.failures, strict.open_for_seconds, strict.half_open_calls) == (3, 60.0, 1)


def test_a_row_of_failures_opens_it() -> None:
    breaker = Breaker(ROW)
    assert [permit(breaker, now).failed(now, 0.1) for now in (0.0, 1.0, 2.0)] == [None, None, BreakerOpened(32.0)]
    assert breaker.state(2.0) is BreakerState.OPEN
    assert breaker.retry_at(2.0) == 32.0
    assert breaker.admit(31.9) == Refusal(32.0)


def test_a_success_between_failures_keeps_it_closed() -> None:
    breaker = Breaker(ROW)
    for _ in range(5):
        permit(breaker, 0).failed(0, 0.1)
        permit(breaker, 0).failed(0, 0.1)
        permit(breaker, 0).succeeded(0, 0.1)
    assert breaker.state(0) is BreakerState.CLOSED
    assert breaker.retry_at(0) is None


def test_an_attempt_without_a_verdict_changes_nothing() -> None:
    breaker = Breaker(ROW)
    for _ in range(2):
        permit(breaker, 0).failed(0, 0.1)
        permit(breaker, 0).released()
    assert repr(breaker) == "Breaker(closed, row of 2)"
    assert permit(breaker, 0).failed(0, 0.1) == BreakerOpened(30.0)


def test_one_probe_passes_when_the_wait_is_over() -> None:
    breaker = opened()
    assert breaker.state(30.0) is BreakerState.HALF_OPEN
    admitted = [breaker.admit(33.0) for _ in range(5)]
    assert [isinstance(one, Permit) for one in admitted] == [True, False, False, False, False]
    probe = admitted[0]
    assert isinstance(probe, Permit)
    assert probe.event == BreakerHalfOpened()
    assert repr(breaker) == "Breaker(half_open, 1 of 1 probes out)"
    assert probe.succeeded(33.1, 0.1) == BreakerClosed()
    assert breaker.state(33.1) is BreakerState.CLOSED


def test_a_failed_probe_opens_it_for_the_whole_time_again() -> None:
    breaker = opened()
    assert permit(breaker, 33.0).failed(33.5, 0.5) == BreakerOpened(63.5)
    assert breaker.admit(40.0) == Refusal(63.5)
    assert repr(breaker) == "Breaker(open until 63.5)"


def test_a_cancelled_probe_gives_its_place_back_once() -> None:
    breaker = opened()
    probe = permit(breaker, 33.0)
    probe.released()
    probe.released()
    assert breaker.state(33.0) is BreakerState.HALF_OPEN
    again = permit(breaker, 33.0)
    assert again.event is None
    assert isinstance(breaker.admit(33.0), Refusal)


def test_a_permit_is_reported_once() -> None:
    breaker = Breaker(ROW)
    given_permit = permit(breaker, 0)
    for _ in range(5):
        given_permit.failed(0, 0.1)
    assert repr(breaker) == "Breaker(closed, row of 1)"


def test_a_report_from_before_a_change_says_nothing_about_the_time_after() -> None:
    breaker = Breaker(ROW)
    late = [permit(breaker, 0) for _ in range(3)]
    for _ in range(3):
        permit(breaker, 0).failed(0, 0.1)
    assert late[0].failed(1.0, 1.0) is None
    assert late[1].succeeded(1.0, 1.0) is None
    probe = permit(breaker, 30.0)
    late[2].released()
    assert isinstance(breaker.admit(30.0), Refusal)
    assert probe.succeeded(30.0, 0.1) == BreakerClosed()


def test_several_probes_must_all_succeed_after_a_row_of_failures() -> None:
    breaker = opened(ConsecutiveBreaker(failures=1, open_for_seconds=1.0, half_open_calls=3))
    probes = [permit(breaker, 1.0) for _ in range(3)]
    assert isinstance(breaker.admit(1.0), Refusal)
    assert [probe.succeeded(1.0, 0.1) for probe in probes] == [None, None, BreakerClosed()]
    again = opened(ConsecutiveBreaker(failures=1, open_for_seconds=1.0, half_open_calls=3))
    assert permit(again, 1.0).failed(1.0, 0.1) == BreakerOpened(2.0)


def test_a_window_waits_for_enough_calls_and_then_opens_at_the_rate() -> None:
    breaker = Breaker(RATES)
    ends = [permit(breaker, 0).failed(0, 0.1), permit(breaker, 0).failed(0, 0.1), permit(breaker, 0).succeeded(0, 0.1)]
    assert ends == [None, None, None]
    assert permit(breaker, 0).succeeded(0, 0.1) == BreakerOpened(10.0)


def test_slow_successes_open_a_window_too() -> None:
    breaker = Breaker(RATES)
    assert permit(breaker, 0).succeeded(0, 0.5) is None
    for _ in range(2):
        assert permit(breaker, 0).succeeded(0, 1.5) is None
    assert permit(breaker, 0).succeeded(0, 1.5) == BreakerOpened(10.0)


def test_a_half_open_window_decides_by_the_rate_of_its_probes() -> None:
    breaker = opened(RATES)
    first, second = permit(breaker, 10.0), permit(breaker, 10.0)
    assert first.failed(10.0, 0.1) is None
    assert isinstance(breaker.admit(10.0), Refusal)
    assert second.succeeded(10.0, 0.1) == BreakerOpened(20.0)
    first, second = permit(breaker, 20.0), permit(breaker, 20.0)
    first.succeeded(20.0, 0.1)
    assert second.succeeded(20.0, 0.1) == BreakerClosed()


def test_a_count_window_never_waits_for_more_calls_than_it_holds() -> None:
    breaker = Breaker(WindowBreaker(sliding_window_size=2, minimum_number_of_calls=100))
    permit(breaker, 0).failed(0, 0.1)
    assert isinstance(permit(breaker, 0).failed(0, 0.1), BreakerOpened)


def test_a_time_window_forgets_old_failures() -> None:
    rules = WindowBreaker(
        sliding_window_type=SlidingWindowType.TIME_BASED, sliding_window_size=10, minimum_number_of_calls=3
    )
    breaker = Breaker(rules)
    for now in (0.0, 1.0, 11.5):
        assert permit(breaker, now).failed(now, 0.1) is None
    assert permit(breaker, 12.0).failed(12.0, 0.1) is None
    assert permit(breaker, 12.5).failed(12.5, 0.1) == BreakerOpened(72.5)


def report(held: Permit, action: str, now: float) -> None:
    if action == "drop":
        held.released()
    else:
        (held.succeeded if action == "ok" else held.failed)(now, 0.1)


@given(
    st.sampled_from(
        [ConsecutiveBreaker(failures=2, open_for_seconds=3.0, half_open_calls=n) for n in (1, 2, 3)] + [RATES]
    ),
    st.lists(st.tuples(st.sampled_from(["admit", "ok", "bad", "drop"]), st.floats(0, 4)), max_size=120),
)
def test_half_open_never_more_attempts_are_out_than_permitted(
    rules: ConsecutiveBreaker | WindowBreaker, actions: list[tuple[str, float]]
) -> None:
    most = rules.half_open_calls if isinstance(rules, ConsecutiveBreaker) else 2
    breaker, now, out = Breaker(rules), 0.0, list[tuple[Permit, int]]()
    period = 0
    for action, pause in actions:
        now += pause
        if action == "admit":
            admitted = breaker.admit(now)
            if isinstance(admitted, Permit):
                period += admitted.event is not None
                out.append((admitted, period if breaker.state(now) is BreakerState.HALF_OPEN else -1))
            else:
                assert admitted.retry_at >= now
        elif out:
            held, _ = out.pop(0)
            report(held, action, now)
        if breaker.state(now) is BreakerState.HALF_OPEN:
            assert sum(stamp == period for _, stamp in out if stamp > 0) <= most
