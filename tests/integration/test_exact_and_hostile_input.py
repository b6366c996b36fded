"""What callers may send: exact numbers come back unchanged, and bad input gets a clear structured answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import grpc.aio
import pytest
import pytest_asyncio

from taoloop.api.v1 import loop_pb2, loop_pb2_grpc
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import InvalidRequest, MessageTooLarge
from taoloop.core.exact_json import dumps
from taoloop.core.settings import GrpcSettings
from taoloop.plan.acting import ExecuteRequest
from taoloop.plan.running import ActionReturned, ResultObserved, RunEvent, RunFinished, StepStarted
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.plan.thinking import Answer, CheckPlanRequest
from taoloop.testing.stack import DevStack, StackOptions, dev_stack
from taoloop.wire.channel import connect
from taoloop.wire.clients import ActionClient, LoopClient, ThoughtClient
from taoloop.wire.status import from_rpc_error

BodyT = TypeVar("BodyT")

CATALOGUE = Path(__file__).parents[2] / "examples" / "customer-service"
TASK = Task(
    turns=(Turn(role=Role.USER, text="查询订单 90071992547409931 的发票金额"),),
    reference_time=datetime(2026, 3, 10, tzinfo=UTC),
    time_zone="Asia/Shanghai",
    locale="zh-CN",
)


@dataclass
class Callers:
    """A running stack and clients of its services."""

    stack: DevStack
    loop: LoopClient
    thought: ThoughtClient
    action: ActionClient


# One stack serves the whole module: its tests only read.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def callers() -> AsyncIterator[Callers]:
    settings = GrpcSettings()
    async with (
        dev_stack(StackOptions(catalogue=CATALOGUE)) as stack,
        connect(stack.loop_address, settings, stack.telemetry) as loop,
        connect(stack.action_address, settings, stack.telemetry) as action,
    ):
        yield Callers(stack, LoopClient(loop), ThoughtClient(loop), ActionClient(action))


def call() -> CallContext:
    return CallContext(deadline=Deadline.after(20.0, SystemClock()))


async def run(callers: Callers, task: Task) -> list[RunEvent]:
    return [event async for event in callers.loop.run(task, call())]


def bodies(events: list[RunEvent], kind: type[BodyT]) -> list[BodyT]:
    return [event.body for event in events if isinstance(event.body, kind)]


async def test_a_17_digit_number_and_a_decimal_survive_from_the_request_to_the_tool_and_back(callers: Callers) -> None:
    events = await run(callers, TASK)

    [started] = bodies(events, StepStarted)
    [action] = bodies(events, ActionReturned)
    [observed] = bodies(events, ResultObserved)
    [answer] = bodies(events, Answer)
    assert callers.stack.mock is not None
    assert started.arguments == {"order_number": 90071992547409931}
    assert callers.stack.mock.requests[-1].arguments == {"order_number": 90071992547409931}
    assert action.result is not None
    assert '"order_number":90071992547409931' in dumps(action.result.parsed)
    assert observed.result is not None
    assert isinstance(observed.result.data, dict)
    assert (observed.result.data["amount"], dumps(observed.result.data["amount"])) == (Decimal("0.10"), "0.10")
    assert "90071992547409931" in answer.text
    assert "0.10" in answer.text


async def test_a_plan_with_many_faults_gets_all_of_them_at_once(callers: Callers) -> None:
    missing, text_for_a_number = {"$ref": "b.no_such_field"}, {"$ref": "b.order_id"}
    plan = {
        "steps": [
            {"id": "a", "tool": "get_shipmnt", "args": {}, "depends_on": ["b"]},
            {"id": "b", "tool": "find_order", "args": {}, "depends_on": ["a"]},
            {
                "id": "c",
                "tool": "find_order",
                "args": {"customer_phone": missing},
                "depends_on": ["b"],
            },
            {"id": "d", "tool": "get_invoice", "args": {"order_number": text_for_a_number}, "depends_on": ["b"]},
        ]
    }

    verdict = await callers.thought.check_plan(CheckPlanRequest(plan_text=dumps(plan)), call())

    found = {(fault.code, fault.field) for fault in verdict.faults}
    assert not verdict.valid
    assert ("UNKNOWN_TOOL", "/steps/0/tool") in found
    assert ("UNKNOWN_REFERENCE", "/steps/2/args/customer_phone") in found
    assert ("TYPE_MISMATCH", "/steps/3/args/order_number") in found
    assert [fault.actual for fault in verdict.faults if fault.code == "DEPENDENCY_CYCLE"] == [["a", "b"]]
    assert "get_shipment" in next(fault.candidates for fault in verdict.faults if fault.code == "UNKNOWN_TOOL")


async def test_a_plan_that_is_no_json_is_a_verdict_and_no_error(callers: Callers) -> None:
    verdict = await callers.thought.check_plan(CheckPlanRequest(plan_text='{"steps": ['), call())

    assert [fault.code for fault in verdict.faults] == ["INVALID_PLAN"]


async def test_an_unknown_tool_is_a_result_with_near_names(callers: Callers) -> None:
    request = ExecuteRequest(run_id="r", step_id="1.t1", tool="get_wether", arguments={})

    result = await callers.action.execute(request, call())

    assert result.fault is not None
    assert result.fault.code == "UNKNOWN_TOOL"
    assert "get_weather" in result.fault.candidates


async def test_a_20_mb_request_is_refused_with_limit_and_size(callers: Callers) -> None:
    huge = replace(TASK, turns=(Turn(role=Role.USER, text="x" * 20_000_000),))

    with pytest.raises(MessageTooLarge) as refused:
        await run(callers, huge)

    assert refused.value.metadata["limit_bytes"] == str(8 * 1024 * 1024)
    assert int(refused.value.metadata["size_bytes"]) > 20_000_000


async def test_a_20_mb_request_from_a_foreign_client_is_refused_by_the_server(callers: Callers) -> None:
    options = [("grpc.max_send_message_length", -1)]
    async with grpc.aio.insecure_channel(callers.stack.loop_address, options=options) as channel:
        stub = loop_pb2_grpc.LoopServiceStub(channel)
        request = loop_pb2.RunRequest(task=loop_pb2.Task(state_json='"' + "x" * 20_000_000 + '"'))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            async for _ in stub.Run(request, timeout=10):
                pass

    assert isinstance(from_rpc_error(refused.value, "Run", callers.stack.loop_address), MessageTooLarge)


@pytest.mark.parametrize("text", ["{", '{"a": 1, "a": 2}', "NaN", "[" * 100 + "]" * 100, '"\\ud800"'])
async def test_a_malformed_json_field_is_named(callers: Callers, text: str) -> None:
    async with grpc.aio.insecure_channel(callers.stack.loop_address) as channel:
        stub = loop_pb2_grpc.LoopServiceStub(channel)
        turn = loop_pb2.Task(state_json=text)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            async for _ in stub.Run(loop_pb2.RunRequest(task=turn), timeout=10):
                pass

    error = from_rpc_error(refused.value, "Run", callers.stack.loop_address)
    assert isinstance(error, InvalidRequest)
    assert [violation.field for violation in error.violations] == ["task.state_json"]


async def test_a_request_without_words_ends_as_such(callers: Callers) -> None:
    events = await run(callers, replace(TASK, turns=(Turn(role=Role.USER, text="  \n "),)))

    [finished] = bodies(events, RunFinished)
    assert finished.outcome is Outcome.FAILED
    assert finished.fault is not None
    assert finished.fault.code == "MISSING_USER_QUERY"
