"""Rules of the attempt loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.action.attempts import SwitchedOff
from taoloop.action.outcomes import Outcome
from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionStatus, BreakerState, ServedBy
from taoloop.testing.clock import FakeClock
from taoloop.testing.transport import Answer, json_reply
from taoloop.tools.contract import (
    ConsecutiveBreaker,
    Empty,
    Idempotency,
    KeyLocation,
    Limiter,
    Retry,
    ToolContract,
)
from tests.unit.action.calls import THRICE, TWICE, LoopBench, contract
from tests.unit.action.contracts import CHANGE, LOOK_UP

OK = json_reply({"id": 1})
BUSY = json_reply({}, 503)
SLOW = TransportFault(FaultCode.TOOL_TIMEOUT, "No answer came.", may_have_left=True, is_retriable=True)
DOWN = TransportFault(FaultCode.TOOL_UNREACHABLE, "Nobody listens.", may_have_left=False, is_retriable=True)
CUT = TransportFault(
    FaultCode.RESPONSE_INCOMPLETE,
    "It broke off.",
    may_have_left=True,
    is_retriable=True,
    received=Reply(status_code=200, body=b'{"id"', reused_connection=True),
)
KEY = Idempotency(location=KeyLocation.HEADER, name="Idempotency-Key")
ROW = ConsecutiveBreaker(failures=2, open_for_seconds=30.0)


class Gate:
    """An answer that waits until it is let go."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self, _call: ToolCall) -> Reply:
        self.entered.set()
        await self.open.wait()
        return OK


def ended(outcome: Outcome) -> tuple[ActionStatus, str]:
    return outcome.status, outcome.fault.code if outcome.fault is not None else ""


def said(outcome: Outcome) -> str:
    assert outcome.fault is not None
    return outcome.fault.message


async def test_a_good_answer_takes_one_attempt() -> None:
    bench = LoopBench(contract(retry=THRICE), [OK])
    outcome = await bench.run()
    assert ended(outcome) == (ActionStatus.SUCCEEDED, "")
    assert (outcome.parsed, outcome.status_code, outcome.served_by) == ({"id": 1}, 200, ServedBy.PRIMARY)
    assert [(made.outcome, made.code, made.wait_before_seconds) for made in outcome.attempts] == [
        ("answered", 200, None)
    ]
    assert 'taoloop_action_attempts_total{outcome="answered",tool="look_up"} 1.0' in bench.shown()


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


@pytest.mark.parametrize("code", [FaultCode.INVALID_PARAMETER, FaultCode.NOT_YET_SUPPORTED, FaultCode.EGRESS_FORBIDDEN])
async def test_a_call_that_may_not_be_made_is_rejected_without_an_attempt(code: FaultCode) -> None:
    outcome = await LoopBench(contract(retry=THRICE), [TransportFault(code, "No.", may_have_left=False)]).run()
    assert ended(outcome) == (ActionStatus.REJECTED, code)
    assert outcome.attempts == ()


async def test_a_breaker_counts_attempts_and_refuses_without_calling_the_tool() -> None:
    bench = LoopBench(contract(retry=TWICE, breaker=ROW), [BUSY, BUSY])
    first = await bench.run()
    assert first.breaker is not None
    assert (first.breaker.state, first.breaker.retry_at) == (
        BreakerState.OPEN,
        bench.clock.now().replace(second=30, microsecond=200_000),
    )
    second = await bench.run()
    assert ended(second) == (ActionStatus.REJECTED, FaultCode.BREAKER_OPEN)
    assert second.fault is not None
    assert (second.fault.field, second.fault.retriable, second.fault.retry_after_seconds) == (
        "/spec/breaker",
        True,
        30.0,
    )
    shown = bench.shown()
    assert 'taoloop_breaker_refused_total{tool="look_up"} 1.0' in shown
    assert 'taoloop_breaker_state{tool="look_up"} 2.0' in shown
    assert 'taoloop_breaker_transitions_total{state="open",tool="look_up"} 1.0' in shown


async def test_a_breaker_that_opens_in_between_ends_the_call_and_the_cause_stays() -> None:
    bench = LoopBench(contract(retry=THRICE, breaker=ROW), [BUSY, BUSY])
    outcome = await bench.run()
    assert ended(outcome) == (ActionStatus.FAILED, FaultCode.BREAKER_OPEN)
    assert "UPSTREAM_UNAVAILABLE" in said(outcome)
    assert (outcome.status_code, len(outcome.attempts)) == (503, 2)


async def test_a_good_probe_closes_the_breaker() -> None:
    bench = LoopBench(contract(breaker=ROW), [BUSY, BUSY, OK])
    for _ in range(2):
        await bench.run()
    bench.clock.advance(30.0)
    outcome = await bench.run()
    assert outcome.breaker is not None
    assert (outcome.breaker.state, outcome.breaker.retry_at) == (BreakerState.CLOSED, None)
    shown = bench.shown()
    assert 'taoloop_breaker_state{tool="look_up"} 0.0' in shown
    assert 'taoloop_breaker_transitions_total{state="half_open",tool="look_up"} 1.0' in shown
    assert 'taoloop_breaker_transitions_total{state="closed",tool="look_up"} 1.0' in shown


@pytest.mark.parametrize(
    "neutral",
    [
        json_reply({}, 404),
        json_reply({}, 429),
        json_reply({}, 302),
        TransportFault(FaultCode.CREDENTIAL_MISSING, "No token.", may_have_left=False),
        TransportFault(FaultCode.RESPONSE_TOO_LARGE, "Big.", may_have_left=True),
        TransportFault(FaultCode.INVALID_PARAMETER, "No.", may_have_left=False),
    ],
)
async def test_what_says_nothing_about_the_tool_neither_opens_nor_closes(neutral: Answer) -> None:
    bench = LoopBench(contract(breaker=ROW), [BUSY, neutral, BUSY, neutral, OK])
    states = []
    for _ in range(3):
        outcome = await bench.run()
        states.append(outcome.breaker.state if outcome.breaker is not None else None)
    assert states == [BreakerState.CLOSED, BreakerState.CLOSED, BreakerState.OPEN]
    bench.clock.advance(30.0)
    outcome = await bench.run()
    assert outcome.breaker is not None
    assert (outcome.breaker.state, outcome.breaker.retry_at) == (BreakerState.HALF_OPEN, None)
    assert (await bench.run()).status is ActionStatus.SUCCEEDED


async def test_a_cancelled_probe_leaves_the_next_call_its_place() -> None:
    bench = LoopBench(contract(breaker=ROW), [BUSY, BUSY])
    for _ in range(2):
        await bench.run()
    bench.clock.advance(30.0)
    gate = Gate()
    bench.transport.then(gate)
    async with asyncio.TaskGroup() as group:
        probe = group.create_task(bench.run())
        await gate.entered.wait()
        assert ended(await bench.run()) == (ActionStatus.REJECTED, FaultCode.BREAKER_OPEN)
        probe.cancel()
    bench.transport.then(OK)
    assert (await bench.run()).status is ActionStatus.SUCCEEDED


async def test_a_full_tool_sheds_and_names_the_limit() -> None:
    bench = LoopBench(contract(limiter=Limiter(in_flight=1), breaker=ROW))
    gate = Gate()
    bench.transport.then(gate)
    async with asyncio.TaskGroup() as group:
        held = group.create_task(bench.run())
        await gate.entered.wait()
        assert 'taoloop_limiter_in_flight{tool="look_up"} 1.0' in bench.shown()
        for _ in range(5):
            outcome = await bench.run()
            assert ended(outcome) == (ActionStatus.REJECTED, FaultCode.LIMITER_SHED)
            assert outcome.fault is not None
            assert (outcome.fault.field, outcome.fault.retriable) == ("/spec/limiter/in_flight", True)
        gate.open.set()
    assert held.result().status is ActionStatus.SUCCEEDED
    shown = bench.shown()
    assert 'taoloop_limiter_shed_total{limit="in_flight",tool="look_up"} 5.0' in shown
    assert 'taoloop_limiter_in_flight{tool="look_up"} 0.0' in shown
    assert 'taoloop_breaker_state{tool="look_up"} 0.0' in shown
    assert "Limiter(0 of 1 in flight, 0 of 0 waiting)" in repr(bench.loop)


async def test_a_cancelled_call_returns_its_slot() -> None:
    bench = LoopBench(contract(limiter=Limiter(in_flight=1)))
    for _ in range(20):
        gate = Gate()
        bench.transport.then(gate)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(bench.run())
            await gate.entered.wait()
            task.cancel()
    bench.transport.then(OK)
    assert (await bench.run()).status is ActionStatus.SUCCEEDED
    assert "Limiter(0 of 1 in flight" in repr(bench.loop)


async def test_a_wait_that_ends_with_the_deadline_names_no_field_of_the_contract() -> None:
    bench = LoopBench(contract(limiter=Limiter(in_flight=1, queue=1, max_wait_seconds=9.0)))
    gate = Gate()
    bench.transport.then(gate)
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.run())
        await gate.entered.wait()
        outcome = await bench.run(seconds=2.0)
        gate.open.set()
    assert ended(outcome) == (ActionStatus.REJECTED, FaultCode.LIMITER_SHED)
    assert outcome.fault is not None
    assert outcome.fault.field == ""


@pytest.mark.parametrize(
    ("reason", "words"), [("maintenance until noon.", ": maintenance until noon."), ("", "is switched off.")]
)
async def test_a_tool_that_is_switched_off_is_not_called(reason: str, words: str) -> None:
    bench = LoopBench(contract(breaker=ROW), switches=lambda tool: SwitchedOff(reason) if tool == "look_up" else None)
    outcome = await bench.run()
    assert ended(outcome) == (ActionStatus.REJECTED, FaultCode.TOOL_SWITCHED_OFF)
    assert said(outcome).endswith(words)
    assert 'taoloop_switched_off_refused_total{tool="look_up"} 1.0' in bench.shown()


async def test_a_switch_is_asked_before_each_attempt() -> None:
    asked: list[str] = []

    def switches(tool: str) -> SwitchedOff | None:
        asked.append(tool)
        return SwitchedOff() if len(asked) == 2 else None

    outcome = await LoopBench(contract(retry=THRICE), [BUSY], switches=switches).run()
    assert ended(outcome) == (ActionStatus.FAILED, FaultCode.TOOL_SWITCHED_OFF)
    assert len(outcome.attempts) == 1


async def test_another_contract_under_the_same_name_gets_new_guards() -> None:
    bench = LoopBench(contract(breaker=ROW), [BUSY, BUSY])
    for _ in range(2):
        await bench.run()
    assert bench.guards.of(bench.tool.contract) is bench.guards.of(bench.tool.contract)
    assert bench.guards.of(contract(limiter=Limiter(in_flight=1))) is not bench.guards.of(contract())
    assert "Breaker(open until 30)" in repr(bench.guards)


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
