"""A run over real gRPC whose caller's deadline passes while a tool is slow."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock, SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError
from taoloop.core.settings import GrpcSettings
from taoloop.evaluation.cases.adapters.loops import PlayedAction, new_telemetry, runs_on_doubles, task_with
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said
from taoloop.loop.servicer import SERVICE_NAME, LoopServicer, registrar
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, ServedBy
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.running import ListRunsRequest, RunFinished
from taoloop.plan.task import Outcome
from taoloop.testing.ports import LOOPBACK
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.tools.signature import Trust
from taoloop.wire.clients import LoopClient, loop_client
from taoloop.wire.component import Component
from taoloop.wire.server import serving

_TOOLS: Final = ("slow_tool", "next_tool", "last_tool")
_CHAIN: Final = ThoughtPlan(
    steps=(
        PlanStep(step_id="1.t1", tool=_TOOLS[0]),
        PlanStep(step_id="1.t2", tool=_TOOLS[1], depends_on=("1.t1",)),
        PlanStep(step_id="1.t3", tool=_TOOLS[2], depends_on=("1.t2",)),
    )
)
"""Steps that wait for one another: a run that does not stop would go on to the next one."""
_PATIENCE_SECONDS: Final = 5.0


async def _deadline(case_input: CaseInput) -> Said:
    client_seconds, tool_seconds = float(case_input["client_deadline_s"]), float(case_input["tool_s"])
    clock, telemetry = SystemClock(), new_telemetry()
    began: list[float] = []

    async def play(request: ExecuteRequest) -> ActionResult:
        began.append(clock.monotonic())
        await clock.sleep(tool_seconds)
        return _succeeded(request)

    async with AsyncExitStack() as stack:
        stack.push_async_callback(telemetry.aclose)
        enter = stack.enter_async_context
        settings = GrpcSettings()
        action, log = PlayedAction(_TOOLS, play), InMemoryRunLog()
        loop = await enter(runs_on_doubles(_CHAIN, action, log, telemetry, clock))
        servicer = LoopServicer(loop.runs, loop.people)
        component = Component(
            name="loop", service_names=(SERVICE_NAME,), register=registrar(servicer), is_ready=log.is_ready
        )
        server = await enter(serving((component,), settings, f"{LOOPBACK}:0", telemetry, clock, grace_seconds=1.0))
        client = await enter(loop_client(server.address, settings, telemetry))
        started = clock.monotonic()
        status = await _status(client, client_seconds, clock)
        elapsed = clock.monotonic() - started
        outcome = await _ended(client, clock)
    late = sum(moment > started + client_seconds for moment in began)
    return {
        "client_status": status,
        "elapsed_s": elapsed,
        "steps_started_after_deadline": late,
        "steps_started": len(began),
        "run_outcome": None if outcome is None else outcome.value,
    }


async def _status(client: LoopClient, seconds: float, clock: Clock) -> str:
    """Follow a run to its end and return the code of the call."""
    call = CallContext(deadline=Deadline.after(seconds, clock))
    try:
        async with aclosing(client.run(task_with({}), call)) as events:
            async for event in events:
                if isinstance(event.body, RunFinished):
                    break
    except TaoError as error:
        return error.code
    return "OK"


async def _ended(client: LoopClient, clock: Clock) -> Outcome | None:
    """Wait until the service says how the run ended, so that what it starts late is seen; None when it goes on."""
    patience = Deadline.after(_PATIENCE_SECONDS, clock)
    while not patience.is_expired:
        page = await client.list_runs(ListRunsRequest(), CallContext(deadline=patience))
        if page.runs and page.runs[0].outcome is not None:
            return page.runs[0].outcome
        await asyncio.sleep(0.02)
    return None


def _succeeded(request: ExecuteRequest) -> ActionResult:
    return ActionResult(
        step_id=request.step_id,
        tool=request.tool,
        status=ActionStatus.SUCCEEDED,
        parsed={},
        served_by=ServedBy.PRIMARY,
        trust=Trust.TRUSTED,
    )


GRPC_DEADLINE = Adapter(feed=_deadline, required=("client_deadline_s", "tool_s"))
