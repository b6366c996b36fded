"""Rules of the attempt loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionStatus, ServedBy
from taoloop.testing.clock import FakeClock
from taoloop.testing.transport import Answer, json_reply
from taoloop.tools.contract import (
    Empty,
    Retry,
    ToolContract,
)
from tests.unit.action.attempting import BUSY, CUT, DOWN, KEY, OK, ROW, SLOW, ended, said
from tests.unit.action.calls import THRICE, TWICE, LoopBench, contract
from tests.unit.action.contracts import CHANGE, LOOK_UP


async def test_a_good_answer_takes_one_attempt() -> None:
    bench = LoopBench(contract(retry=THRICE), [OK])
    outcome = await bench.run()
    assert ended(outcome) == (ActionStatus.SUCCEEDED, "")
    assert (outcome.parsed, outcome.status_code, outcome.served_by) == ({"id": 1}, 200, ServedBy.PRIMARY)
    assert [(made.outcome, made.code, made.wait_before_seconds) for made in outcome.attempts] == [
        ("answered", 200, None)
    ]
    assert 'taoloop_action_attempts_total{outcome="answered",tool="look_up"} 1.0' in bench.shown()


async def test_an_answer_with_a_credential_of_ours_is_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    bench = LoopBench(contract(), [replace(OK, has_masked=True)])
    await bench.run()
    assert 'taoloop_secrets_masked_total{tool="look_up"} 1.0' in bench.shown()
    assert [record.message for record in caplog.records] == ["secret_masked"]


@pytest.mark.parametrize(
    ("answer", "name", "reason"),
    [
        (SLOW, "TOOL_TIMEOUT", "timeout"),
        (DOWN, "TOOL_UNREACHABLE", "connect"),
        (CUT, "RESPONSE_INCOMPLETE", "reset"),
        (BUSY, "answered", "503"),
        (json_reply({}, 429), "answered", "429"),
        (json_reply({}, 409), "answered", "409"),  # the contract's own THING_LOCKED
    ],
)
async def test_a_read_whose_failure_can_heal_is_made_again(answer: Answer, name: str, reason: str) -> None:
    bench = LoopBench(contract(retry=TWICE), [answer, OK])
    outcome = await bench.run()
    assert ended(outcome) == (ActionStatus.SUCCEEDED, "")
    assert [(made.outcome, made.wait_before_seconds) for made in outcome.attempts] == [(name, None), ("answered", 0.2)]
    assert [call.resend_count for call in bench.transport.calls] == [0, 1]
    assert f'taoloop_action_retries_total{{reason="{reason}",tool="look_up"}} 1.0' in bench.shown()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (json_reply({}, 400), FaultCode.UPSTREAM_REFUSED),
        (json_reply({}, 404), FaultCode.NOT_FOUND),
        (json_reply({"error": "gone"}, 503), "THING_GONE"),
        (Reply(status_code=200, content_type="text/html", body=b"<p>"), FaultCode.RESPONSE_MALFORMED),
        (TransportFault(FaultCode.RESPONSE_TOO_LARGE, "Big.", may_have_left=True), FaultCode.RESPONSE_TOO_LARGE),
        (TransportFault(FaultCode.CREDENTIAL_MISSING, "No token.", may_have_left=False), FaultCode.CREDENTIAL_MISSING),
        (RuntimeError("a defect"), FaultCode.TOOL_PROTOCOL_FAULT),
    ],
)
async def test_what_cannot_heal_is_not_made_again(answer: Answer, code: str) -> None:
    bench = LoopBench(contract(retry=THRICE), [answer])
    assert ended(await bench.run()) == (ActionStatus.FAILED, code)
    assert 'taoloop_retry_stopped_total{reason="cannot_heal",tool="look_up"} 1.0' in bench.shown()


async def test_the_last_attempt_is_named_and_its_duration_told() -> None:
    bench = LoopBench(contract(retry=TWICE))

    async def slow(_call: ToolCall) -> Reply:
        bench.clock.advance(1.5)
        return BUSY

    bench.transport.then(BUSY)
    bench.transport.then(slow)
    outcome = await bench.run()
    assert ended(outcome) == (ActionStatus.FAILED, FaultCode.UPSTREAM_UNAVAILABLE)
    assert said(outcome).endswith("It was attempt 2, the last.")
    assert outcome.response_time_seconds == 1.5
    assert [made.duration_seconds for made in outcome.attempts] == [0.0, 1.5]
    assert 'taoloop_retry_stopped_total{reason="attempts",tool="look_up"} 1.0' in bench.shown()


async def test_the_wait_that_a_tool_asks_for_is_kept_or_passed_on() -> None:
    limited = json_reply({}, 429, retry_after="3")
    bench = LoopBench(contract(retry=TWICE), [limited, OK, limited])
    outcome = await bench.run()
    assert outcome.attempts[1].wait_before_seconds == 3.0
    outcome = await bench.run(seconds=3.0)
    assert ended(outcome) == (ActionStatus.FAILED, FaultCode.RATE_LIMITED)
    assert outcome.fault is not None
    assert outcome.fault.retry_after_seconds == 3.0
    assert said(outcome).endswith("No time was left for another attempt.")
    assert 'taoloop_retry_stopped_total{reason="deadline",tool="look_up"} 1.0' in bench.shown()


async def test_a_declared_error_passes_the_tool_s_wish_on() -> None:
    outcome = await LoopBench(contract(), [json_reply({}, 409, retry_after="7")]).run()
    assert ended(outcome) == (ActionStatus.FAILED, "THING_LOCKED")
    assert outcome.fault is not None
    assert outcome.fault.retry_after_seconds == 7.0


async def test_without_time_no_attempt_is_made() -> None:
    bench = LoopBench(contract())
    assert ended(await bench.run(seconds=0.0)) == (ActionStatus.TIMED_OUT, FaultCode.DEADLINE_EXCEEDED)


async def test_time_that_runs_out_in_a_pause_keeps_what_was_known() -> None:
    bench = LoopBench(contract(retry=TWICE), [BUSY], patient=True)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(bench.run(seconds=1.0))
        for _ in range(10):
            await asyncio.sleep(0)
        assert bench.clock.sleepers == 1
        bench.clock.advance(2.0)
    outcome = task.result()
    assert ended(outcome) == (ActionStatus.FAILED, FaultCode.DEADLINE_EXCEEDED)
    assert "UPSTREAM_UNAVAILABLE" in said(outcome)
    assert outcome.status_code == 503


async def test_a_storm_of_repeats_ends_at_the_budget() -> None:
    bench = LoopBench(contract(retry=replace(TWICE, backoff_seconds=0.0)), [BUSY] * 100)
    outcomes = [await bench.run() for _ in range(12)]
    assert len(bench.transport.calls) == 22
    assert ended(outcomes[-1]) == (ActionStatus.FAILED, FaultCode.RETRY_BUDGET_EXHAUSTED)
    assert outcomes[-1].fault is not None
    assert (outcomes[-1].fault.field, outcomes[-1].fault.actual) == ("/spec/retry/budget_ratio", 503)
    assert 'taoloop_retry_budget_exhausted_total{tool="look_up"} 2.0' in bench.shown()


async def test_successes_fill_the_budget() -> None:
    bench = LoopBench(contract(retry=replace(TWICE, backoff_seconds=0.0, budget_ratio=1.0)), [BUSY, OK] * 40)
    for _ in range(40):
        assert (await bench.run()).status is ActionStatus.SUCCEEDED


@pytest.mark.parametrize("answer", [SLOW, BUSY, CUT, RuntimeError("a defect")])
async def test_a_write_that_may_have_left_is_not_repeated_without_a_key(answer: Answer) -> None:
    bench = LoopBench(contract(CHANGE, retry=THRICE), [answer])
    assert ended(await bench.run()) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)


async def test_a_write_that_surely_never_left_is_repeated() -> None:
    bench = LoopBench(contract(CHANGE, retry=THRICE), [DOWN, DOWN, OK])
    assert (await bench.run()).status is ActionStatus.SUCCEEDED
    assert [call.idempotency_key for call in bench.transport.calls] == ["", "", ""]


async def test_a_write_with_a_key_is_repeated_under_the_same_key() -> None:
    bench = LoopBench(contract(CHANGE, retry=THRICE, idempotency=KEY), [SLOW, BUSY, OK])
    assert (await bench.run()).status is ActionStatus.SUCCEEDED
    (key,) = {call.idempotency_key for call in bench.transport.calls}
    assert len(key) == 64


@pytest.mark.parametrize(
    "last",
    [
        DOWN,
        json_reply({}, 400),
        TransportFault(FaultCode.EGRESS_FORBIDDEN, "Closed.", may_have_left=False),
    ],
)
async def test_a_later_attempt_that_surely_did_nothing_does_not_settle_an_earlier_one(last: Answer) -> None:
    bench = LoopBench(contract(CHANGE, retry=TWICE, idempotency=KEY), [SLOW, last])
    assert ended(await bench.run()) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)


async def test_a_limit_never_hides_that_an_outcome_is_unknown() -> None:
    tool = contract(CHANGE, retry=THRICE, idempotency=KEY, breaker=replace(ROW, failures=1))
    outcome = await LoopBench(tool, [SLOW]).run()
    assert ended(outcome) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)
    assert "The breaker of change is open" in said(outcome)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([BUSY, SLOW, DOWN, CUT, json_reply({}, 429, retry_after="2"), OK]), min_size=12, max_size=12
    ),
    st.lists(st.floats(0.0, 3.0), min_size=12, max_size=12),
    st.floats(0.0, 12.0),
    st.integers(1, 10),
)
def test_attempts_and_pauses_never_pass_the_deadline(
    answers: Sequence[Answer], durations: Sequence[float], seconds: float, attempts: int
) -> None:
    tool = contract(retry=Retry(attempts=attempts, backoff_seconds=1.0), timeout_seconds=2.0)
    bench = LoopBench(tool)
    for answer, duration in zip(answers, durations, strict=True):
        bench.transport.then(_lasting(bench.clock, answer, duration))
    outcome = asyncio.run(bench.run(seconds=seconds))
    assert bench.clock.monotonic() <= seconds + 1e-9
    assert len(outcome.attempts) <= attempts
    assert outcome.status is not ActionStatus.OUTCOME_UNKNOWN


def _lasting(clock: FakeClock, answer: Answer, duration: float) -> Answer:
    """Return an answer that takes so long, or times out as a transport does."""

    async def answered(call: ToolCall) -> Reply:
        clock.advance(min(duration, call.timeout_seconds))
        if duration > call.timeout_seconds:
            raise SLOW
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Reply)
        return answer

    return answered


def _limits() -> list[tuple[ToolContract, list[Answer], str, str]]:
    """Every limit that can bite: the contract, what the tool answers, the word in the fault, the counter."""
    free = replace(TWICE, backoff_seconds=0.0)
    return [
        (contract(retry=TWICE), [BUSY] * 2, "the last", 'retry_stopped_total{reason="attempts"'),
        (
            contract(retry=replace(TWICE, backoff_seconds=99.0, max_backoff_seconds=99.0)),
            [BUSY],
            "No time",
            'retry_stopped_total{reason="deadline"',
        ),
        (contract(retry=free), [BUSY] * 40, "RETRY_BUDGET_EXHAUSTED", "retry_budget_exhausted_total"),
        (contract(retry=TWICE, breaker=replace(ROW, failures=1)), [BUSY], "BREAKER_OPEN", "breaker_refused_total"),
    ]


@pytest.mark.parametrize(("tool", "answers", "word", "counter"), _limits())
async def test_every_limit_that_bites_is_named_and_moves_its_counter(
    tool: ToolContract, answers: list[Answer], word: str, counter: str
) -> None:
    bench = LoopBench(tool, answers)
    for _ in range(len(answers)):
        outcome = await bench.run()
        assert outcome.fault is not None
        if word in f"{outcome.fault.code} {outcome.fault.message}":
            break
    else:
        raise AssertionError(f"{word} was never said")
    assert f"taoloop_{counter}" in bench.shown()


def test_the_contract_of_these_tests_has_its_own_errors() -> None:
    assert [rule.code for rule in LOOK_UP.errors] == ["THING_LOCKED", "THING_GONE"]


NOTHING = [json_reply(None), Reply(status_code=204), Reply(status_code=200)]


@pytest.mark.parametrize("nothing", NOTHING)
async def test_null_data_is_asked_for_again_where_the_contract_says_so(nothing: Reply) -> None:
    bench = LoopBench(contract(retry=TWICE, empty=Empty.RETRY), [nothing, OK])
    outcome = await bench.run()
    assert ended(outcome) == (ActionStatus.SUCCEEDED, "")
    assert [made.code for made in outcome.attempts] == [nothing.status_code, 200]
    assert 'taoloop_action_retries_total{reason="empty",tool="look_up"} 1.0' in bench.shown()


async def test_null_data_that_stays_is_a_failure_that_can_heal() -> None:
    bench = LoopBench(contract(retry=TWICE, empty=Empty.RETRY), [json_reply(None), json_reply(None)])
    outcome = await bench.run()
    assert ended(outcome) == (ActionStatus.FAILED, FaultCode.EMPTY_RESULT)
    assert outcome.fault is not None
    assert outcome.fault.retriable
    assert said(outcome).endswith("It was attempt 2, the last.")


async def test_null_data_is_left_to_observation_where_the_contract_does_not_ask_again() -> None:
    assert ended(await LoopBench(contract(retry=TWICE), [json_reply(None)]).run()) == (ActionStatus.SUCCEEDED, "")


@pytest.mark.parametrize("body", [json_reply({}), json_reply([]), json_reply(False), json_reply({"id": None})])
async def test_data_that_is_there_is_not_asked_for_again(body: Reply) -> None:
    bench = LoopBench(contract(retry=TWICE, empty=Empty.RETRY), [body])
    assert ended(await bench.run()) == (ActionStatus.SUCCEEDED, "")


async def test_write_without_an_answer_is_asked_again_under_its_key_and_else_unknown() -> None:
    keyed = contract(CHANGE, retry=TWICE, empty=Empty.RETRY, idempotency=KEY)
    assert ended(await LoopBench(keyed, [json_reply(None), OK]).run()) == (ActionStatus.SUCCEEDED, "")
    outcome = await LoopBench(keyed, [json_reply(None), json_reply(None)]).run()
    assert ended(outcome) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)
