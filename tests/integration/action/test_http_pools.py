"""Connections: one pool for each tool, and every slot comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from taoloop.action.ports import Reply, TransportFault
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import HttpTransport, Pool
from taoloop.tools.signature import Effect
from tests.integration.action.http_calls import call, closed, contract, fault_of, transport
from tests.integration.action.raw_server import Behaviour, answer, raw_server, says, says_and_hangs
from tests.unit.action.contracts import telemetry


def pooled(size: int, idle_timeout_seconds: float = 4.0) -> dict[str, Pool]:
    return {"pool": Pool(size=size, idle_timeout_seconds=idle_timeout_seconds)}


class Gate:
    """Answers once it is open."""

    def __init__(self) -> None:
        self.arrived = asyncio.Semaphore(0)
        self.opened = asyncio.Event()

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        self.arrived.release()
        await self.opened.wait()
        writer.write(answer())

    async def until_waiting(self, count: int) -> None:
        async with asyncio.timeout(5.0):
            for _ in range(count):
                await self.arrived.acquire()


async def test_the_state_of_the_pools_is_shown_live() -> None:
    gate, seen = Gate(), telemetry()
    tool = contract(policies=pooled(50))
    async with raw_server(gate) as server, transport(server.base_url, seen=seen) as under_test:
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(under_test.attempt(call(tool)))
            await gate.until_waiting(3)
            assert repr(under_test.pools) == "<ToolPools [look_up: 3 busy, 0 idle of 50]>"
            assert 'pool_connections{state="busy",tool="look_up"} 3.0' in seen.metrics.exposition()
            gate.opened.set()
        assert repr(under_test.pools) == "<ToolPools [look_up: 0 busy, 3 idle of 50]>"
        assert 'pool_connections{state="idle",tool="look_up"} 3.0' in seen.metrics.exposition()
        assert under_test.pools.pools["look_up"].busy == 0


async def test_no_tool_waits_for_another_ones_connections() -> None:
    gate = Gate()
    slow = contract(policies=pooled(1))
    quick_http = HttpTransport(method="GET", url="{{base.quick}}/")
    other = replace(contract(policies=pooled(1)), name="other", transport=quick_http)
    async with (
        raw_server(gate) as server,
        raw_server(says(answer())) as quick,
        transport({"things": server.base_url, "quick": quick.base_url}) as under_test,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(under_test.attempt(call(slow)))
        await gate.until_waiting(1)
        assert (await under_test.attempt(call(other))).status_code == 200
        gate.opened.set()


async def test_a_full_pool_is_named_in_the_fault_and_counted() -> None:
    gate, seen = Gate(), telemetry()
    tool = contract("/things", "POST", effect=Effect.WRITE, policies=pooled(1))
    async with raw_server(gate) as server, transport(server.base_url, seen=seen) as under_test:
        async with asyncio.TaskGroup() as group:
            group.create_task(under_test.attempt(call(tool)))
            await gate.until_waiting(1)
            fault = await fault_of(under_test, call(tool, seconds=0.05))
            gate.opened.set()
        assert len(server.heads) == 1
    assert (fault.code, fault.may_have_left, fault.is_retriable) == (FaultCode.POOL_EXHAUSTED, False, True)
    assert 'taoloop_action_pool_exhausted_total{tool="look_up"} 1.0' in seen.metrics.exposition()


async def test_cancelled_and_timed_out_calls_give_their_slots_back() -> None:  # C056-1
    opened = asyncio.Event()

    async def behave(writer: asyncio.StreamWriter) -> None:
        await opened.wait()
        writer.write(answer())

    tool = contract(policies=pooled(2))
    async with raw_server(behave) as server, transport(server.base_url) as under_test:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(under_test.attempt(call(tool))) for _ in range(200)]
            await server.arrived.wait()
            for task in tasks:
                task.cancel()
        outcomes = await asyncio.gather(
            *(under_test.attempt(call(tool, seconds=0.02)) for _ in range(20)), return_exceptions=True
        )
        assert {type(outcome) for outcome in outcomes} == {TransportFault}
        opened.set()
        replies = await asyncio.gather(*(under_test.attempt(call(tool)) for _ in range(20)))
        assert [type(reply) for reply in replies] == [Reply] * 20
        pool = under_test.pools.pools["look_up"]
        assert (pool.busy, pool.idle) == (0, 2)


async def test_a_timed_out_connection_is_not_used_again() -> None:
    hangs = says_and_hangs(answer(b"{", length=9))
    async with raw_server(hangs) as server, transport(server.base_url) as under_test:
        await fault_of(under_test, call(contract(), seconds=0.05))
        await closed(under_test)
        await fault_of(under_test, call(contract(), seconds=0.05))
        assert len(server.heads) == 2
        assert under_test.pools.pools["look_up"].busy == 0


def closes_after(answers: int) -> Behaviour:
    """Answer so many requests of a connection and close it, unseen, when the next one comes."""
    served: dict[asyncio.StreamWriter, int] = {}

    async def behave(writer: asyncio.StreamWriter) -> None:
        served[writer] = served.get(writer, 0) + 1
        if served[writer] > answers:
            writer.close()
        else:
            writer.write(answer())

    return behave


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
async def test_a_kept_connection_that_was_closed_is_told_and_not_made_up_for(method: str, effect: Effect) -> None:
    seen = telemetry()
    tool = contract(method=method, effect=effect)
    async with raw_server(closes_after(1)) as server, transport(server.base_url, seen=seen) as under_test:
        await under_test.attempt(call(tool))
        fault = await fault_of(under_test, call(tool))
        assert (fault.code, fault.may_have_left, fault.is_retriable) == (FaultCode.RESPONSE_INCOMPLETE, True, True)
        assert len(server.heads) == 2
        assert (await under_test.attempt(call(tool))).reused_connection is False
    assert 'taoloop_action_stale_connections_total{tool="look_up"} 1.0' in seen.metrics.exposition()


async def test_a_connection_is_idle_no_longer_than_the_contract_says() -> None:
    tool = contract(policies=pooled(5, idle_timeout_seconds=0.05))
    async with raw_server(says(answer())) as server, transport(server.base_url) as under_test:
        await under_test.attempt(call(tool))
        await closed(under_test)
        assert (await under_test.attempt(call(tool))).reused_connection is False


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used() -> None:
    writers: list[asyncio.StreamWriter] = []

    async def behave(writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        writer.write(answer())

    async with raw_server(behave) as server, transport(server.base_url) as under_test:
        await under_test.attempt(call(contract()))
        writers[0].close()
        await closed(under_test)
        assert (await under_test.attempt(call(contract()))).reused_connection is False
        assert len(server.heads) == 2


@pytest.mark.parametrize("count", [1, 2])
async def test_what_a_server_says_unasked_is_nobodys_answer(count: int) -> None:
    gate, writers = Gate(), list[asyncio.StreamWriter]()

    async def behave(writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await gate(writer)

    tool = contract(policies=pooled(count))
    async with raw_server(behave) as server, transport(server.base_url) as under_test:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(under_test.attempt(call(tool)))
            await gate.until_waiting(count)
            gate.opened.set()
        for writer in writers:
            writer.write(answer(b'{"of":"nobody"}'))
            await writer.drain()
        await asyncio.sleep(0.02)  # nothing tells when it has arrived
        reply = await under_test.attempt(call(tool))
        assert (reply.body, reply.reused_connection) == (answer().rpartition(b"\r\n")[2], False)


async def test_a_long_body_is_sent_whole() -> None:
    body = "x" * 3_000_000
    tool = contract(method="POST", effect=Effect.WRITE, json={"text": "{text}"})
    async with raw_server(says(answer())) as server, transport(server.base_url) as under_test:
        assert (await under_test.attempt(call(tool, text=body))).status_code == 200
        assert len(server.bodies[0]) == len(body) + len('{"text":""}')


async def test_a_connection_that_was_handed_to_a_call_as_it_was_given_up_goes_to_the_next() -> None:
    gate = Gate()
    tool = contract(policies=pooled(1))
    async with raw_server(gate) as server, transport(server.base_url) as under_test:
        first = asyncio.create_task(under_test.attempt(call(tool)))
        await gate.until_waiting(1)
        second = asyncio.create_task(under_test.attempt(call(tool)))
        third = asyncio.create_task(under_test.attempt(call(tool)))
        connector = under_test.pools.pools["look_up"]._connector
        await eventually(lambda: sum(len(waiters) for waiters in connector._waiters.values()) == 2)
        hand_on = connector._release_waiter

        def hand_on_and_give_up() -> None:
            connector._release_waiter = hand_on  # type: ignore[method-assign]
            hand_on()
            second.cancel()

        connector._release_waiter = hand_on_and_give_up  # type: ignore[method-assign]
        gate.opened.set()
        async with asyncio.timeout(2.0):
            assert (await first).status_code == (await third).status_code == 200
    with pytest.raises(asyncio.CancelledError):
        await second


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5.0):
        while not holds():  # noqa: ASYNC110 - the library tells nobody
            await asyncio.sleep(0.01)
