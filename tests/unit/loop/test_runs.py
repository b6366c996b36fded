"""Runs as callers see them: started, attached to, followed, answered, cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import (
    BackendUnavailable,
    DeadlineExceeded,
    InvalidRequest,
    NotWaiting,
    RequestIdReused,
    TooManyRuns,
    UnknownRun,
)
from taoloop.core.exact_json import JsonValue
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry, names
from taoloop.loop.driver import DriverServices
from taoloop.loop.host import RunHost, RunsConfig
from taoloop.loop.limits import RunLimits
from taoloop.loop.people.people import People
from taoloop.loop.ports import NewRun, RunsWanted
from taoloop.loop.runs import Runs
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.plan.acting import ExecuteRequest
from taoloop.plan.fingerprint import thought_fingerprint
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.running import CancelRunRequest, ListRunsRequest, ProvideInputRequest, RunEvent, RunFinished
from taoloop.plan.running.handovers import ListHandoversRequest
from taoloop.plan.task import InputField, Outcome, ProvidedInput, Role, Task, Turn
from taoloop.plan.thinking import NeedInput, ThinkResponse
from taoloop.testing.run_log import InMemoryRunLeases, InMemoryRunLog, LeaseTable
from taoloop.testing.services import ScriptedAction, ScriptedObservation, ScriptedThought

CLOCK = SystemClock()
TASK = Task(request_id="q1", turns=(Turn(role=Role.USER, text="where is it"),))
INPUT_ID = "a" * 32
ASK = ThinkResponse(
    outcome=NeedInput(input_id=INPUT_ID, fields=(InputField(pointer="/id", tool="find", schema={"type": "string"}),))
)
PLAN = ThinkResponse(outcome=ThoughtPlan(steps=(PlanStep(step_id="1.t1", tool="find"),)))
CONFIG = RunsConfig(
    limits=RunLimits(
        max_iterations=5, max_wall_time_seconds=5.0, max_tokens=1000, max_calls_per_tool=10, max_result_bytes=10_000
    ),
    max_parallel_steps=4,
    max_open_runs=2,
    log_timeout_seconds=1.0,
    drain_seconds=0.05,
)


class SlowRunLog(InMemoryRunLog):
    """A log that has one of the events a while before it says so."""

    def __init__(self, slow_write: int) -> None:
        super().__init__()
        self.is_writing = asyncio.Event()
        self._slow_write = slow_write

    async def append(self, tenant: str, events: Sequence[RunEvent], deadline: Deadline) -> None:
        await super().append(tenant, events, deadline)
        if any(event.sequence == self._slow_write for event in events):
            self.is_writing.set()
            await asyncio.sleep(0.02)


@dataclass(slots=True)
class Host:
    """A host of runs on doubles."""

    runs: Runs
    people: People
    log: InMemoryRunLog
    action: ScriptedAction
    telemetry: Telemetry
    exporter: InMemorySpanExporter
    thought: ScriptedThought


async def hang(_: ExecuteRequest) -> JsonValue:
    await asyncio.Event().wait()
    return {}


@asynccontextmanager
async def host(
    *thoughts: ThinkResponse, action: ScriptedAction | None = None, log: InMemoryRunLog | None = None
) -> AsyncIterator[Host]:
    exporter = InMemorySpanExporter()
    telemetry = Telemetry.build(TelemetrySettings(), "test", exporter=exporter)
    action = action or ScriptedAction({"find": {"n": 1}})
    log = log or InMemoryRunLog()
    thought = ScriptedThought(*thoughts)
    services = DriverServices(
        thought=thought,
        steps=StepServices(action=action, observation=ScriptedObservation(), clock=CLOCK),
        directory=ToolDirectory(action, CLOCK, 60.0),
        clock=CLOCK,
    )
    leases = InMemoryRunLeases(LeaseTable(CLOCK))
    async with RunHost(services, log, leases, CONFIG, telemetry, CLOCK) as run_host:
        people = People.of(run_host, log, action, telemetry.metrics, CLOCK)
        yield Host(Runs(run_host, log, CONFIG.limits, CLOCK), people, log, action, telemetry, exporter, thought)


def call(seconds: float = 5.0, tenant: str = "acme") -> CallContext:
    return CallContext(deadline=Deadline.after(seconds, CLOCK), tenant=tenant)


async def events_of(here: Host, task: Task = TASK, digest: str = "d", seconds: float = 5.0) -> list[RunEvent]:
    return [event async for event in here.runs.run(task, digest, call(seconds))]


def outcome_of(events: list[RunEvent]) -> Outcome | None:
    body = events[-1].body
    assert isinstance(body, RunFinished)
    return body.outcome


async def test_a_run_streams_its_events_without_gaps_to_its_end() -> None:
    async with host(PLAN) as here:
        events = await events_of(here)

    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert outcome_of(events) is Outcome.ANSWERED
    assert here.telemetry.metrics.counter(names.RUNS).labels(outcome="answered")._value.get() == 1


async def test_the_same_request_attaches_to_the_run() -> None:
    async with host(PLAN) as here:
        first = await events_of(here)
        second = await events_of(here)

    assert first == second
    assert len(here.action.requests) == 1


async def test_another_task_under_the_same_request_id_is_refused() -> None:
    async with host(PLAN) as here:
        await events_of(here)
        with pytest.raises(RequestIdReused):
            await events_of(here, digest="other")


async def test_a_bad_task_is_refused_before_anything_is_written() -> None:
    async with host(PLAN) as here:
        with pytest.raises(InvalidRequest):
            await events_of(here, replace(TASK, turns=()))
        assert (await here.runs.list(ListRunsRequest(), call())).runs == ()


async def test_a_caller_that_stops_reading_ends_the_run() -> None:
    async with host(PLAN, action=ScriptedAction({"find": hang})) as here:
        async with aclosing(here.runs.run(TASK, "d", call())) as events:
            run_id = (await anext(events)).run_id

        assert (await here.runs.get(run_id, call())).outcome is Outcome.CANCELLED


@pytest.mark.parametrize("at_write", range(1, 7))
async def test_a_caller_that_leaves_while_an_event_is_written_leaves_no_run_without_an_end(at_write: int) -> None:
    log = SlowRunLog(at_write)
    async with host(PLAN, log=log) as here:
        caller = asyncio.get_running_loop().create_task(events_of(here))
        await log.is_writing.wait()
        caller.cancel()
        await asyncio.wait([caller])

        [run] = (await here.runs.list(ListRunsRequest(), call())).runs
        run_id = run.run_id
        events = [event async for event in here.runs.watch(run_id, 1, call())]

    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert outcome_of(events) in {Outcome.CANCELLED, Outcome.ANSWERED}
    assert len([event for event in events if isinstance(event.body, RunFinished)]) == 1


async def test_a_caller_that_is_cut_off_while_it_submits_finds_its_run_when_it_asks_again() -> None:
    log = SlowRunLog(1)
    async with host(PLAN, log=log) as here:
        caller = asyncio.get_running_loop().create_task(here.runs.submit(TASK, "d", call()))
        await log.is_writing.wait()
        caller.cancel()
        await asyncio.wait([caller])

        again = await here.runs.submit(TASK, "d", call())
        events = [event async for event in here.runs.watch(again.run_id, 1, call())]

    assert again.attached
    assert outcome_of(events) is Outcome.ANSWERED


async def test_the_callers_deadline_ends_the_run_and_is_an_error_for_the_caller() -> None:
    async with host(PLAN, action=ScriptedAction({"find": hang})) as here:
        with pytest.raises(DeadlineExceeded):
            await events_of(here, seconds=0.1)

        [summary] = (await here.runs.list(ListRunsRequest(), call())).runs
        assert (summary.outcome, summary.fault and summary.fault.code) == (Outcome.FAILED, "DEADLINE_EXCEEDED")


async def test_a_caller_that_leaves_since_its_time_is_up_has_not_cancelled_the_run() -> None:
    async with host(PLAN, action=ScriptedAction({"find": hang})) as here:
        async with aclosing(here.runs.run(TASK, "d", call(0.09))) as events:
            run_id = (await anext(events)).run_id

        ended = await here.runs.get(run_id, call())
        assert (ended.outcome, ended.fault and ended.fault.code) == (Outcome.FAILED, "DEADLINE_EXCEEDED")


async def test_a_submitted_run_goes_on_without_its_caller_and_can_be_watched_from_any_event() -> None:
    async with host(PLAN) as here:
        submitted = await here.runs.submit(TASK, "d", call())
        events = [event async for event in here.runs.watch(submitted.run_id, 1, call())]
        later = [event async for event in here.runs.watch(submitted.run_id, 3, call())]
        again = await here.runs.submit(TASK, "d", call())

    assert outcome_of(events) is Outcome.ANSWERED
    assert later == events[2:]
    assert (submitted.attached, again.attached, again.run_id) == (False, True, submitted.run_id)


async def test_a_question_is_answered_and_the_run_goes_on() -> None:
    async with host(ASK, PLAN) as here:
        asked = await events_of(here)
        request = ProvideInputRequest(
            run_id=asked[0].run_id, input=ProvidedInput(input_id=INPUT_ID, values={"id": "A1"})
        )
        reply = await here.people.desk.provide_input(request, call())
        rest = [event async for event in here.runs.watch(reply.run_id, reply.next_sequence, call())]
        repeated = await here.people.desk.provide_input(request, call())

    assert outcome_of(asked) is Outcome.NEEDS_INPUT
    assert outcome_of(rest) is Outcome.ANSWERED
    assert rest[0].sequence == asked[-1].sequence + 1
    assert repeated.run_id == reply.run_id
    assert len(here.action.requests) == 1


async def test_a_thought_is_told_what_the_one_before_came_to() -> None:
    async with host(ASK, PLAN) as here:
        asked = await events_of(here)
        given = ProvidedInput(input_id=INPUT_ID, values={"id": "A1"})
        reply = await here.people.desk.provide_input(ProvideInputRequest(run_id=asked[0].run_id, input=given), call())
        assert [event async for event in here.runs.watch(reply.run_id, reply.next_sequence, call())]

    first, second = here.thought.requests
    assert first.previous_thought_sha256 == ""
    assert second.previous_thought_sha256 == thought_fingerprint(ASK.outcome)


async def test_a_run_that_goes_on_does_so_in_a_trace_of_its_own_that_links_to_the_first() -> None:
    async with host(ASK, PLAN) as here:
        with here.telemetry.tracing.span("who asks"):
            run_id = (await events_of(here))[0].run_id
        given = ProvidedInput(input_id=INPUT_ID, values={"id": "A1"})
        with here.telemetry.tracing.span("who answers"):
            reply = await here.people.desk.provide_input(ProvideInputRequest(run_id=run_id, input=given), call())
        assert [event async for event in here.runs.watch(run_id, reply.next_sequence, call())]

    first, second = [span for span in here.exporter.get_finished_spans() if span.name == names.RUN_SPAN]
    traces = {span.name: span.context.trace_id for span in here.exporter.get_finished_spans()}
    assert second.context.trace_id not in {traces["who asks"], traces["who answers"]}
    assert [link.context.trace_id for link in second.links] == [first.context.trace_id]


async def test_an_answer_that_nobody_waits_for_is_refused() -> None:
    async with host(PLAN) as here:
        run_id = (await events_of(here))[0].run_id
        with pytest.raises(NotWaiting):
            await here.people.desk.provide_input(
                ProvideInputRequest(run_id=run_id, input=ProvidedInput(input_id=INPUT_ID, values={})), call()
            )


async def test_a_run_of_another_tenant_is_unknown() -> None:
    async with host(PLAN) as here:
        run_id = (await events_of(here))[0].run_id
        with pytest.raises(UnknownRun):
            await here.runs.get(run_id, call(tenant="other"))


async def test_cancelling_ends_a_run_once() -> None:
    async with host(PLAN, action=ScriptedAction({"find": hang})) as here:
        run_id = (await here.runs.submit(TASK, "d", call())).run_id
        first = await here.runs.cancel(CancelRunRequest(run_id=run_id), call())
        second = await here.runs.cancel(CancelRunRequest(run_id=run_id), call())
        events = await here.log.read("acme", run_id, 1, Deadline.after(1.0, CLOCK))

    assert (first, second) == (Outcome.CANCELLED, Outcome.CANCELLED)
    assert len([event for event in events if isinstance(event.body, RunFinished)]) == 1


async def test_a_run_that_waits_for_an_answer_can_be_cancelled() -> None:
    async with host(ASK) as here:
        run_id = (await events_of(here))[0].run_id
        assert await here.runs.cancel(CancelRunRequest(run_id=run_id), call()) is Outcome.CANCELLED
        assert (await here.runs.get(run_id, call())).outcome is Outcome.CANCELLED


async def test_a_host_refuses_more_runs_than_it_may_drive() -> None:
    async with host(PLAN, PLAN, PLAN, action=ScriptedAction({"find": hang})) as here:
        await here.runs.submit(replace(TASK, request_id="a"), "a", call())
        await here.runs.submit(replace(TASK, request_id="b"), "b", call())
        with pytest.raises(TooManyRuns) as refused:
            await here.runs.submit(replace(TASK, request_id="c"), "c", call())

    assert refused.value.retry_after_seconds == 1.0


async def test_a_log_that_goes_away_is_told_to_the_caller_and_hurts_no_other_run() -> None:
    log = InMemoryRunLog()

    async def take_the_log_away(_: ExecuteRequest) -> JsonValue:
        log.is_down = True
        return {}

    async with host(PLAN, PLAN, action=ScriptedAction({"find": take_the_log_away}), log=log) as here:
        with pytest.raises(BackendUnavailable):
            await events_of(here)
        assert not here.runs._host._open
        log.is_down = False
        here.action._answers["find"] = {"n": 2}
        events = await events_of(here, replace(TASK, request_id="q2"))

    assert outcome_of(events) is Outcome.ANSWERED


async def test_a_run_whose_host_died_before_its_first_event_is_begun_by_who_asks_again() -> None:
    log = InMemoryRunLog()
    lost = NewRun(tenant="acme", run_id="f" * 32, request_id="q1", task_digest="d", created_at=CLOCK.now())
    await log.create(lost, Deadline.after(1.0, CLOCK))

    async with host(PLAN, log=log) as here:
        events = await events_of(here)

    assert {event.run_id for event in events} == {"f" * 32}
    assert outcome_of(events) is Outcome.ANSWERED


async def test_run_that_is_entered_and_has_no_event_yet_does_not_spoil_the_list() -> None:
    entered = NewRun(tenant="acme", run_id="f" * 32, request_id="q2", task_digest="d", created_at=CLOCK.now())
    async with host(ASK) as here:
        await events_of(here)
        await here.log.create(entered, Deadline.after(1.0, CLOCK))
        page = await here.runs.list(ListRunsRequest(), call())

    assert [run.request_id for run in page.runs] == ["q1"]


async def test_runs_are_listed_with_where_they_stand() -> None:
    async with host(ASK) as here:
        await events_of(here)
        page = await here.runs.list(ListRunsRequest(), call())
        none = await here.runs.list(ListRunsRequest(outcome=Outcome.ANSWERED), call())

    assert [run.outcome for run in page.runs] == [Outcome.NEEDS_INPUT]
    assert page.runs[0].input_required is not None
    assert none.runs == ()


async def test_no_page_of_runs_or_handovers_is_longer_than_it_may_be() -> None:
    async with host(ASK) as here:
        with pytest.raises(InvalidRequest, match="negative"):
            await here.runs.list(ListRunsRequest(page_size=-1), call())
        with pytest.raises(InvalidRequest, match="negative"):
            await here.people.handovers.list(ListHandoversRequest(page_size=-1), call())

    assert [RunsWanted.on_page(size, "").most for size in (0, 1, 200, 201)] == [50, 1, 200, 200]


async def test_a_host_that_stops_says_nothing_of_what_it_still_drives() -> None:
    log = InMemoryRunLog()
    async with host(PLAN, action=ScriptedAction({"find": hang}), log=log) as here:
        run_id = (await here.runs.submit(TASK, "d", call())).run_id

    events = await log.read("acme", run_id, 1, Deadline.after(1.0, CLOCK))
    assert not any(isinstance(event.body, RunFinished) for event in events)
