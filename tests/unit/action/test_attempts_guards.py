"""Rules of breakers, limits and switches around attempts."""

from __future__ import annotations

import asyncio

import pytest

from taoloop.action.attempts import SwitchedOff
from taoloop.action.ports import TransportFault
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionStatus, BreakerState
from taoloop.testing.transport import Answer, json_reply
from taoloop.tools.contract import (
    Limiter,
)
from tests.unit.action.attempting import BUSY, OK, ROW, Gate, ended, said
from tests.unit.action.calls import THRICE, TWICE, LoopBench, contract


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


async def test_a_call_that_waited_for_a_slot_is_made_when_one_comes_free() -> None:
    bench = LoopBench(contract(limiter=Limiter(in_flight=1, queue=1, max_wait_seconds=9.0)), patient=True)
    gate = Gate()
    bench.transport.then(gate)
    bench.transport.then(OK)
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.run())
        await gate.entered.wait()
        waiting = group.create_task(bench.run())
        for _ in range(5):
            await asyncio.sleep(0)
        assert "1 of 1 waiting" in repr(bench.loop)
        gate.open.set()
    assert waiting.result().status is ActionStatus.SUCCEEDED
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


async def test_who_waited_for_a_slot_asks_the_switch_again() -> None:
    off: list[SwitchedOff] = []
    waiting = contract(limiter=Limiter(in_flight=1, queue=1, max_wait_seconds=9.0), breaker=ROW)
    bench = LoopBench(waiting, switches=lambda _tool: off[0] if off else None, patient=True)
    gate = Gate()
    bench.transport.then(gate)
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.run())
        await gate.entered.wait()
        late = group.create_task(bench.run())
        for _ in range(5):
            await asyncio.sleep(0)
        assert "1 of 1 waiting" in repr(bench.loop)
        off.append(SwitchedOff("stop"))
        gate.open.set()
    assert ended(late.result()) == (ActionStatus.REJECTED, FaultCode.TOOL_SWITCHED_OFF)
    assert late.result().attempts == ()
    assert "Limiter(0 of 1 in flight" in repr(bench.loop)
