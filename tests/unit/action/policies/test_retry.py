"""Rules of repeating a failed attempt."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.action.policies.retry import (
    LEAST_ATTEMPT_SECONDS,
    READ_DEFAULT,
    Failure,
    Moment,
    Pause,
    RetryPolicy,
    Stop,
    StopReason,
    backoff_seconds,
)
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import Idempotency, Jitter, KeyLocation, Retry, ToolContract
from taoloop.tools.signature import Effect
from tests.unit.action import contracts

LOOK_UP = replace(contracts.LOOK_UP, retry=None)
CHANGE = replace(contracts.CHANGE, retry=None)
PATIENT = Retry(attempts=3, backoff_seconds=0.2, jitter=Jitter.NONE)
KEY = Idempotency(location=KeyLocation.HEADER, name="Idempotency-Key")
SLOW = Failure(kind="timeout", code=FaultCode.TOOL_TIMEOUT, can_heal=True)
UNAVAILABLE = Failure(kind="503", code=FaultCode.UPSTREAM_UNAVAILABLE, can_heal=True)
DOWN = Failure(kind="connect", code=FaultCode.TOOL_UNREACHABLE, can_heal=True, may_have_left=False)
FIRST = Moment(attempt=1, now=0.0, elapsed_seconds=0.1, left_seconds=10.0)


def decide(contract: ToolContract, failure: Failure, **moment: Any) -> Pause | Stop:
    return RetryPolicy(contract, 0.0).decide(failure, replace(FIRST, **moment), Random(1))


def patient(contract: ToolContract, **changes: Any) -> ToolContract:
    return replace(contract, **{"retry": PATIENT, **changes})


@pytest.mark.parametrize("failure", [SLOW, UNAVAILABLE, DOWN])
def test_a_read_is_repeated_and_the_reason_is_told(failure: Failure) -> None:
    assert decide(patient(LOOK_UP), failure) == Pause(0.2, failure.kind)
    assert decide(patient(LOOK_UP), failure, attempt=2) == Pause(0.4, failure.kind)
    assert decide(patient(LOOK_UP), failure, attempt=3) == Stop(StopReason.ATTEMPTS)


def test_without_rules_a_read_is_repeated_once_within_200_ms_and_a_write_never() -> None:
    pause = decide(LOOK_UP, SLOW)
    assert isinstance(pause, Pause)
    assert 0.0 <= pause.seconds <= 0.2
    assert decide(LOOK_UP, SLOW, attempt=2) == Stop(StopReason.ATTEMPTS)
    assert decide(CHANGE, DOWN) == Stop(StopReason.ATTEMPTS)
    assert repr(RetryPolicy(LOOK_UP, 0.0)).startswith("RetryPolicy(attempts=2, RetryBudget(10.0 of 10")


@pytest.mark.parametrize(
    ("contract", "failure", "expected"),
    [
        (patient(LOOK_UP), replace(UNAVAILABLE, can_heal=False), StopReason.CANNOT_HEAL),
        (patient(LOOK_UP, retry=replace(PATIENT, never=frozenset({"TOOL_TIMEOUT"}))), SLOW, StopReason.CANNOT_HEAL),
        (patient(LOOK_UP, retry=replace(PATIENT, on=frozenset({"timeout"}))), UNAVAILABLE, StopReason.NOT_LISTED),
        (patient(LOOK_UP), replace(UNAVAILABLE, kind="500"), StopReason.NOT_LISTED),
        (patient(LOOK_UP), replace(UNAVAILABLE, kind=""), StopReason.NOT_LISTED),
        (patient(CHANGE), SLOW, StopReason.WRITE),
        (patient(CHANGE), UNAVAILABLE, StopReason.WRITE),
        (patient(CHANGE, idempotency=replace(KEY, ttl_seconds=0.3)), SLOW, StopReason.WRITE),
    ],
)
def test_what_would_not_help_or_could_harm_is_not_repeated(
    contract: ToolContract, failure: Failure, expected: StopReason
) -> None:
    assert decide(contract, failure) == Stop(expected)


@pytest.mark.parametrize(
    ("contract", "failure"),
    [
        (patient(CHANGE), DOWN),
        (patient(CHANGE, idempotency=KEY), SLOW),
        (patient(CHANGE, idempotency=replace(KEY, ttl_seconds=0.31)), SLOW),
        (patient(CHANGE, effect=Effect.IDEMPOTENT_WRITE), SLOW),
    ],
)
def test_a_write_is_repeated_only_where_it_does_no_more(contract: ToolContract, failure: Failure) -> None:
    assert isinstance(decide(contract, failure), Pause)


def test_a_failure_that_the_contract_declares_needs_no_listing() -> None:
    locked = Failure(kind="409", code="THING_LOCKED", can_heal=True, is_declared=True)
    assert decide(patient(LOOK_UP), locked) == Pause(0.2, "409")
    assert decide(patient(LOOK_UP), replace(locked, kind="")) == Pause(0.2, "THING_LOCKED")


def test_the_tool_s_wish_is_kept_when_it_fits_and_else_no_attempt_follows() -> None:
    limited = Failure(kind="429", code=FaultCode.RATE_LIMITED, can_heal=True, retry_after_seconds=3.0)
    assert decide(patient(LOOK_UP), limited) == Pause(3.0, "429")
    assert decide(patient(LOOK_UP), limited, left_seconds=3.01) == Stop(StopReason.DEADLINE)
    assert decide(patient(LOOK_UP), replace(limited, retry_after_seconds=0.0)) == Pause(0.2, "429")


def test_no_attempt_is_begun_without_time_for_it() -> None:
    assert decide(patient(LOOK_UP), SLOW, left_seconds=0.2 + LEAST_ATTEMPT_SECONDS) == Pause(0.2, "timeout")
    assert decide(patient(LOOK_UP), SLOW, left_seconds=0.24) == Stop(StopReason.DEADLINE)
    quick = patient(LOOK_UP, timeout_seconds=0.01)
    assert isinstance(decide(quick, SLOW, left_seconds=0.215), Pause)


def test_a_storm_ends_at_the_budget_which_refusals_do_not_touch() -> None:
    policy = RetryPolicy(patient(LOOK_UP), 0.0)
    late = replace(FIRST, left_seconds=0.0)
    assert {policy.decide(SLOW, late, Random(1)) for _ in range(50)} == {Stop(StopReason.DEADLINE)}
    decisions = [policy.decide(SLOW, FIRST, Random(1)) for _ in range(15)]
    assert decisions.count(Stop(StopReason.BUDGET)) == 5


def test_the_pause_grows_to_its_limit_and_never_overflows() -> None:
    rules = Retry(attempts=10, backoff_seconds=0.5, max_backoff_seconds=8.0, jitter=Jitter.NONE)
    assert [backoff_seconds(rules, attempt, Random(1)) for attempt in range(1, 8)] == [0.5, 1, 2, 4, 8, 8, 8]
    assert backoff_seconds(replace(rules, multiplier=1000.0), 10_000, Random(1)) == 8.0


@given(st.integers(0, 2**32), st.integers(1, 20))
def test_full_jitter_stays_between_zero_and_the_limit(seed: int, attempt: int) -> None:
    rules = replace(READ_DEFAULT, max_backoff_seconds=3.0)
    assert 0.0 <= backoff_seconds(rules, attempt, Random(seed)) <= min(3.0, 0.2 * 2 ** (attempt - 1))


def test_clients_that_failed_together_come_back_apart() -> None:
    rules = Retry(attempts=6, backoff_seconds=0.5, max_backoff_seconds=8.0)
    assert len({backoff_seconds(rules, 1, Random(client)) for client in range(20)}) == 20
