"""Answers over the real wire: a model's text is checked, what does not hold is replaced, and snapshots are verified."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from taoloop.cli.settings import CliSettings
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.settings import load_settings
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import ResultObserved, RunFinished
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.plan.thinking import Answer, AnswerOrigin
from taoloop.testing.chat.server import ChatServer, ScriptedReply
from taoloop.testing.stack import DevStack, StackOptions, dev_stack
from taoloop.wire.clients import loop_client

CATALOGUE = Path(__file__).parents[3] / "examples" / "customer-service"
SHIPMENT = "订单 20260308000012345 的快递到哪里了？"
CLAIMS = "员工 E100234 上个月的报销进度"


async def run(stack: DevStack, text: str, output_schema: Json = ABSENT) -> list[object]:
    """Return the bodies of a run's events."""
    task = Task(
        turns=(Turn(role=Role.USER, text=text),),
        reference_time=datetime.fromisoformat("2026-03-10T09:00:00+08:00"),
        time_zone="Asia/Shanghai",
        locale="zh-CN",
        output_schema=output_schema,
    )
    async with loop_client(stack.loop_address, load_settings(CliSettings).grpc, stack.telemetry) as client:
        call = CallContext(deadline=Deadline.after(25.0, SystemClock()))
        return [event.body async for event in client.run(task, call)]


def answer_of(bodies: list[object]) -> Answer:
    finished = bodies[-1]
    assert isinstance(finished, RunFinished)
    assert finished.outcome is Outcome.ANSWERED, finished.fault
    return next(body for body in bodies if isinstance(body, Answer))


async def test_answers_of_a_model_are_checked_and_snapshots_verified_over_the_wire() -> None:
    replies = [
        ScriptedReply(text="您的快递 SF100200300400 正在运输途中。"),
        ScriptedReply(text="您的快递 SF100200300499 预计 2026-03-19 送达。"),
        ScriptedReply(status=503),
        ScriptedReply(text="订单号为 20260308000012345。"),
    ]
    async with ChatServer(replies) as server:
        model = {"url": server.url, "timeout_seconds": 5.0}
        settings = {"loop": {"answer": {"by": "model", "model": model}}}
        async with dev_stack(StackOptions(catalogue=CATALOGUE, settings=settings)) as stack:
            worded = answer_of(await run(stack, SHIPMENT))
            assert (worded.origin, worded.replaced) == (AnswerOrigin.MODEL, None)
            assert worded.text == replies[0].text
            assert ("SF100200300400", "/tracking_number") in [(each.text, each.pointer) for each in worded.grounding]

            replaced = answer_of(await run(stack, SHIPMENT))
            assert replaced.origin is AnswerOrigin.TEMPLATE
            assert "SF100200300400" in replaced.text
            assert replaced.replaced is not None
            assert replaced.replaced.code == "ANSWER_UNGROUNDED"
            assert isinstance(replaced.replaced.actual, list)
            assert "SF100200300499" in replaced.replaced.actual

            bodies = await run(stack, CLAIMS)
            assert answer_of(bodies).origin is AnswerOrigin.TEMPLATE
            seen = [body.result for body in bodies if isinstance(body, ResultObserved)]
            assert all(isinstance(result, ObservationResult) for result in seen)
            assert "snapshot_consumed" in [passed for result in seen if result for passed in result.audit_trail]

            schema: Json = {
                "type": "object",
                "required": ["trackingNumber"],
                "properties": {"trackingNumber": {"type": "string"}},
                "additionalProperties": False,
            }
            assert answer_of(await run(stack, SHIPMENT, schema)).data == {"trackingNumber": "SF100200300400"}

            shown = stack.telemetry.metrics.exposition()
            assert 'taoloop_answers_total{origin="model"} 2.0' in shown
            assert 'taoloop_answers_replaced_total{reason="ungrounded"} 1.0' in shown
            assert 'taoloop_answers_replaced_total{reason="refused"} 1.0' in shown
