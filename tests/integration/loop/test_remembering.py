"""Two runs of one session over real services: the second has what the first knew, also when Redis has lost it."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

from redis.asyncio import Redis

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import Json
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.audit import audit_record
from taoloop.loop.state import RunState
from taoloop.plan.running import RunEvent
from taoloop.plan.task import Role, Task, Turn
from taoloop.testing.stack import StackOptions, dev_stack
from taoloop.wire.clients import LoopClient, loop_client

CATALOGUE = Path(__file__).parents[3] / "examples" / "customer-service"
APRIL = {"employee_id": "E100234", "period": "2024-04-01~2024-04-30"}


def asking(text: str, *, session: str = "s1", line: str = "", state: Json = None) -> Task:
    return Task(
        turns=(Turn(role=Role.USER, text=text),),
        session_id=session,
        business_line=line,
        reference_time=datetime(2024, 5, 10, tzinfo=UTC),
        time_zone="Asia/Shanghai",
        locale="zh-CN",
        state=state or {},
    )


async def run(client: LoopClient, task: Task) -> list[RunEvent]:
    call = CallContext(deadline=Deadline.after(30.0, SystemClock()), tenant="default")
    async with aclosing(client.run(task, call)) as events:
        return [event async for event in events]


def calls(events: list[RunEvent]) -> list[Json]:
    state = RunState.from_events(events[0].run_id, events)
    return [record.arguments for record in state.steps.values()]


async def test_a_session_keeps_its_days_through_the_loss_of_hot_memory() -> None:
    async with (
        dev_stack(StackOptions(catalogue=CATALOGUE)) as stack,
        loop_client(stack.loop_address, GrpcSettings(), Telemetry.build(TelemetrySettings(), "test")) as client,
    ):
        first = await run(client, asking("我要查 E100234 上个月的差旅报销进度", state={"employee_id": "E100234"}))
        assert calls(first) == [APRIL]

        redis = Redis.from_url(stack.valkey.url)
        lost = [key async for key in redis.scan_iter("taoloop:memory:*")]
        assert await redis.delete(*lost) == 1
        await redis.aclose()
        second = await run(client, asking("再查一下差旅报销进度"))
        third = await run(client, asking("那3月呢？"))
        other_session = await run(client, asking("再查一下差旅报销进度", session="s2"))
        other_line = await run(client, asking("再查一下差旅报销进度", line="hr"))

    assert calls(second) == [APRIL]
    assert calls(third) == [{**APRIL, "period": "2024-03-01~2024-03-31"}]
    assert calls(other_session) == calls(other_line) == []
    record = audit_record(second[0].run_id, second)
    assert record["outcome"] == "answered"
    assert "E100234" not in str(record)
