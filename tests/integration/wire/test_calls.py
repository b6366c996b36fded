"""Calls over a real channel: errors, deadlines, cancellation, sizes, metadata."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoloop.api.v1 import loop_pb2, loop_pb2_grpc
from taoloop.core import errors
from taoloop.core.calls import CallContext
from taoloop.core.errors import TaoError
from taoloop.core.settings import GrpcSettings
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.plan.running import RunEvent
from taoloop.plan.task import Task
from taoloop.wire.channel import connect
from taoloop.wire.clients import ObservationClient
from taoloop.wire.context import incoming_call

_MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
_METHOD = "taoloop.api.v1.ObservationService/Observe"
_ON_THE_WIRE = [cls for cls in errors.error_classes() if cls not in {TaoError, errors.ConfigurationError}]


def _raising(error: Exception) -> Any:
    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        raise error

    return observe


async def _valid(request: ObserveRequest, call: CallContext) -> ObservationResult:
    return ObservationResult(step_id="1.a", valid=True)


def _event(sequence: int) -> RunEvent:
    return RunEvent(run_id="r", sequence=sequence, time=_MOMENT)


@pytest.mark.parametrize("error_class", _ON_THE_WIRE, ids=lambda cls: cls.__name__)
async def test_every_error_comes_back_as_itself(rig: Any, error_class: type[TaoError]) -> None:  # C073-4
    error = error_class("工具超时", metadata={"tool": "订单"}, retry_after_seconds=2.5)
    async with rig.observer(_raising(error)) as client:
        with pytest.raises(TaoError) as caught:
            await client.observe(rig.request(), rig.call())
    assert type(caught.value) is error_class
    assert caught.value.message == "工具超时"
    assert caught.value.metadata == {"tool": "订单"}
    assert caught.value.retry_after_seconds == 2.5


async def test_text_of_an_unknown_exception_stays_inside(rig: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with rig.observer(_raising(RuntimeError("the password is hunter2"))) as client:
        with caplog.at_level(logging.ERROR), pytest.raises(errors.InternalError) as caught:
            await client.observe(rig.request(), rig.call())
    assert "hunter2" not in str(caught.value)
    assert caught.value.metadata["incident_id"]
    assert isinstance(caught.value.__cause__, grpc.aio.AioRpcError)
    assert "hunter2" not in repr(caught.value.__cause__)


async def test_error_in_a_stream_comes_after_what_was_sent(rig: Any) -> None:
    async def run(task: Task, call: CallContext) -> AsyncIterator[RunEvent]:
        yield _event(1)
        raise errors.UnknownTool.of("x")

    seen = []
    async with rig.runner(run) as client:
        events = client.run(Task(), rig.call())
        seen.append(await anext(events))
        with pytest.raises(errors.UnknownTool):
            await anext(events)
    assert seen == [_event(1)]


async def test_malformed_request_names_the_field(rig: Any) -> None:
    async def run(task: Task, call: CallContext) -> AsyncIterator[RunEvent]:
        yield _event(1)

    async with rig.serving(rig.loop(run)) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = loop_pb2_grpc.LoopServiceStub(channel)
        request = loop_pb2.RunRequest(task=loop_pb2.Task(state_json='{"a":NaN}'))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            [_ async for _ in stub.Run(request, timeout=5)]
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "task.state_json" in (caught.value.details() or "")


async def test_deadline_ends_the_call_and_its_work(rig: Any) -> None:  # C072-1
    stopped = asyncio.Event()
    steps = []

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        try:
            await asyncio.sleep(30)
            steps.append("after the deadline")
        finally:
            stopped.set()
        raise AssertionError

    async with rig.observer(observe) as client, asyncio.timeout(5):
        with pytest.raises(errors.DeadlineExceeded):
            await client.observe(rig.request(), rig.call(0.2))
        await stopped.wait()
    assert steps == []


async def test_call_without_time_left_is_not_sent(rig: Any) -> None:
    async with rig.observer(_raising(RuntimeError())) as client:
        with pytest.raises(errors.DeadlineExceeded, match="was not sent"):
            await client.observe(rig.request(), rig.call(0.0))
    assert "rpc_server_requests_total{" not in rig.telemetry.metrics.exposition()


async def test_call_without_a_deadline_gets_the_default_one(rig: Any) -> None:
    async def run(task: Task, call: CallContext) -> AsyncIterator[RunEvent]:
        assert call.deadline.remaining_seconds() <= 0.2
        yield _event(1)
        await asyncio.sleep(30)

    settings = GrpcSettings(default_deadline_seconds=0.2)
    async with (
        rig.serving(rig.loop(run), settings=settings) as server,
        grpc.aio.insecure_channel(server.address) as channel,
        asyncio.timeout(5),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            [_ async for _ in loop_pb2_grpc.LoopServiceStub(channel).Run(loop_pb2.RunRequest(task={}))]  # type: ignore[arg-type]
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_deadline_shrinks_on_the_way(rig: Any) -> None:
    left = []

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        left.append(call.deadline.remaining_seconds())
        return ObservationResult(step_id="1.a", valid=True)

    async with rig.observer(observe) as client:
        await client.observe(rig.request(), rig.call(7.0))
    assert 0 < left[0] <= 7.0


async def test_consumer_that_stops_cancels_the_stream(rig: Any) -> None:
    stopped = asyncio.Event()

    async def run(task: Task, call: CallContext) -> AsyncIterator[RunEvent]:
        try:
            for sequence in range(1, 1_000_000):
                yield _event(sequence)
                await asyncio.sleep(0.001)
        finally:
            stopped.set()

    async with rig.runner(run) as client, asyncio.timeout(5):
        async for _ in client.run(Task(), rig.call()):
            break
        await stopped.wait()


async def test_cancelled_caller_stops_the_work(rig: Any) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        started.set()
        try:
            await asyncio.sleep(30)
        finally:
            stopped.set()
        raise AssertionError

    async with rig.observer(observe) as client, asyncio.timeout(5):
        async with asyncio.TaskGroup() as tasks:
            calling = tasks.create_task(client.observe(rig.request(), rig.call()), name="caller")
            await started.wait()
            calling.cancel()
        await stopped.wait()
    assert 'code="CANCELLED"' in rig.telemetry.metrics.exposition()


async def test_request_above_the_limit_is_not_sent(rig: Any) -> None:
    calls = []

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        calls.append(1)
        return ObservationResult(step_id="1.a", valid=True)

    async with rig.observer(observe) as client:
        with pytest.raises(errors.MessageTooLarge) as caught:
            await client.observe(rig.request(filler=20_000_000), rig.call())
    assert caught.value.metadata["limit_bytes"] == "8388608"
    assert 20_000_000 < int(caught.value.metadata["size_bytes"]) < 20_000_100
    assert calls == []


async def test_request_that_the_server_refuses_says_limit_and_size(rig: Any) -> None:
    large = GrpcSettings(max_message_bytes=32 * 1024 * 1024)
    async with rig.observer(_raising(RuntimeError()), settings=GrpcSettings(), client=large) as client:
        with pytest.raises(errors.MessageTooLarge) as caught:
            await client.observe(rig.request(filler=9_437_184), rig.call())
    assert caught.value.metadata["limit_bytes"] == "8388608"
    assert int(caught.value.metadata["size_bytes"]) > 9_437_184


@pytest.mark.parametrize(("size", "is_refused"), [(5_242_880, False), (9_437_184, True)])
async def test_response_is_bounded_and_never_asked_for_twice(
    rig: Any, size: int, is_refused: bool
) -> None:  # C031-1..2
    attempts = []

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        attempts.append(1)
        return ObservationResult(step_id="1.a", valid=True, suggested_next="x" * size)

    async with rig.observer(observe) as client:
        if is_refused:
            with pytest.raises(errors.MessageTooLarge) as caught:
                await client.observe(rig.request(), rig.call())
            assert caught.value.metadata["limit_bytes"] == "8388608"
            assert 'message_too_large_total{direction="sent"} 1.0' in rig.telemetry.metrics.exposition()
        else:
            assert len((await client.observe(rig.request(), rig.call())).suggested_next) == size
    assert len(attempts) == 1


async def test_response_that_only_the_client_refuses_is_too_large(rig: Any) -> None:
    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        return ObservationResult(step_id="1.a", valid=True, suggested_next="x" * 200_000)

    small = GrpcSettings(max_message_bytes=100_000)
    async with rig.observer(observe, settings=GrpcSettings(), client=small) as client:
        with pytest.raises(errors.MessageTooLarge):
            await client.observe(rig.request(), rig.call())


async def test_nobody_at_the_address_is_unavailable(rig: Any) -> None:
    async with rig.serving(rig.observation()) as server:
        address = server.address
    async with connect(address, GrpcSettings(), rig.telemetry) as channel:
        with pytest.raises(errors.BackendUnavailable) as caught:
            await ObservationClient(channel).observe(rig.request(), rig.call())
    assert caught.value.metadata["address"] == address


async def test_rpc_that_is_not_implemented_is_not_served(rig: Any) -> None:
    async with rig.observer(_raising(RuntimeError())) as client:
        with pytest.raises(errors.FeatureNotServed):
            await client.observe_batch([rig.request()], rig.call())


async def test_too_many_calls_are_refused_as_a_full_queue(rig: Any) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        entered.set()
        await leave.wait()
        return ObservationResult(step_id="1.a", valid=True)

    async with (
        rig.observer(observe, settings=GrpcSettings(max_concurrent_rpcs=1)) as client,
        asyncio.TaskGroup() as tasks,
    ):
        tasks.create_task(client.observe(rig.request(), rig.call()), name="first")
        await entered.wait()
        with pytest.raises(errors.TooManyCalls, match="1 calls are in progress") as caught:
            await client.observe(rig.request(), rig.call())
        leave.set()
    assert caught.value.retry_after_seconds == 0.5
    assert f'rpc_server_refused_total{{method="{_METHOD}"}} 1.0' in rig.telemetry.metrics.exposition()


async def test_a_call_that_ended_gives_its_place_to_the_next(rig: Any) -> None:
    settings = GrpcSettings(max_concurrent_rpcs=1)
    async with rig.observer(_valid, settings=settings) as client:
        assert [(await client.observe(rig.request(), rig.call())).valid for _ in range(3)] == [True] * 3
    async with rig.observer(_raising(RuntimeError()), settings=settings) as client:
        for _ in range(3):
            with pytest.raises(errors.InternalError):
                await client.observe(rig.request(), rig.call())


async def test_health_is_told_although_no_call_finds_room(rig: Any) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        entered.set()
        await leave.wait()
        return ObservationResult(step_id="1.a", valid=True)

    settings = GrpcSettings(max_concurrent_rpcs=1)
    async with (
        rig.serving(rig.observation(observe), settings=settings) as server,
        connect(server.address, settings, rig.telemetry) as channel,
        grpc.aio.insecure_channel(server.address) as other,
        asyncio.TaskGroup() as tasks,
    ):
        tasks.create_task(ObservationClient(channel).observe(rig.request(), rig.call()), name="first")
        await entered.wait()
        reply = await health_pb2_grpc.HealthStub(other).Check(health_pb2.HealthCheckRequest(), timeout=5)
        leave.set()
    assert reply.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize(("is_trusted", "tenant"), [(True, "acme"), (False, "default")])
async def test_tenant_and_request_id_arrive(rig: Any, is_trusted: bool, tenant: str) -> None:
    calls = []
    request_id = "r" * 500

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        calls.append((call.tenant, call.request_id))
        return ObservationResult(step_id="1.a", valid=True)

    settings = GrpcSettings(is_tenant_metadata_trusted=is_trusted)
    async with rig.observer(observe, settings=settings) as client:
        await client.observe(rig.request(), rig.call(tenant="acme", request_id=request_id))
    assert calls == [(tenant, request_id)]


async def test_calls_at_the_same_time_keep_their_own_metadata(rig: Any) -> None:
    arrived: list[str] = []
    everybody = asyncio.Event()

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        arrived.append(call.request_id)
        if len(arrived) == 8:
            everybody.set()
        await everybody.wait()
        return ObservationResult(step_id=incoming_call().request_id, valid=True)

    async with asyncio.timeout(10), rig.observer(observe) as client:
        ids = [f"request-{number}" for number in range(8)]
        calls = [client.observe(rig.request(), rig.call(request_id=each)) for each in ids]
        results = await asyncio.gather(*calls)
    assert [result.step_id for result in results] == ids
    assert sorted(arrived) == ids


async def test_metadata_outside_ascii_is_refused_before_anything_is_sent(rig: Any) -> None:  # C073-1
    async with rig.serving(rig.observation(_raising(RuntimeError()))) as server:
        with pytest.raises(errors.InvalidMetadata):
            async with connect(server.address, GrpcSettings(), rig.telemetry, {"x-note": "北京"}):
                pass
        async with connect(server.address, GrpcSettings(), rig.telemetry) as channel:
            with pytest.raises(errors.InvalidMetadata):
                await ObservationClient(channel).observe(rig.request(), rig.call(request_id="北京"))
    assert "rpc_server_requests_total{" not in rig.telemetry.metrics.exposition()


async def test_record_that_cannot_be_written_is_the_callers_fault(rig: Any) -> None:
    async with rig.observer(_raising(RuntimeError())) as client:
        with pytest.raises(errors.InvalidRequest) as caught:
            await client.observe(ObserveRequest(arguments=float("nan")), rig.call())
    assert [found.field for found in caught.value.violations] == ["arguments_json"]


async def test_addresses_of_a_name_are_resolved_by_dns(rig: Any) -> None:
    async with (
        rig.serving(rig.observation()) as server,
        connect(f"dns:///localhost:{server.port}", GrpcSettings(), rig.telemetry) as channel,
    ):
        assert (await ObservationClient(channel).observe(rig.request(), rig.call())).valid
