"""The loop service put together: settings to component."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.logs import EventLog
from taoloop.core.tasks import beside
from taoloop.core.telemetry import Telemetry
from taoloop.loop.admission.open_runs import Admission
from taoloop.loop.admission.redis_open_runs import RedisOpenRuns
from taoloop.loop.answering.opening import opened_answerer
from taoloop.loop.correction.corrector import CorrectionServices
from taoloop.loop.driver import DriverServices
from taoloop.loop.host import RunHost, RunsConfig
from taoloop.loop.hosting.caretaking import Care, looked_after
from taoloop.loop.hosting.leases import LeaseTerms
from taoloop.loop.hosting.take_over import TakeOverTerms
from taoloop.loop.memory.opening import open_memory
from taoloop.loop.people.people import People
from taoloop.loop.people.redis_wake_ups import RedisWakeUps
from taoloop.loop.people.waker import Waker
from taoloop.loop.people.waking_log import WakingRunLog
from taoloop.loop.runlog.event_form import EventForm
from taoloop.loop.runlog.redis_leases import redis_run_leases
from taoloop.loop.runlog.redis_run_log import redis_run_log
from taoloop.loop.runlog.retention import Retention
from taoloop.loop.runs import Runs
from taoloop.loop.servicer import SERVICE_NAME, LoopServicer, registrar, run_codec
from taoloop.loop.settings import LoopSettings
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.wire.channel import connect
from taoloop.wire.clients import ActionClient, ObservationClient, ThoughtClient
from taoloop.wire.component import Component
from taoloop.wire.redis.redis_link import RedisLink, redis_link

MESSAGE_MARGIN_BYTES: Final = 1024
"""What a message has beside the event in it, and more."""

_log = EventLog(__name__)


@asynccontextmanager
async def loop_component(settings: LoopSettings, telemetry: Telemetry, clock: Clock) -> AsyncIterator[Component]:
    """Build the loop service; it is ready when its run log can be written."""
    async with AsyncExitStack() as stack:
        link = await stack.enter_async_context(redis_link(settings.redis, telemetry))
        prefix = settings.redis.key_prefix
        form = form_of(settings)
        wake_ups, waking = RedisWakeUps(link, prefix), settings.people.terms(settings.run_log_timeout_seconds)
        events = await stack.enter_async_context(redis_run_log(link, form, prefix, retention_of(settings), clock))
        log = WakingRunLog(events, wake_ups, waking.warning)
        leases = await stack.enter_async_context(redis_run_leases(link, prefix, settings.runs.lease_seconds, clock))
        grpc = settings.grpc
        thought = ThoughtClient(await stack.enter_async_context(connect(settings.thought_address, grpc, telemetry)))
        action = ActionClient(await stack.enter_async_context(connect(settings.action_address, grpc, telemetry)))
        observation = ObservationClient(
            await stack.enter_async_context(connect(settings.observation_address, grpc, telemetry))
        )
        memory = await stack.enter_async_context(open_memory(settings.memory, settings.redis, link, telemetry, clock))
        services = DriverServices(
            thought=thought,
            steps=StepServices(action=action, observation=observation, clock=clock, metrics=telemetry.metrics),
            directory=ToolDirectory(action, clock, settings.tools_max_age_seconds),
            clock=clock,
            corrections=CorrectionServices(rules=settings.correction.rules(), metrics=telemetry.metrics),
            answerer=await stack.enter_async_context(opened_answerer(settings.answer, observation, telemetry, clock)),
            memory=memory,
        )
        config = replace(config_of(settings), admission=admission_of(settings, link, telemetry, clock))
        host = RunHost(services, log, leases, config, telemetry, clock)
        await stack.enter_async_context(looked_after(host, log, leases, care_of(settings), telemetry, clock))
        await stack.enter_async_context(host)
        people = People.of(host, log, action, telemetry.metrics, clock, settings.people.on_expire)
        waker = Waker(people.lapses, action, wake_ups, waking)
        await stack.enter_async_context(beside(resting_runs=waker.look_again_and_again()))
        servicer = LoopServicer(Runs(host, log, config.limits, clock), people)
        yield Component(
            name="loop",
            service_names=(SERVICE_NAME,),
            register=registrar(servicer),
            is_ready=log.is_ready,
            wind_down=host.wind_down,
        )


def config_of(settings: LoopSettings) -> RunsConfig:
    """Return how runs are driven under these settings."""
    return RunsConfig(
        limits=settings.limits(),
        max_parallel_steps=settings.max_parallel_steps,
        max_open_runs=settings.max_open_runs,
        log_timeout_seconds=settings.run_log_timeout_seconds,
        drain_seconds=settings.shutdown_grace_seconds,
    )


def admission_of(settings: LoopSettings, link: RedisLink, telemetry: Telemetry, clock: Clock) -> Admission:
    """Return how many runs a tenant may have open under these settings."""
    timeout_seconds = settings.run_log_timeout_seconds
    return Admission(
        open_runs=RedisOpenRuns(link, settings.redis.key_prefix),
        most=settings.max_tenant_runs,
        hold_seconds=settings.max_wall_time_seconds + 2 * timeout_seconds + settings.shutdown_grace_seconds,
        timeout_seconds=timeout_seconds,
        clock=clock,
        metrics=telemetry.metrics,
    )


def care_of(settings: LoopSettings) -> Care:
    """Return on what terms runs are looked after under these settings."""
    runs, timeout_seconds = settings.runs, settings.run_log_timeout_seconds
    return Care(
        leases=LeaseTerms(lease_seconds=runs.lease_seconds, timeout_seconds=timeout_seconds),
        take_over=TakeOverTerms(
            interval_seconds=runs.take_over_interval_seconds,
            max_take_overs=runs.max_take_overs,
            timeout_seconds=timeout_seconds,
        ),
    )


def form_of(settings: LoopSettings) -> EventForm:
    """Return how events stand in the log; what the log holds can be sent to callers as well."""
    most = settings.grpc.max_message_bytes - MESSAGE_MARGIN_BYTES
    return EventForm(run_codec(), settings.runs.inline_event_bytes, min(settings.runs.max_event_bytes, most))


def retention_of(settings: LoopSettings) -> Retention:
    """Return how long runs are kept; a time that would lose a run which goes on or waits is corrected, loudly."""
    least = settings.run_retention_seconds + settings.max_wall_time_seconds
    given = settings.runs.open_retention_seconds
    if given < least:
        _log.warning("run_retention_corrected", open_retention_seconds=given, corrected_to_seconds=least)
    return Retention(ended_seconds=settings.run_retention_seconds, open_seconds=max(given, least))
