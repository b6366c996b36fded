"""A service process: opens what it hosts, serves until it is told to stop, closes in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from taoloop.cli.deployables import Deployable, settings_classes
from taoloop.cli.settings import CliSettings
from taoloop.cli.signals import StopSignals
from taoloop.client.settings import ClientSettings
from taoloop.core.clock import Clock
from taoloop.core.logs import EventLog, LogValue
from taoloop.core.settings import masked, unknown_variables
from taoloop.core.telemetry import Telemetry
from taoloop.wire.component import Component
from taoloop.wire.metrics_server import metrics_serving
from taoloop.wire.server import Serving, serving

_log = EventLog(__name__)


@dataclass(frozen=True, slots=True)
class HostedProcess:
    """A process that serves.

    Attributes:
        addresses: Of its gRPC servers.
        metrics_address: Where `/metrics` and `/healthz` are.
    """

    addresses: tuple[str, ...]
    metrics_address: str


@asynccontextmanager
async def hosting(deployables: Sequence[Deployable], clock: Clock) -> AsyncIterator[HostedProcess]:
    """Serve the deployables until the block is left; those with the same address share a server.

    Log level, telemetry, grace period and metrics port are those of the first one.

    Raises:
        ConfigurationError: An address is taken, or a part cannot be built under its settings.
        CatalogueInvalid: The catalogue has faults.
    """
    first = deployables[0].settings
    telemetry = Telemetry.build(first.telemetry, f"taoloop-{deployables[0].name}")
    async with AsyncExitStack() as stack:
        stack.push_async_callback(telemetry.aclose)
        groups: dict[str, list[tuple[Deployable, Component]]] = {}
        for each in deployables:
            component = await stack.enter_async_context(each.open(telemetry, clock))
            groups.setdefault(each.listen, []).append((each, component))
        servers: list[Serving] = []
        for listen, group in groups.items():
            components = tuple(component for _, component in group)
            grace_seconds = first.shutdown_grace_seconds
            server = serving(components, group[0][0].grpc, listen, telemetry, clock, grace_seconds)
            servers.append(await stack.enter_async_context(server))
        metrics = await stack.enter_async_context(
            metrics_serving(
                telemetry.metrics,
                first.telemetry.metrics_host,
                first.telemetry.metrics_port,
                lambda: all(server.health.is_serving for server in servers),
            )
        )
        try:
            yield HostedProcess(tuple(server.address for server in servers), metrics.address)
        finally:
            for each_server in servers:
                each_server.health.stop()
            await _wind_down(component for group in groups.values() for _, component in group)


async def _wind_down(components: Iterable[Component]) -> None:
    """Let each component end its own work; what it calls for that, maybe a server of this process, still answers."""
    for component in components:
        if component.wind_down is not None:
            await component.wind_down()


async def serve_until(stop: StopSignals, deployables: Sequence[Deployable], clock: Clock) -> None:
    """Log the settings, serve until the first signal, then stop in order."""
    names = ",".join(each.name for each in deployables)
    settings: dict[str, LogValue] = {}
    for each in deployables:
        settings |= masked(each.settings)
    _log.info("process_configured", deployables=names, **settings)
    for variable in unknown_variables((*settings_classes().values(), CliSettings, ClientSettings)):
        _log.warning("variable_not_known", variable=variable)
    async with hosting(deployables, clock) as hosted:
        addresses = ",".join(hosted.addresses)
        _log.info("process_started", deployables=names, addresses=addresses, metrics=hosted.metrics_address)
        await stop.wait()
        _log.info("process_stop_requested", deployables=names)
    _log.info("process_stopped", deployables=names)
