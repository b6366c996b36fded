"""One suite for every transport: what the attempt loop and the callers of the service rely on, on real peers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from taoloop.action.executor import Executor
from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.core import exact_json
from taoloop.core.clock import SystemClock
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import Retry
from taoloop.tools.signature import Effect
from tests.contract.transport_peers import BIG, LIMIT_BYTES, PEERS, Act, Peer
from tests.unit.action.contracts import context, request, telemetry

CLOCK = SystemClock()
ENOUGH_SECONDS = 20.0
SHORT_SECONDS = 0.3
SLACK_SECONDS = 3.0
"""How much later than its timeout an attempt may return on a busy machine."""


@pytest.fixture(params=sorted(PEERS))
async def peer(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Peer]:
    async with PEERS[request.param](tmp_path) as opened:
        yield opened


def call(peer: Peer, act: Act, seconds: float = ENOUGH_SECONDS) -> ToolCall:
    tool, arguments = peer.acts[act]
    return ToolCall(contract=tool, arguments=arguments, timeout_seconds=seconds, thought_id="2" * 32)


async def attempted(peer: Peer, act: Act, seconds: float = ENOUGH_SECONDS) -> Reply:
    return await peer.transport.attempt(call(peer, act, seconds))


async def fault_of(peer: Peer, act: Act, seconds: float = ENOUGH_SECONDS) -> TransportFault:
    with pytest.raises(TransportFault) as caught:
        await attempted(peer, act, seconds)
    return caught.value


async def test_a_success_is_json_with_status_200(peer: Peer) -> None:
    reply = await attempted(peer, Act.SUCCEED)
    assert (reply.status_code, reply.content_type, reply.failure) == (200, "application/json", "")
    assert isinstance(exact_json.loads(reply.body), dict)


async def test_numbers_keep_every_digit(peer: Peer) -> None:
    body = (await attempted(peer, Act.EXACT)).body
    assert f'"number":{BIG}'.encode() in body
    assert b'"price":0.1' in body
    assert b'"price":0.10' not in body


async def test_a_structured_failure_is_an_answer_that_error_rules_can_read(peer: Peer) -> None:
    reply = await attempted(peer, Act.REFUSE)
    assert 400 <= reply.status_code < 600
    body = exact_json.loads(reply.body)
    assert isinstance(body, dict)
    assert isinstance(body["error"], dict)


async def test_a_timeout_returns_in_time_and_frees_its_place(peer: Peer) -> None:
    await attempted(peer, Act.SUCCEED)  # connected, imported
    for _ in range(2):
        async with asyncio.timeout(SHORT_SECONDS + SLACK_SECONDS):
            fault = await fault_of(peer, Act.HANG, SHORT_SECONDS)
        assert fault.code in {FaultCode.TOOL_TIMEOUT, FaultCode.POOL_EXHAUSTED}
        assert fault.is_retriable
        assert (await attempted(peer, Act.SUCCEED)).status_code == 200


async def test_a_cancelled_call_ends_at_once_and_frees_its_place(peer: Peer) -> None:
    await attempted(peer, Act.SUCCEED)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(SHORT_SECONDS + SLACK_SECONDS), asyncio.timeout(SHORT_SECONDS):
                await attempted(peer, Act.HANG)
        assert (await attempted(peer, Act.SUCCEED)).status_code == 200


async def test_an_answer_that_is_too_large_is_a_fault_and_the_next_call_succeeds(peer: Peer) -> None:
    fault = await fault_of(peer, Act.HUGE)
    assert fault.code == FaultCode.RESPONSE_TOO_LARGE
    assert fault.received is None or len(fault.received.body) <= LIMIT_BYTES
    assert (await attempted(peer, Act.SUCCEED)).status_code == 200


@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
@pytest.mark.parametrize("act", list(Act))
async def test_whatever_a_peer_does_is_one_envelope(peer: Peer, act: Act, effect: Effect) -> None:
    tools = {tool.name: tool for tool, _ in peer.acts.values()}
    contracts = [replace(tool, effect=effect, retry=Retry(attempts=1)) for tool in tools.values()]
    catalogue = Catalogue.of(contracts, bases=peer.bases)
    executor = Executor(catalogue, peer.transport, InMemoryEffectLedger(CLOCK), telemetry(), CLOCK)
    tool, arguments = peer.acts[act]
    seconds = SHORT_SECONDS if act is Act.HANG else ENOUGH_SECONDS
    wanted = request(tool.name, arguments=arguments, timeout_seconds=seconds)
    result = await executor.execute(wanted, context(CLOCK, ENOUGH_SECONDS))
    assert isinstance(result, ActionResult)
    assert result.status in _allowed(act, effect)
    assert (result.fault is None) is (result.status is ActionStatus.SUCCEEDED)


def _allowed(act: Act, effect: Effect) -> set[ActionStatus]:
    if act in {Act.SUCCEED, Act.EXACT}:
        return {ActionStatus.SUCCEEDED}
    failed = {ActionStatus.TIMED_OUT, ActionStatus.FAILED} if act is Act.HANG else {ActionStatus.FAILED}
    return failed if effect is Effect.READ else failed | {ActionStatus.OUTCOME_UNKNOWN}
