"""A server says whether it is ready, describes itself, and stops in order."""

import asyncio
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

from taoloop.core.calls import CallContext
from taoloop.core.errors import ConfigurationError
from taoloop.core.settings import GrpcSettings
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.testing.clock import FakeClock
from taoloop.wire.channel import connect
from taoloop.wire.clients import ObservationClient
from taoloop.wire.health import ReadinessHealth
from taoloop.wire.server import serving

_SERVICE = "taoloop.api.v1.ObservationService"
_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def _never() -> bool:
    return False


async def _broken() -> bool:
    raise ConnectionError


async def _check(address: str, service: str) -> int:
    async with grpc.aio.insecure_channel(address) as channel:
        request = health_pb2.HealthCheckRequest(service=service)
        return int((await health_pb2_grpc.HealthStub(channel).Check(request, timeout=5)).status)


@pytest.mark.parametrize("service", ["", _SERVICE])
@pytest.mark.parametrize(("is_ready", "status"), [(None, _SERVING), (_never, _NOT_SERVING), (_broken, _NOT_SERVING)])
async def test_health_is_what_the_component_says(rig: Any, service: str, is_ready: Any, status: int) -> None:
    async with rig.serving(rig.observation(is_ready=is_ready)) as server:
        assert await _check(server.address, service) == status
        assert server.health.is_serving is (status == _SERVING)


async def test_unknown_service_is_not_found(rig: Any) -> None:
    async with rig.serving(rig.observation()) as server:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await _check(server.address, "other")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_watcher_is_told_of_each_change_and_of_the_stop(rig: Any) -> None:
    answers = [True]
    clock = FakeClock()

    async def is_ready() -> bool:
        return answers[0]

    component = rig.observation(is_ready=is_ready)
    seen = []
    async with asyncio.timeout(5):
        async with serving([component], GrpcSettings(), "127.0.0.1:0", rig.telemetry, clock, 3.0) as server:
            channel = grpc.aio.insecure_channel(server.address)
            watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=_SERVICE))
            seen.append((await watch.read()).status)
            answers[0] = False
            clock.advance(1.0)
            seen.append((await watch.read()).status)
            answers[0] = True
            clock.advance(1.0)
            seen.append((await watch.read()).status)
        seen.append((await watch.read()).status)
        assert await watch.read() is grpc.aio.EOF
        await channel.close()
    assert seen == [_SERVING, _NOT_SERVING, _SERVING, _NOT_SERVING]


async def test_call_in_progress_ends_within_the_grace_period(rig: Any) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()
    health: list[ReadinessHealth] = []

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        entered.set()
        await leave.wait()
        return ObservationResult(step_id="1.a", valid=not health[0].is_serving)

    async with asyncio.TaskGroup() as tasks, asyncio.timeout(5):
        async with rig.serving(rig.observation(observe), grace_seconds=4.0) as server:
            health.append(server.health)
            connection = connect(server.address, GrpcSettings(), rig.telemetry)
            channel = await connection.__aenter__()
            calling = tasks.create_task(ObservationClient(channel).observe(rig.request(), rig.call()), name="caller")
            await entered.wait()
            asyncio.get_running_loop().call_later(0.05, leave.set)
        assert (await calling).valid  # it saw that health had said NOT_SERVING before
        await connection.__aexit__(None, None, None)


async def test_call_that_outlasts_the_grace_period_is_cancelled(rig: Any) -> None:
    entered, stopped = asyncio.Event(), asyncio.Event()

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        entered.set()
        try:
            await asyncio.sleep(30)
        finally:
            stopped.set()
        raise AssertionError

    async with asyncio.timeout(5):
        async with rig.serving(rig.observation(observe), grace_seconds=0.05) as server:
            connection = connect(server.address, GrpcSettings(), rig.telemetry)
            client = ObservationClient(await connection.__aenter__())
            calling = asyncio.gather(client.observe(rig.request(), rig.call()), return_exceptions=True)
            await entered.wait()
        await stopped.wait()
        (failure,) = await calling
        await connection.__aexit__(None, None, None)
    assert isinstance(failure, Exception)


async def test_a_probe_that_loses_the_cancellation_does_not_keep_the_server_from_stopping(rig: Any) -> None:
    entered = asyncio.Event()

    async def is_ready() -> bool:
        if not rig_started.is_set():
            return True
        entered.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return True  # as a library does that forgets it
        return True

    rig_started = asyncio.Event()
    async with asyncio.timeout(10):
        async with rig.serving(rig.observation(is_ready=is_ready)):
            rig_started.set()
            await entered.wait()


async def test_taken_address_is_a_configuration_error(rig: Any) -> None:
    async with rig.serving(rig.observation()) as server:
        with pytest.raises(ConfigurationError, match="cannot be taken"):
            async with serving([], GrpcSettings(), server.address, rig.telemetry, rig.clock):
                pass


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
async def test_reflection_lists_and_describes_the_services(rig: Any, version: str) -> None:
    async with rig.serving(rig.observation()) as server, grpc.aio.insecure_channel(server.address) as channel:
        ask = channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )
        requests = [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol=_SERVICE),
        ]
        listed, described = [reply async for reply in ask(iter(requests), timeout=5)]
    names = {service.name for service in listed.list_services_response.service}
    assert {_SERVICE, "grpc.health.v1.Health"} <= names
    assert described.file_descriptor_response.file_descriptor_proto


async def test_what_the_block_raises_comes_out_as_it_is(rig: Any) -> None:
    with pytest.raises(KeyError):
        async with rig.serving(rig.observation()):
            raise KeyError
