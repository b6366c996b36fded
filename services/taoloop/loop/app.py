"""The loop service put together: settings to component."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from taoloop.core.clock import Clock
from taoloop.core.telemetry import Telemetry
from taoloop.loop.driver import DriverServices
from taoloop.loop.host import RunHost, RunsConfig
from taoloop.loop.runlog.redis_run_log import RedisRunLog
from taoloop.loop.runs import Runs
from taoloop.loop.servicer import SERVICE_NAME, LoopServicer, event_codec, registrar
from taoloop.loop.settings import LoopSettings
from taoloop.loop.steps.runner import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.wire.channel import connect
from taoloop.wire.clients import ActionClient, ObservationClient, ThoughtClient
from taoloop.wire.component import Component
from taoloop.wire.redis.redis_link import redis_link


@asynccontextmanager
async def loop_component(settings: LoopSettings, telemetry: Telemetry, clock: Clock) -> AsyncIterator[Component]:
    """Build the loop service; it is ready when its run log can be written."""
    async with AsyncExitStack() as stack:
        link = await stack.enter_async_context(redis_link(settings.redis, telemetry))
        log = RedisRunLog(link, event_codec(), settings.redis.key_prefix, settings.run_retention_seconds)
        grpc = settings.grpc
        thought = ThoughtClient(await stack.enter_async_context(connect(settings.thought_address, grpc, telemetry)))
        action = ActionClient(await stack.enter_async_context(connect(settings.action_address, grpc, telemetry)))
        observation = ObservationClient(
            await stack.enter_async_context(connect(settings.observation_address, grpc, telemetry))
        )
        services = DriverServices(
            thought=thought,
            steps=StepServices(action=action, observation=observation, clock=clock),
            directory=ToolDirectory(action, clock, settings.tools_max_age_seconds),
            clock=clock,
        )
        config = config_of(settings)
        host = await stack.enter_async_context(RunHost(services, log, config, telemetry, clock))
        runs = Runs(host, log, action, config.limits, clock)
        servicer = LoopServicer(runs)
        yield Component(name="loop", service_names=(SERVICE_NAME,), register=registrar(servicer), is_ready=log.is_ready)


def config_of(settings: LoopSettings) -> RunsConfig:
    """Return how runs are driven under these settings."""
    return RunsConfig(
        limits=settings.limits(),
        max_parallel_steps=settings.max_parallel_steps,
        max_open_runs=settings.max_open_runs,
        log_timeout_seconds=settings.run_log_timeout_seconds,
        drain_seconds=settings.shutdown_grace_seconds,
    )
