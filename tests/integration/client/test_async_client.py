"""The asynchronous client over a real channel: repeats, re-attachment, and runs that nobody waits for any more."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry

from taoloop.client import (
    ApprovalDecision,
    AsyncClient,
    BackendUnavailable,
    DeadlineExceeded,
    HandoverDecision,
    HandoverOutcome,
    InternalError,
    InvalidRequest,
    Outcome,
    RequestIdReused,
    Task,
    UnknownRun,
    user_says,
)
from taoloop.core import errors
from taoloop.plan.running import RunEvent
from tests.chaos.queue.proxy import CuttingProxy
from tests.integration.client.scripted_loop import RUN_ID, Script, scripted

QUICK = {"first_pause_seconds": 0.01, "longest_pause_seconds": 0.05}
AWAY = errors.BackendUnavailable("away")


@asynccontextmanager
async def opened(script: Script, **options: Any) -> AsyncIterator[AsyncClient]:
    async with scripted(script) as address, AsyncClient(address, client=QUICK, **options) as client:
        yield client


async def test_run_gives_its_answer() -> None:
    script = Script()
    async with opened(script, tenant="acme") as client:
        result = await client.run("What is it?")
    assert (result.run_id, result.outcome, result.text, result.is_answered) == (RUN_ID, Outcome.ANSWERED, "42", True)
    assert script.cancelled == []
    assert {call.tenant for call in script.calls} == {"acme"}


async def test_repeated_start_attaches_under_the_id_that_was_drawn_once() -> None:
    script = Script()
    script.fail("Submit", AWAY, AWAY)
    registry = CollectorRegistry()
    async with opened(script, registry=registry) as client:
        assert (await client.run("What is it?")).is_answered
    assert len(script.submitted) == 3
    assert len(set(script.submitted)) == 1
    labels = {"rpc": "Submit", "reason": "BACKEND_UNAVAILABLE"}
    assert registry.get_sample_value("taoloop_client_repeats_total", labels) == 2


async def test_request_id_of_the_caller_is_kept() -> None:
    script = Script()
    async with opened(script) as client:
        reply = await client.submit(Task(request_id="order-4711", turns=user_says("What is it?")))
    assert (reply.run_id, script.submitted) == (RUN_ID, ["order-4711"])


async def test_error_that_is_the_callers_is_raised_at_once() -> None:
    script = Script()
    violation = errors.FieldViolation("turns", "is empty")
    script.fail("Submit", errors.InvalidRequest("No turns.", violations=(violation,)))
    async with opened(script) as client:
        with pytest.raises(InvalidRequest) as caught:
            await client.run(Task())
    assert caught.value.violations == (violation,)
    assert len(script.submitted) == 1


async def test_request_id_of_another_task_is_told_as_such() -> None:
    script = Script()
    script.fail("Submit", errors.RequestIdReused.of("x"))
    async with opened(script) as client:
        with pytest.raises(RequestIdReused):
            await client.run("What is it?")


async def test_watch_goes_on_where_it_broke_off_each_time() -> None:
    script = Script()
    script.break_after.extend([1, 0, 2, 0])
    async with opened(script) as client:
        seen = [event.sequence async for event in client.watch(RUN_ID)]
    assert seen == [1, 2, 3, 4]
    assert script.watched == [1, 2, 2, 4, 4]


async def test_watch_that_breaks_after_the_last_event_yields_nothing_twice() -> None:
    script = Script()
    script.break_after.append(4)
    async with opened(script) as client:
        assert [event.sequence async for event in client.watch(RUN_ID)] == [1, 2, 3, 4]


async def test_watch_starts_where_it_is_asked_to() -> None:
    script = Script()
    async with opened(script) as client:
        assert [event.sequence async for event in client.watch(RUN_ID, 3)] == [3, 4]


async def test_event_that_was_seen_before_is_not_given_again() -> None:
    script = Script()
    first = script.events[0]
    script.events = [first, first, *script.events[1:]]
    async with opened(script) as client:
        assert [event.sequence async for event in client.watch(RUN_ID)] == [1, 2, 3, 4]


async def test_event_that_is_left_out_is_an_error_and_no_gap() -> None:
    script = Script()
    del script.events[1]
    seen: list[RunEvent] = []
    async with opened(script) as client:
        with pytest.raises(InternalError, match=r"Event 3 .* where event 2 was due"):
            seen.extend([event async for event in client.watch(RUN_ID)])


async def test_watch_of_no_run_is_told_at_once() -> None:
    script = Script()
    script.fail("Watch", errors.UnknownRun.of(RUN_ID))
    async with opened(script) as client:
        with pytest.raises(UnknownRun):
            await anext(client.watch(RUN_ID))
    assert script.watched == [1]


async def test_watch_goes_on_over_a_connection_that_is_cut_in_mid_stream() -> None:
    script = Script(holds=True)
    script.events = script.events[:2]
    seen = []
    async with (
        scripted(script) as address,
        CuttingProxy(int(address.rpartition(":")[2])) as proxy,
        AsyncClient(proxy.address, client=QUICK) as client,
        aclosing(client.watch(RUN_ID, timeout_seconds=20.0)) as events,
    ):
        async for event in events:
            seen.append(event.sequence)
            if event.sequence == 2:
                script.events, script.holds = Script().events, False
                await proxy.cut(0.2)
    assert seen == [1, 2, 3, 4]
    assert script.watched[0] == 1
    assert set(script.watched[1:]) == {3}


async def test_watch_goes_on_at_a_server_that_was_started_again() -> None:
    script = Script(holds=True)
    script.events = script.events[:2]
    async with scripted(script) as address:
        client = await AsyncClient(address, client=QUICK).__aenter__()
        events = client.watch(RUN_ID, timeout_seconds=20.0)
        seen = [(await anext(events)).sequence, (await anext(events)).sequence]
    async with scripted(Script(), address):
        seen += [event.sequence async for event in events]
    await client.__aexit__()
    assert seen == [1, 2, 3, 4]


async def test_service_that_stays_away_is_reported_when_the_time_is_over() -> None:
    async with AsyncClient("127.0.0.1:1", client=QUICK) as client:
        with pytest.raises((BackendUnavailable, DeadlineExceeded)):  # the last attempt may end with the time itself
            await client.run("What is it?", timeout_seconds=0.5)


async def test_caller_that_gives_up_ends_the_run() -> None:
    script = Script(holds=True)
    script.events = script.events[:2]
    async with opened(script) as client:
        running = asyncio.get_running_loop().create_task(client.run("What is it?"))
        await script.arrived.wait()
        script.arrived.clear()
        await script.arrived.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert script.cancelled == ["Its caller gave up."]


async def test_caller_that_gives_up_while_the_run_is_started_ends_it() -> None:
    script = Script()
    script.fail("Submit", AWAY, AWAY)
    async with opened(script) as client:
        running = asyncio.get_running_loop().create_task(client.run("What is it?"))
        await script.arrived.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert script.cancelled == ["Its caller gave up."]
    assert script.watched == []


async def test_caller_whose_time_is_over_ends_the_run() -> None:
    script = Script(holds=True)
    script.events = script.events[:2]
    async with opened(script) as client:
        with pytest.raises(DeadlineExceeded):
            await client.run("What is it?", timeout_seconds=0.3)
    assert script.cancelled == ["Its caller gave up."]


async def test_closed_stream_ends_the_run_and_a_closed_watch_leaves_it_alone() -> None:
    script = Script()
    async with opened(script) as client:
        async with aclosing(client.watch(RUN_ID)) as events:
            await anext(events)
        assert script.cancelled == []
        async with aclosing(client.stream("What is it?")) as events:
            await anext(events)
    assert script.cancelled == ["Its caller gave up."]


async def test_client_that_is_closed_ends_the_runs_that_are_waited_for_and_tells_their_callers() -> None:
    script = Script(holds=True)
    script.events = script.events[:2]
    async with opened(script) as client:
        left = client.stream("What is it?")
        await anext(left)
        script.arrived.clear()
        calls = [asyncio.get_running_loop().create_task(call) for call in (client.run("x"), client.wait(RUN_ID))]
        await script.arrived.wait()
    assert set(script.cancelled) == {"Its caller gave up."}
    for call in calls:
        with pytest.raises(RuntimeError, match="closed"):
            await call
    await left.aclose()  # raises nothing, and cancels nothing that is ended already


async def test_time_without_end_is_taken_as_a_long_one() -> None:
    async with opened(Script()) as client:
        assert (await client.run("What is it?", timeout_seconds=float("inf"))).is_answered


async def test_wait_follows_a_run_that_goes_on_until_it_rests() -> None:
    script = Script(holds=True)
    script.events = script.events[:2]
    async with opened(script) as client:
        waiting = asyncio.get_running_loop().create_task(client.wait(RUN_ID))
        await script.arrived.wait()
        assert not waiting.done()
        script.events = Script().events
        script.released.set()
        assert (await waiting).text == "42"
    assert script.watched == [3]
    assert script.cancelled == []


async def test_list_asks_for_page_after_page() -> None:
    script = Script()
    script.fail("ListRuns", None, AWAY)
    async with opened(script) as client:
        runs = [summary.run_id async for summary in client.list(page_size=3)]
    assert runs == [f"{number:032x}" for number in range(7)]
    assert len(script.calls) == 4


async def test_repeated_answer_has_the_same_request_id() -> None:
    script = Script()
    script.fail("ProvideInput", AWAY)
    async with opened(script) as client:
        assert await client.provide_input(RUN_ID, "q1", {"size": 38}) == 5
    first, second = script.inputs
    assert first == second
    assert first.request_id


async def test_decision_is_made_once_however_often_it_is_sent() -> None:
    script = Script()
    script.fail("DecideApproval", AWAY)
    script.fail("DecideHandover", AWAY)
    wanted = HandoverOutcome(handover_id="", decision=HandoverDecision.ANSWERED, decided_by="anna", answer_text="42")
    async with opened(script) as client:
        assert await client.approve(RUN_ID, "a1", decided_by="anna") is ApprovalDecision.APPROVED
        assert await client.reject(RUN_ID, "a2", decided_by="anna", comment="no") is ApprovalDecision.REJECTED
        held = await client.decide_handover(RUN_ID, wanted)
    assert (held.handover_id, held.decision) == ("h1", HandoverDecision.CLOSED)  # a decision that came earlier stands
    first, again, rejected, handed, handed_again = script.decisions
    assert first == again
    assert handed == handed_again
    assert len({each.request_id for each in (first, rejected, handed)}) == 3


async def test_handovers_are_listed_page_by_page_and_shown() -> None:
    async with opened(Script()) as client:
        assert [each.request_id async for each in client.handovers(RUN_ID)] == ["0", "1", "next0", "next1"]
        assert (await client.handover(RUN_ID)).run_id == RUN_ID


async def test_server_that_is_full_is_asked_again_when_it_says() -> None:
    script = Script()
    script.fail("Submit", errors.TooManyRuns("full", retry_after_seconds=0.3))
    async with opened(script) as client:
        before = asyncio.get_running_loop().time()
        await client.submit("What is it?")
        assert asyncio.get_running_loop().time() - before >= 0.3
    assert len(script.submitted) == 2


async def test_metadata_goes_with_every_call() -> None:
    script = Script()
    options = {"metadata": {"x-route": "blue"}}
    async with scripted(script) as address, AsyncClient(address, client=options) as client:
        await client.run("What is it?")
    assert {entry["x-route"] for entry in script.metadata} == {"blue"}


async def test_calls_are_found_in_the_traces_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: provider)
    script = Script()
    async with opened(script) as client:
        with provider.get_tracer("shop").start_as_current_span("checkout") as checkout:
            await client.run("What is it?")
    spans = [span for span in exporter.get_finished_spans() if span.name.endswith(("/Submit", "/Watch", "/GetRun"))]
    assert len(spans) == 3
    trace_id = checkout.get_span_context().trace_id
    assert {span.context.trace_id for span in spans if span.context is not None} == {trace_id}
    assert all(f"{trace_id:032x}" in entry["traceparent"] for entry in script.metadata)


async def test_client_that_is_not_open_says_so() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await AsyncClient("127.0.0.1:1").run("What is it?")
