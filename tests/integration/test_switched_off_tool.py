"""A tool that an operator switches off, as the user of a run sees it."""

from __future__ import annotations

from pathlib import Path

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import SwitchToolRequest
from taoloop.plan.running import RunFinished
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.testing.stack import DevStack, StackOptions, dev_stack
from taoloop.wire.clients import action_client, loop_client

CATALOGUE = Path(__file__).parents[2] / "examples" / "customer-service"
TASK = Task(turns=(Turn(role=Role.USER, text="What is the weather in Beijing tomorrow?"),), time_zone="Asia/Shanghai")


def call() -> CallContext:
    return CallContext(deadline=Deadline.after(20.0, SystemClock()))


async def outcome(stack: DevStack, telemetry: Telemetry) -> Outcome | None:
    async with loop_client(stack.loop_address, GrpcSettings(), telemetry) as loop:
        events = [event async for event in loop.run(TASK, call())]
    last = events[-1].body
    assert isinstance(last, RunFinished)
    return last.outcome


async def test_a_tool_that_is_switched_off_is_left_out_of_plans_until_it_is_on_again() -> None:
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-test")
    settings = {"loop": {"tools_max_age_seconds": 0.001}}
    async with (
        dev_stack(StackOptions(catalogue=CATALOGUE, settings=settings)) as stack,
        action_client(stack.action_address, GrpcSettings(), telemetry) as action,
    ):
        assert stack.mock is not None
        assert await outcome(stack, telemetry) is Outcome.ANSWERED
        calls = stack.mock.calls.total()

        await action.switch_tool(SwitchToolRequest(tool="get_weather", off=True, reason="wrong town"), call())
        assert await outcome(stack, telemetry) is not Outcome.ANSWERED
        assert stack.mock.calls.total() == calls

        await action.switch_tool(SwitchToolRequest(tool="get_weather"), call())
        assert await outcome(stack, telemetry) is Outcome.ANSWERED
    await telemetry.aclose()
