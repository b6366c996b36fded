"""The client against the loop itself: questions, decisions, and connections that are cut in mid-stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from taoloop.client import (
    ApprovalDecision,
    AsyncClient,
    Effect,
    Outcome,
    Permissions,
    RunFinished,
    Task,
    user_says,
)
from taoloop.testing.stack import StackOptions, dev_stack
from tests.chaos.queue.proxy import CuttingProxy
from tests.packaging import checkout

CATALOGUE = Path(checkout.ROOT / "examples" / "customer-service")
SHIPMENT = "订单 20260308000012345 的快递到哪里了？"
CLAIM = Task(
    turns=user_says("提交报销：员工 E100234，金额 1280.10 元，类别差旅，发生日期 2026-03-09"),
    permissions=Permissions(max_effect=Effect.WRITE),
)


@asynccontextmanager
async def cut_off() -> AsyncIterator[tuple[CuttingProxy, AsyncClient]]:
    """Give a proxy before a whole stack, and a client that calls through it."""
    async with (
        dev_stack(StackOptions(catalogue=CATALOGUE)) as stack,
        CuttingProxy(int(stack.loop_address.rpartition(":")[2])) as proxy,
        AsyncClient(proxy.address) as client,
    ):
        yield proxy, client


async def test_runs_go_on_while_their_connections_are_cut_again_and_again() -> None:
    async with cut_off() as (proxy, client):
        asked = await client.run("How many keyboards are in stock in the warehouse?")
        assert asked.outcome is Outcome.NEEDS_INPUT
        assert asked.question is not None

        async def cut_again_and_again() -> None:
            while True:
                await asyncio.sleep(0.15)
                proxy.drop()

        cutting = asyncio.get_running_loop().create_task(cut_again_and_again())
        results = await asyncio.gather(*(client.run(SHIPMENT, timeout_seconds=40.0) for _ in range(12)))
        await client.provide_input(asked.run_id, asked.question.input_id, {"sku": "KB-2041"})
        answered = await client.wait(asked.run_id)
        cutting.cancel()

        assert [result.outcome for result in results] == [Outcome.ANSWERED] * 12
        assert len({result.run_id for result in results}) == 12
        assert "128" in answered.text
        listed = [summary.run_id async for summary in client.list(page_size=7)]
        assert sorted(listed) == sorted([asked.run_id, *(result.run_id for result in results)])
        async with aclosing(client.watch(answered.run_id)) as events:
            whole = [event async for event in events]
        assert [event.sequence for event in whole] == list(range(1, answered.last_sequence + 1))
        assert isinstance(whole[-1].body, RunFinished)

        await decide(client)


async def decide(client: AsyncClient) -> None:
    """Have one claim approved and one rejected; what was decided first stands."""
    approved, rejected = await client.run(CLAIM), await client.run(CLAIM)
    for waiting in (approved, rejected):
        assert (waiting.outcome, len(waiting.approvals)) == (Outcome.NEEDS_APPROVAL, 1)
    first, second = approved.approvals[0].approval_id, rejected.approvals[0].approval_id
    assert await client.approve(approved.run_id, first, decided_by="anna") is ApprovalDecision.APPROVED
    assert await client.reject(rejected.run_id, second, decided_by="anna") is ApprovalDecision.REJECTED
    assert (await client.wait(approved.run_id)).outcome is Outcome.ANSWERED
    refused = await client.wait(rejected.run_id)
    assert refused.outcome is Outcome.FAILED
    assert refused.fault is not None
    assert refused.fault.code == "APPROVAL_REJECTED"
    assert await client.reject(approved.run_id, first, decided_by="ben") is ApprovalDecision.APPROVED
    assert await client.cancel(approved.run_id) is Outcome.ANSWERED
