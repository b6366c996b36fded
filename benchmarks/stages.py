"""What each stage of a run costs by itself: the real functions on the records of a real run, in one process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.caller import Work
from benchmarks.hops import bare_hop, thought_hop
from benchmarks.in_process import InProcess
from benchmarks.log_writes import appends_of, bare_appends, log_appends
from taoloop.action.ports import Transport
from taoloop.api.v1 import action_pb2, loop_pb2, observation_pb2, thought_pb2
from taoloop.core.clock import Clock
from taoloop.core.exact_json import ABSENT
from taoloop.core.ids import new_id
from taoloop.core.telemetry import Telemetry
from taoloop.loop.answering.facts import compose
from taoloop.loop.answering.findings import findings_of
from taoloop.loop.answering.wording import words_of
from taoloop.loop.servicer import run_codec
from taoloop.loop.state import RunState
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.acting import ExecuteResponse
from taoloop.plan.check import CheckContext, check_plan
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.observing import ObserveResponse
from taoloop.plan.resolve import Resolution, ResolveContext, StepResult, resolve_step
from taoloop.plan.running import RunRequest, RunResponse
from taoloop.plan.task import Permissions, Task
from taoloop.plan.thinking import Answer
from taoloop.values.conversions import ConversionContext
from taoloop.wire.records.codec import decode, encode


class StagesUnusable(RuntimeError):
    """The run in this process did not come to a plan with two steps: there is nothing to time."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage.

    Attributes:
        name: Key of the result.
        work: Does what one run needs of the stage; says whether it went well.
        repeats: How often it is done in one round.
        concurrency: How many at the same time.
    """

    name: str
    work: Work
    repeats: int
    concurrency: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the stages stand on.

    Attributes:
        traced: The four domains with telemetry as a service has it by default.
        untraced: The same without recorded spans.
        transport: The real way to the tools.
        redis_url: A Valkey.
        telemetry: For what stands beside the domains.
        clock: The machine's.
        concurrency: How many runs are open at the same time.
    """

    traced: InProcess
    untraced: InProcess
    transport: Transport
    redis_url: str
    telemetry: Telemetry
    clock: Clock
    concurrency: int


@asynccontextmanager
async def opened_stages(ground: Ground, task: Task) -> AsyncIterator[tuple[Stage, ...]]:
    """Make the run whose records are used, and give the stages.

    Raises:
        StagesUnusable: The run did not come to a plan with two steps.
    """
    async with AsyncExitStack() as stack:
        traced = await stack.enter_async_context(ground.traced.runs())
        untraced = await stack.enter_async_context(ground.untraced.runs())
        await ground.untraced.run(untraced, task)
        await ground.traced.run(traced, task)
        seen = ground.traced.seen
        run_id, events, tool_calls = seen.events[0].run_id, list(seen.events), list(seen.tool_calls)
        thinks, executes, observes = list(seen.thinks), list(seen.executes), list(seen.observes)
        if len(thinks) != 1 or len(executes) != 2 or len(observes) != 2:
            raise StagesUnusable(f"one thought and two steps were wanted, not {len(thinks)} and {len(executes)}")
        asked, thought = thinks[0]
        url, telemetry, clock, at_once = ground.redis_url, ground.telemetry, ground.clock, ground.concurrency
        hop = await stack.enter_async_context(thought_hop(url, asked, thought, telemetry, clock))
        peer = await stack.enter_async_context(bare_hop(url))
        appends = appends_of(events)
        append = await stack.enter_async_context(log_appends(url, appends, telemetry, clock))
        append_peer = await stack.enter_async_context(bare_appends(url, appends, clock))
        messages = _messages(task, ground)
        raw = [(record_class, message, _bytes(record, message)) for record, record_class, message in messages]
        state = RunState.from_events(run_id, events)
        tools = KnownTools(
            "", {tool.name: tool for tool in (await ground.traced.list_tools(ground.traced.call())).tools}
        )
        plan = thought.outcome
        assert isinstance(plan, ThoughtPlan)
        domain = ground.traced

        async def execute() -> bool:
            for request, _ in executes:
                await domain.executor.execute(replace(request, request_id=new_id(clock)), domain.call())
            return True

        async def think() -> bool:
            await domain.thinker.think(asked, domain.call().deadline)
            return True

        async def tool_http() -> bool:
            for call in tool_calls:
                await ground.transport.attempt(call)
            return True

        async def run_in_process() -> bool:
            await ground.traced.run(traced, task)
            return True

        async def run_untraced() -> bool:
            await ground.untraced.run(untraced, task)
            return True

        codec = run_codec()
        context = _check_context(ground, task)
        yield (
            Stage("rpc_encode", _done(lambda: [_bytes(record, message) for record, _, message in messages]), 100),
            Stage("rpc_decode", _done(lambda: [decode(cls, pb.FromString(data)) for cls, pb, data in raw]), 100),
            Stage("think", think, 100),
            Stage("think_plan", _done(lambda: domain.planner.plan(asked)), 100),
            Stage("think_check", _done(lambda: check_plan(plan, context)), 100),
            Stage("resolve", _done(lambda: _resolved(plan, state, tools)), 200),
            Stage("execute", execute, 100),
            Stage("tool_http", tool_http, 60),
            Stage("observe", _done(lambda: [domain.observer.observe(request) for request, _ in observes]), 200),
            Stage("answer", _done(lambda: _answered(state, tools)), 200),
            Stage("log_encode", _done(lambda: [codec.encode(event) for event in events]), 100),
            Stage("log_append", append, 200, at_once),
            Stage("bare_append", append_peer, 200, at_once),
            Stage("queue_hop", hop, 200, at_once),
            Stage("bare_hop", peer, 400, at_once),
            Stage("run_in_process", run_in_process, 60),
            Stage("run_in_process_untraced", run_untraced, 60),
        )


def _answered(state: RunState, tools: KnownTools) -> Answer:
    words = words_of((record.tool for record in state.steps.values()), tools.by_name)
    return compose(findings_of(state.steps.values()), words, state.task.locale)


def _done(work: Callable[[], object]) -> Work:
    async def done() -> bool:
        work()
        return True

    return done


def _bytes(record: Any, message: Any) -> bytes:
    raw: bytes = encode(record, message).SerializeToString()
    return raw


def _messages(task: Task, ground: Ground) -> list[tuple[Any, Any, Any]]:
    """Return every message that crosses gRPC in one run: record, its class, the message's class."""
    seen = ground.traced.seen
    found: list[tuple[Any, Any, Any]] = [(RunRequest(task=task), RunRequest, loop_pb2.RunRequest)]
    found += [(RunResponse(event=event), RunResponse, loop_pb2.RunResponse) for event in seen.events]
    for asked, thought in seen.thinks:
        found += [(asked, type(asked), thought_pb2.ThinkRequest), (thought, type(thought), thought_pb2.ThinkResponse)]
    for request, result in seen.executes:
        found += [
            (request, type(request), action_pb2.ExecuteRequest),
            (ExecuteResponse(result=result), ExecuteResponse, action_pb2.ExecuteResponse),
        ]
    for wanted, verdict in seen.observes:
        found += [
            (wanted, type(wanted), observation_pb2.ObserveRequest),
            (ObserveResponse(result=verdict), ObserveResponse, observation_pb2.ObserveResponse),
        ]
    return found


def _check_context(ground: Ground, task: Task) -> CheckContext:
    catalogue = ground.traced.catalogue
    return CheckContext(
        tools={signature.name: signature for signature in catalogue.signatures()},
        catalogue_digest=catalogue.digest,
        permissions=task.permissions or Permissions(),
        turns=task.turns,
        state=task.state,
    )


def _resolved(plan: ThoughtPlan, state: RunState, tools: KnownTools) -> list[Resolution]:
    """Resolve every step as the loop does, with the results of the finished run."""
    task = state.task
    assert task.reference_time is not None
    conversion = ConversionContext(reference_time=task.reference_time, time_zone=task.time_zone, locale=task.locale)
    resolved = []
    for step in plan.steps:
        results = {
            record.step_id: StepResult(record.observation.data, record.observation.trust)
            for record in state.steps.values()
            if record.observation is not None and record.observation.data is not ABSENT
        }
        found = resolve_step(
            step,
            ResolveContext(
                parameters=tools.parameters(step.tool),
                turns=task.turns,
                state=task.state,
                results=results,
                conversion=conversion,
            ),
        )
        assert isinstance(found, Resolution)
        resolved.append(found)
    return resolved
