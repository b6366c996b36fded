"""The deployables by name: their settings, where they listen, and how each is opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from taoloop.core.clock import Clock
from taoloop.core.errors import ConfigurationError
from taoloop.core.settings import GrpcSettings, ServiceSettings, load_settings
from taoloop.core.telemetry import Telemetry
from taoloop.wire.component import Component


class DeployableName(StrEnum):
    """What `taoloop serve` can run."""

    THOUGHT = "thought"
    LOOP = "loop"
    ACTION = "action"
    OBSERVATION = "observation"
    THOUGHT_WORKER = "thought-worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployable:
    """One deployable with its settings read and validated.

    Attributes:
        name: Its name.
        settings: Its settings.
        listen: Where its gRPC server listens, `host:port`; deployables with the same address share a server.
        grpc: Settings of that server.
        open: Builds it; the block's end closes it.
    """

    name: DeployableName
    settings: ServiceSettings
    listen: str
    grpc: GrpcSettings
    open: Callable[[Telemetry, Clock], AbstractAsyncContextManager[Component]]


def deployable(name: DeployableName) -> Deployable:
    """Read the settings of a deployable from the environment.

    Only the named service is imported: an image holds the libraries of its own deployable alone.

    Raises:
        ConfigurationError: A setting is wrong, or a library of the deployable's extra is not installed.
    """
    try:
        return _READERS[name]()
    except ModuleNotFoundError as exc:
        raise ConfigurationError(
            f"{name} needs {exc.name}, which is not installed; install `taoloop[{name}]`.",
            metadata={"deployable": name, "module": exc.name or ""},
        ) from exc


def settings_classes() -> dict[DeployableName, type[ServiceSettings]]:
    """Return the settings class of every deployable, for the reference pages."""
    from taoloop.action.settings import ActionSettings
    from taoloop.loop.settings import LoopSettings
    from taoloop.observation.settings import ObservationSettings
    from taoloop.thought.settings import ThoughtSettings, ThoughtWorkerSettings

    return {
        DeployableName.THOUGHT: ThoughtSettings,
        DeployableName.THOUGHT_WORKER: ThoughtWorkerSettings,
        DeployableName.LOOP: LoopSettings,
        DeployableName.ACTION: ActionSettings,
        DeployableName.OBSERVATION: ObservationSettings,
    }


def _thought() -> Deployable:
    from taoloop.thought.app import thought_component
    from taoloop.thought.settings import ThoughtSettings

    settings = load_settings(ThoughtSettings)
    return Deployable(
        name=DeployableName.THOUGHT,
        settings=settings,
        listen=settings.thought_listen,
        grpc=settings.grpc,
        open=partial(thought_component, settings),
    )


def _loop() -> Deployable:
    from taoloop.loop.app import loop_component
    from taoloop.loop.settings import LoopSettings

    settings = load_settings(LoopSettings)
    return Deployable(
        name=DeployableName.LOOP,
        settings=settings,
        listen=settings.loop_listen,
        grpc=settings.grpc,
        open=partial(loop_component, settings),
    )


def _action() -> Deployable:
    from taoloop.action.app import action_component
    from taoloop.action.settings import ActionSettings

    settings = load_settings(ActionSettings)
    return Deployable(
        name=DeployableName.ACTION,
        settings=settings,
        listen=settings.action_listen,
        grpc=settings.grpc,
        open=partial(action_component, settings),
    )


def _observation() -> Deployable:
    from taoloop.observation.app import observation_component
    from taoloop.observation.settings import ObservationSettings

    settings = load_settings(ObservationSettings)
    return Deployable(
        name=DeployableName.OBSERVATION,
        settings=settings,
        listen=settings.observation_listen,
        grpc=settings.grpc,
        open=partial(observation_component, settings),
    )


def _thought_worker() -> Deployable:
    from taoloop.thought.app import worker_process
    from taoloop.thought.settings import ThoughtWorkerSettings

    settings = load_settings(ThoughtWorkerSettings)

    @asynccontextmanager
    async def opened(telemetry: Telemetry, clock: Clock) -> AsyncIterator[Component]:
        async with worker_process(settings, telemetry, clock) as running:
            yield running.component

    return Deployable(
        name=DeployableName.THOUGHT_WORKER,
        settings=settings,
        listen=settings.worker_health_listen,
        grpc=settings.grpc,
        open=opened,
    )


_READERS: dict[DeployableName, Callable[[], Deployable]] = {
    DeployableName.THOUGHT: _thought,
    DeployableName.LOOP: _loop,
    DeployableName.ACTION: _action,
    DeployableName.OBSERVATION: _observation,
    DeployableName.THOUGHT_WORKER: _thought_worker,
}
