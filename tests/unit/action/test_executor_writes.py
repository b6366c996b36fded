"""Rules of calls that write: recorded, never made twice, and unknown rather than guessed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from taoloop.action.ledger.effects import EffectQuery, Resolution
from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.core.errors import BackendUnavailable
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionStatus, ServedBy
from taoloop.plan.effects import EffectState
from taoloop.testing.effect_ledger import StoredEffects
from taoloop.testing.transport import Answer, json_reply
from tests.unit.action.executing import OK, Bench, Hanging, outcome


async def test_a_write_is_recorded_before_it_leaves_and_after_it_came_back() -> None:
    seen: list[list[EffectState]] = []
    bench = Bench()

    async def look(_call: ToolCall) -> Reply:
        seen.append(await bench.states())
        return OK

    bench.transport.then(look)
    result = await bench.run("change")
    assert seen == [[EffectState.STARTED]]
    assert await bench.states() == [EffectState.SUCCEEDED]
    assert result.effect_id == (await bench.ledger.list("acme", EffectQuery()))[0].effect_id


async def test_a_read_leaves_no_trace_in_the_ledger() -> None:
    bench = Bench(OK)
    await bench.run()
    assert await bench.states() == []


async def test_the_same_step_gets_the_recorded_result() -> None:
    bench = Bench(OK)
    first = await bench.run("change")
    second = await bench.run("change")
    assert second.served_by is ServedBy.DUPLICATE
    assert (second.status, second.parsed, second.effect_id) == (first.status, first.parsed, first.effect_id)
    assert len(bench.transport.calls) == 1


@pytest.mark.parametrize("changes", [{"iteration": 2, "step_id": "2.t1"}, {"step_id": "1.t2"}])
async def test_another_step_does_not_write_again(changes: dict[str, Any]) -> None:
    bench = Bench(OK)
    await bench.run("change")
    repeated = await bench.run("change", **changes)
    assert outcome(repeated) == (ActionStatus.REJECTED, FaultCode.REPEATED_WRITE)
    assert len(bench.transport.calls) == 1


async def test_numbers_that_are_equal_make_the_same_write() -> None:
    bench = Bench(OK)
    await bench.run("change", arguments={"key": "abc", "size": 1})
    repeated = await bench.run("change", arguments={"size": 1.0, "key": "abc"}, step_id="1.t2")
    assert outcome(repeated) == (ActionStatus.REJECTED, FaultCode.REPEATED_WRITE)


@pytest.mark.parametrize(
    "answer",
    [
        TransportFault(FaultCode.TOOL_TIMEOUT, "slow", may_have_left=True, is_retriable=True),
        TransportFault(FaultCode.RESPONSE_INCOMPLETE, "cut", may_have_left=True, received=Reply(status_code=200)),
        RuntimeError("a defect"),
        json_reply({}, 500),
        json_reply({}, 504),
        json_reply({}, 302),
        json_reply({}, 408),
        Reply(status_code=200, content_type="application/json", body=b'{"id"'),
    ],
)
async def test_a_write_that_may_have_taken_effect_is_unknown_and_never_sent_again(answer: Answer) -> None:
    bench = Bench(answer)
    result = await bench.run("change")
    assert outcome(result) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)
    assert result.fault is not None
    assert not result.fault.retriable
    assert await bench.states() == [EffectState.UNKNOWN]
    again = await bench.run("change")
    assert (again.status, again.served_by) == (ActionStatus.OUTCOME_UNKNOWN, ServedBy.DUPLICATE)
    assert len(bench.transport.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        TransportFault(FaultCode.TOOL_UNREACHABLE, "down", may_have_left=False, is_retriable=True),
        TransportFault(FaultCode.CREDENTIAL_MISSING, "no token", may_have_left=False),
        TransportFault(FaultCode.RESPONSE_TOO_LARGE, "big", may_have_left=True, received=Reply(status_code=400)),
        json_reply({}, 400),
        json_reply({}, 429),
        json_reply({}, 409),
    ],
)
async def test_a_write_that_surely_took_no_effect_may_be_sent_again(answer: Answer) -> None:
    bench = Bench(answer, OK)
    assert (await bench.run("change")).status is ActionStatus.FAILED
    bench.clock.advance(1)
    assert (await bench.run("change", iteration=2, step_id="2.t1")).status is ActionStatus.SUCCEEDED
    assert await bench.states() == [EffectState.SUCCEEDED, EffectState.FAILED]


async def test_a_write_begun_by_a_process_that_died_is_unknown() -> None:
    store = StoredEffects()
    died = Bench(store=store)

    hang = Hanging()
    died.transport.then(hang)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(died.run("change"))
        await hang.entered.wait()
        await died.ledger.leave()
        survivor = Bench(store=store)
        result = await survivor.run("change")
        assert await survivor.states() == [EffectState.UNKNOWN]
        task.cancel()
    assert outcome(result) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)
    assert survivor.transport.calls == []


async def test_a_write_that_was_cancelled_is_unknown() -> None:
    bench = Bench()

    hang = Hanging()
    bench.transport.then(hang)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(bench.run("change"))
        await hang.entered.wait()
        task.cancel()
    assert task.cancelled()
    assert await bench.states() == [EffectState.UNKNOWN]


async def test_two_callers_of_one_write_share_one_attempt() -> None:
    bench = Bench(OK)
    results = await asyncio.gather(*(bench.run("change") for _ in range(5)))
    assert [result.status for result in results] == [ActionStatus.SUCCEEDED] * 5
    assert sum(result.served_by is ServedBy.PRIMARY for result in results) == 1
    assert len(bench.transport.calls) == 1


async def test_a_settled_write_is_not_made_again_by_its_step() -> None:
    bench = Bench(json_reply({}, 500))
    result = await bench.run("change")
    await bench.ledger.resolve("acme", Resolution(effect_id=result.effect_id, took_place=True, resolved_by="ana"))
    again = await bench.run("change")
    assert outcome(again) == (ActionStatus.REJECTED, FaultCode.REPEATED_WRITE)


async def test_a_write_does_not_leave_while_the_ledger_is_down() -> None:
    bench = Bench()
    bench.ledger.is_down = True
    with pytest.raises(BackendUnavailable):
        await bench.run("change")
    assert bench.transport.calls == []


async def test_a_result_is_given_though_its_record_was_lost_and_its_repeat_is_unknown() -> None:
    bench = Bench()

    async def answer_as_the_store_fails(_call: ToolCall) -> Reply:
        bench.ledger.is_down = True
        return OK

    bench.transport.then(answer_as_the_store_fails)
    assert (await bench.run("change")).status is ActionStatus.SUCCEEDED
    bench.ledger.is_down = False
    assert (await bench.run("change")).status is ActionStatus.OUTCOME_UNKNOWN
    assert await bench.states() == [EffectState.UNKNOWN]
    assert len(bench.transport.calls) == 1
