"""Rules of a call about a job: pace, misses, the end of its time, cancellation, and what the ledger learns."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.executor import Executor, ExecutorOptions
from taoloop.action.ledger.effects import EffectQuery
from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.action.transports.jobs import desk as desk_module
from taoloop.action.transports.jobs.desk import JobDesk
from taoloop.action.transports.jobs.handles import JobHandles
from taoloop.action.transports.jobs.transport import JobHttpTransport
from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus, JobCare, ServedBy
from taoloop.plan.effects import EffectState
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.testing.transport import Answer, ScriptedTransport, json_reply
from taoloop.tools.contract import Retry
from tests.unit.action.contracts import catalogue, context, request, telemetry
from tests.unit.action.transports.jobs.job_contracts import FORM, READ_JOB, WRITE_JOB, created, queried

ONCE = Retry(attempts=1)
CREATED = json_reply(created())
RUNNING = json_reply(queried())
DONE = json_reply(queried("succeeded", result={"n": 3}))
LOST = TransportFault(FaultCode.TOOL_TIMEOUT, "No answer.", may_have_left=True, is_retriable=True)
NO_CANCEL = replace(
    READ_JOB, name="unstoppable", transport=replace(FORM, cancel=None), document={"name": "unstoppable"}
)


class Bench:
    """An executor whose jobs are on doubles."""

    def __init__(self, *answers: Answer, is_impatient: bool = True, key: bytes = b"k" * 32) -> None:
        self.clock = FakeClock(is_impatient=is_impatient)
        self.http = ScriptedTransport(answers)
        self.ledger = InMemoryEffectLedger(self.clock)
        self.telemetry = telemetry()
        self.start(key)

    def start(self, key: bytes = b"k" * 32) -> None:
        """Make a new process of it: nothing is remembered but the ledger."""
        tools = catalogue(None, *(replace(tool, retry=ONCE) for tool in (READ_JOB, WRITE_JOB, NO_CANCEL)))
        transport = JobHttpTransport(self.http, self.clock)
        self.jobs = JobDesk(transport, self.ledger, JobHandles(key), self.clock, self.telemetry.metrics)
        self.executor = Executor(
            tools, transport, self.ledger, self.telemetry, self.clock, ExecutorOptions(jobs=self.jobs)
        )

    async def run(
        self,
        tool: str = "count_all",
        handle: Json = ABSENT,
        *,
        seconds: float = 10.0,
        tenant: str = "acme",
        **more: Any,
    ) -> ActionResult:
        wanted = request(tool, job_handle=handle, **more)
        return await self.executor.execute(wanted, context(self.clock, seconds, tenant))

    async def effect(self) -> EffectState:
        (record,) = await self.ledger.list("acme", EffectQuery())
        return record.state


def told(result: ActionResult) -> tuple[ActionStatus, str]:
    return result.status, result.fault.code if result.fault is not None else ""


def handle_of(result: ActionResult) -> dict[str, Any]:
    assert isinstance(result.job_handle, dict)
    return result.job_handle


async def test_a_job_is_pending_until_it_has_succeeded() -> None:
    bench = Bench(CREATED, RUNNING, DONE)
    first = await bench.run()
    assert told(first) == (ActionStatus.PENDING, "")
    assert handle_of(first)["state"] == "pending"
    second = await bench.run(handle=first.job_handle)
    assert (told(second), handle_of(second)["state"]) == ((ActionStatus.PENDING, ""), "running")
    last = await bench.run(handle=second.job_handle)
    assert (told(last), last.parsed, last.job_handle) == ((ActionStatus.SUCCEEDED, ""), {"n": 3}, ABSENT)
    assert len(bench.http.calls) == 3


async def test_queries_keep_their_distance_whoever_comes_how_often() -> None:
    bench = Bench(CREATED, RUNNING, RUNNING)
    handle = (await bench.run()).job_handle
    for _ in range(2):
        handle = (await bench.run(handle=handle)).job_handle
    assert bench.clock.monotonic() == 4.0


async def test_a_caller_without_time_for_the_pause_gets_the_last_state_unasked() -> None:
    bench = Bench(CREATED)
    handle = (await bench.run()).job_handle
    result = await bench.run(handle=handle, timeout_seconds=1.5)
    assert (told(result), result.attempts, bench.clock.monotonic()) == ((ActionStatus.PENDING, ""), (), 1.5)
    assert result.job_handle == handle


async def test_a_read_that_is_asked_for_twice_gets_the_same_job() -> None:
    bench = Bench(CREATED)
    first = await bench.run(request_id="a" * 32)
    again = await bench.run(request_id="a" * 32)
    assert (again.served_by, again.job_handle) == (ServedBy.DUPLICATE, first.job_handle)


async def test_a_query_without_an_answer_leaves_the_job_pending_a_bounded_number_of_times() -> None:
    bench = Bench(CREATED, *[LOST] * (desk_module.MAX_MISSES + 1))
    handle = (await bench.run(seconds=60)).job_handle
    for misses in range(1, desk_module.MAX_MISSES + 1):
        result = await bench.run(handle=handle)
        assert told(result) == (ActionStatus.PENDING, "")
        assert handle_of(result)["misses"] == misses
        assert [attempt.outcome for attempt in result.attempts] == ["TOOL_TIMEOUT"]
        handle = result.job_handle
    result = await bench.run(handle=handle)
    assert told(result) == (ActionStatus.TIMED_OUT, FaultCode.TOOL_TIMEOUT)
    assert handle_of(result)["state"] == "pending"


async def test_an_answer_in_between_forgives_the_misses() -> None:
    bench = Bench(CREATED, LOST, RUNNING)
    handle = (await bench.run()).job_handle
    handle = (await bench.run(handle=handle)).job_handle
    assert handle_of(await bench.run(handle=handle))["misses"] == 0


async def test_a_tool_that_says_when_to_come_back_is_not_asked_before() -> None:
    bench = Bench(CREATED, json_reply(None, 503, retry_after="7"), DONE)
    handle = (await bench.run()).job_handle
    handle = (await bench.run(handle=handle)).job_handle
    assert (await bench.run(handle=handle)).status is ActionStatus.SUCCEEDED
    assert bench.clock.monotonic() == 9.0


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (json_reply(queried("no such state")), FaultCode.JOB_PROTOCOL_FAULT),
        (json_reply(created()), FaultCode.JOB_PROTOCOL_FAULT),
        (json_reply(queried(job_id="j-2")), FaultCode.JOB_PROTOCOL_FAULT),
        (json_reply(queried("failed")), FaultCode.JOB_FAILED),
        (json_reply(queried("cancelled")), FaultCode.JOB_CANCELLED),
        (json_reply({}, 404), FaultCode.NOT_FOUND),
    ],
)
async def test_what_cannot_heal_is_told_at_once(answer: Reply, code: FaultCode) -> None:
    bench = Bench(CREATED, answer)
    result = await bench.run(handle=(await bench.run()).job_handle)
    assert told(result) == (ActionStatus.FAILED, code)
    assert len(bench.http.calls) == 2


async def test_a_job_has_a_total_time_and_then_its_last_state_and_handle_are_told() -> None:
    bench = Bench(CREATED, RUNNING)
    handle = (await bench.run(seconds=60)).job_handle
    handle = (await bench.run(handle=handle)).job_handle
    bench.clock.advance(30)
    result = await bench.run(handle=handle)
    assert told(result) == (ActionStatus.TIMED_OUT, FaultCode.JOB_TIMEOUT)
    assert result.fault is not None
    assert (result.fault.actual, result.fault.retriable, result.fault.field) == (
        "running",
        False,
        "/spec/transport/job/total",
    )
    assert handle_of(result)["state"] == "running"


async def test_a_caller_waits_no_longer_than_the_job_has_time() -> None:
    bench = Bench(CREATED, RUNNING)
    handle = (await bench.run()).job_handle
    bench.clock.advance(18.5)
    handle = (await bench.run(handle=handle)).job_handle
    assert told(await bench.run(handle=handle, seconds=60)) == (ActionStatus.TIMED_OUT, FaultCode.JOB_TIMEOUT)
    assert bench.clock.monotonic() == 20.0


async def test_another_process_takes_the_job_over_by_its_handle() -> None:
    bench = Bench(CREATED, DONE)
    handle = (await bench.run()).job_handle
    bench.start()
    assert (await bench.run(handle=handle)).status is ActionStatus.SUCCEEDED


@pytest.mark.parametrize(
    "changes",
    [{"tenant": "other"}, {"run_id": "9" * 32}, {"tool": "unstoppable"}, {"arguments": {"key": "xyz"}}],
)
async def test_a_handle_serves_nobody_but_its_call(changes: dict[str, Any]) -> None:
    bench = Bench(CREATED)
    handle = (await bench.run()).job_handle
    assert told(await bench.run(handle=handle, **changes)) == (ActionStatus.REJECTED, FaultCode.JOB_HANDLE_REFUSED)


async def test_a_handle_is_refused_by_a_tool_without_jobs_and_by_an_executor_without_any() -> None:
    bench = Bench(CREATED)
    handle = (await bench.run()).job_handle
    assert told(await bench.run("look_up", handle)) == (ActionStatus.REJECTED, FaultCode.JOB_HANDLE_REFUSED)
    bare = Executor(catalogue(), bench.http, bench.ledger, bench.telemetry, bench.clock)
    result = await bare.execute(request(job_handle=handle), context(bench.clock))
    assert told(result) == (ActionStatus.REJECTED, FaultCode.JOB_HANDLE_REFUSED)


async def test_a_job_that_writes_is_created_once_and_recorded_when_it_is_over() -> None:
    bench = Bench(CREATED, RUNNING, DONE)
    first = await bench.run("build_all")
    assert await bench.effect() is EffectState.UNKNOWN
    again = await bench.run("build_all")
    assert (again.status, again.served_by, again.job_handle) == (
        ActionStatus.PENDING,
        ServedBy.DUPLICATE,
        first.job_handle,
    )
    second = await bench.run("build_all", again.job_handle)
    assert second.effect_id == first.effect_id
    last = await bench.run("build_all", second.job_handle)
    assert (last.status, last.effect_id, await bench.effect()) == (
        ActionStatus.SUCCEEDED,
        first.effect_id,
        EffectState.SUCCEEDED,
    )
    repeated = await bench.run("build_all")
    assert (repeated.parsed, repeated.served_by, len(bench.http.calls)) == ({"n": 3}, ServedBy.DUPLICATE, 3)


async def test_a_job_that_the_tool_calls_failed_frees_its_write() -> None:
    bench = Bench(CREATED, json_reply(queried("failed")), json_reply(created("j-2")))
    result = await bench.run("build_all", (await bench.run("build_all")).job_handle)
    assert (told(result), result.job_handle) == ((ActionStatus.FAILED, FaultCode.JOB_FAILED), ABSENT)
    assert await bench.effect() is EffectState.FAILED
    assert handle_of(await bench.run("build_all"))["job_id"] == "j-2"


@pytest.mark.parametrize("answer", [json_reply(queried("what")), json_reply({}, 404)])
async def test_a_write_whose_job_is_lost_has_an_unknown_outcome(answer: Reply) -> None:
    bench = Bench(CREATED, answer)
    result = await bench.run("build_all", (await bench.run("build_all")).job_handle)
    assert told(result) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)
    assert await bench.effect() is EffectState.UNKNOWN
    assert handle_of(result)["job_id"] == "j-1"


async def test_a_creation_that_the_tool_calls_failed_is_no_unknown_outcome() -> None:
    bench = Bench(json_reply(created(status="failed")))
    assert told(await bench.run("build_all")) == (ActionStatus.FAILED, FaultCode.JOB_FAILED)


async def test_a_ledger_that_is_down_costs_the_record_and_not_the_result() -> None:
    bench = Bench(CREATED, DONE)
    handle = (await bench.run("build_all")).job_handle
    bench.ledger.is_down = True
    assert (await bench.run("build_all", handle)).status is ActionStatus.SUCCEEDED
    bench.ledger.is_down = False
    assert await bench.effect() is EffectState.UNKNOWN


async def test_a_call_that_ran_out_of_time_before_it_asked_leaves_the_job_pending() -> None:
    bench = Bench(CREATED)
    handle = (await bench.run()).job_handle
    result = await bench.run(handle=handle, seconds=2.0)
    assert (told(result), result.job_handle) == ((ActionStatus.PENDING, ""), handle)


class Hanging:
    """A query that is never answered."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()

    async def __call__(self, _call: ToolCall) -> Reply:
        self.entered.set()
        await asyncio.Event().wait()
        raise AssertionError


async def cancelled(bench: Bench, tool: str, *, left_seconds: float, **more: Any) -> None:
    hanging = Hanging()
    handle = (await bench.run(tool)).job_handle
    bench.clock.advance(2.0)
    bench.http._answers.appendleft(hanging)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(bench.run(tool, handle, seconds=left_seconds, **more))
        await hanging.entered.wait()
        task.cancel()
    assert task.cancelled()


@pytest.mark.parametrize(
    "answer", [Reply(status_code=204), Reply(status_code=409), LOST], ids=["agrees", "refuses", "is_silent"]
)
async def test_a_caller_that_goes_away_cancels_the_job_once(answer: Answer) -> None:
    bench = Bench(CREATED, answer)
    await cancelled(bench, "count_all", left_seconds=10.0)
    assert [call.contract.http.method for call in bench.http.calls if call.contract.http] == ["POST", "GET", "DELETE"]
    assert bench.http.calls[-1].timeout_seconds == desk_module.CANCEL_SECONDS


async def test_a_job_that_is_kept_goes_on_when_its_caller_goes_away() -> None:
    bench = Bench(CREATED)
    await cancelled(bench, "count_all", left_seconds=10.0, job_care=JobCare.KEEP)
    assert [call.contract.http.method for call in bench.http.calls if call.contract.http] == ["POST", "GET"]


async def test_a_job_is_cancelled_at_once_when_its_caller_says_so() -> None:
    bench = Bench(CREATED, Reply(status_code=204))
    handle = (await bench.run()).job_handle
    result = await bench.run(handle=handle, job_care=JobCare.CANCEL)
    assert (result.status, bench.clock.monotonic()) == (ActionStatus.PENDING, 0.0)
    assert [call.contract.http.method for call in bench.http.calls if call.contract.http] == ["POST", "DELETE"]


async def test_a_job_without_a_way_to_cancel_it_is_left_alone() -> None:
    bench = Bench(CREATED)
    await cancelled(bench, "unstoppable", left_seconds=10.0)
    assert len(bench.http.calls) == 2


async def test_a_caller_whose_time_is_over_still_wants_the_job() -> None:
    bench = Bench(CREATED)
    await cancelled(bench, "count_all", left_seconds=0.4)
    assert len(bench.http.calls) == 2


async def test_a_caller_that_goes_away_in_the_pause_cancels_the_job() -> None:
    bench = Bench(CREATED, Reply(status_code=204), is_impatient=False)
    handle = (await bench.run()).job_handle
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(bench.run(handle=handle))
        for _ in range(20):
            await asyncio.sleep(0)
        assert bench.clock.sleepers
        task.cancel()
    assert len(bench.http.calls) == 2


async def test_ends_are_counted_and_the_desk_shows_its_jobs() -> None:
    bench = Bench(CREATED, DONE)
    await bench.run(handle=(await bench.run()).job_handle)
    labels = {"tool": "count_all", "outcome": "succeeded"}
    assert bench.telemetry.metrics.registry.get_sample_value("taoloop_action_jobs_ended_total", labels) == 1
    assert repr(bench.jobs) == "JobDesk(JobTimes(jobs=0))"
