"""The whole of taoloop in one process: every service over real gRPC on loopback, on embedded defaults."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from opentelemetry.sdk.trace.export import SpanExporter
from pydantic_settings import BaseSettings

from taoloop.action.app import action_component
from taoloop.action.settings import ActionSettings
from taoloop.core.clock import Clock, SystemClock
from taoloop.core.errors import CatalogueInvalid, ConfigurationError
from taoloop.core.settings import load_settings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.app import loop_component
from taoloop.loop.settings import LoopSettings
from taoloop.observation.app import observation_component
from taoloop.observation.settings import ObservationSettings
from taoloop.testing.mock_tools import PROFILES, FaultProfile, MockTools
from taoloop.testing.ports import LOOPBACK, free_ports
from taoloop.testing.tool_samples import SampleInvalid, read_samples
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.thought.app import thought_component, worker_process
from taoloop.thought.settings import ThoughtSettings, ThoughtWorkerSettings
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.metrics_server import metrics_serving
from taoloop.wire.server import serving

SettingsT = TypeVar("SettingsT", bound=BaseSettings)

_GRACE_SECONDS: Final = 5.0
"""How long work in progress may go on when an embedded stack stops; whoever stops it waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackPorts:
    """The ports of a stack on the loopback interface.

    Attributes:
        loop: Of the loop and thought services, which share a server.
        action: Of the action service.
        observation: Of the observation service.
        metrics: Of `/metrics`.
        valkey: Of the embedded Valkey.
        mock: Of the mock tools.
    """

    loop: int = 7701
    action: int = 7702
    observation: int = 7703
    metrics: int = 9701
    valkey: int = 7709
    mock: int = 8700

    @classmethod
    def free(cls) -> StackPorts:
        """Return ports that are free now."""
        loop, action, observation, metrics, valkey, mock = free_ports(6)
        return cls(loop=loop, action=action, observation=observation, metrics=metrics, valkey=valkey, mock=mock)


@dataclass(frozen=True, slots=True, kw_only=True)
class StackOptions:
    """What a stack is made of.

    Attributes:
        catalogue: Directory, file or bundle of tools.
        data_directory: Where the append-only file and the effect ledger are kept from one start to the next; None
            keeps them in a temporary directory that is removed at the end.
        ports: None takes free ones.
        is_mocked: Whether the tools are played from their samples; else the catalogue's own bases are called.
        mock_profile: How often the mock tools fail, and how long they take.
        mock_seed: Makes the sequence of faults repeatable; None takes a new one.
        settings: What differs from the defaults and the environment: name of a deployable, such as `loop`, to
            values by field, a group's members in a mapping of their own.
        exporter: Gets each span at once, for tests.
        has_worker: Whether a thought worker runs in this process; without one, somebody starts `WorkerProcess`.
    """

    catalogue: Path
    data_directory: Path | None = None
    ports: StackPorts | None = None
    is_mocked: bool = True
    mock_profile: FaultProfile = PROFILES["ok"]
    mock_seed: int | None = None
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    exporter: SpanExporter | None = None
    has_worker: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DevStack:
    """A running stack.

    Attributes:
        loop_address: Where runs are started, `host:port`.
        thought_address: Where the thought service answers.
        action_address: Where the action service answers.
        observation_address: Where the observation service answers.
        metrics_address: Where `/metrics` is.
        valkey: The embedded server, which a test may kill and start again.
        mock: The mock tools with the calls they had; None when the real tools are called.
        telemetry: What every service of the stack counts and traces into.
        catalogue: What it was started with.
        data_directory: Where its data is.
    """

    loop_address: str
    thought_address: str
    action_address: str
    observation_address: str
    metrics_address: str
    valkey: EmbeddedValkey
    mock: MockTools | None
    telemetry: Telemetry
    catalogue: Path
    data_directory: Path


@asynccontextmanager
async def dev_stack(options: StackOptions, clock: Clock | None = None) -> AsyncIterator[DevStack]:
    """Run Valkey, the mock tools, all four services and a thought worker until the block is left.

    Nothing is left behind: processes are ended, ports are free, a temporary data directory is gone.

    ```python
    async with dev_stack(StackOptions(catalogue=Path("examples/customer-service"))) as stack:
        ...  # call stack.loop_address
    ```

    Args:
        options: What it is made of.
        clock: The machine's by default.

    Raises:
        ConfigurationError: A port is taken, a setting is wrong, or an extra is missing.
        CatalogueInvalid: The catalogue has faults.
        BackendUnavailable: The embedded Valkey does not come up.
    """
    ports = options.ports or StackPorts.free()
    async with AsyncExitStack() as stack:
        directory = options.data_directory
        if directory is None:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="taoloop-")))
        builder = _Builder(options, ports, directory, stack, clock or SystemClock())
        yield await builder.start()


class _Builder:
    """Starts the parts in the order in which they need each other; the exit stack ends them in reverse."""

    def __init__(
        self, options: StackOptions, ports: StackPorts, directory: Path, stack: AsyncExitStack, clock: Clock
    ) -> None:
        self._options = options
        self._ports = ports
        self._directory = directory
        self._stack = stack
        self._clock = clock
        self._loop_address = f"{LOOPBACK}:{ports.loop}"
        self._action_address = f"{LOOPBACK}:{ports.action}"
        self._observation_address = f"{LOOPBACK}:{ports.observation}"

    async def start(self) -> DevStack:
        """Start everything."""
        valkey = EmbeddedValkey(self._directory / "valkey", self._ports.valkey, self._clock)
        loop = self._settings(
            LoopSettings,
            "loop",
            loop_listen=self._loop_address,
            thought_address=self._loop_address,
            action_address=self._action_address,
            observation_address=self._observation_address,
            redis={"url": valkey.url},
            memory={"warm": {"url": f"sqlite+aiosqlite:///{self._directory / 'memory.sqlite'}"}},
            telemetry={"metrics_port": self._ports.metrics},
        )
        telemetry = Telemetry.build(loop.telemetry, "taoloop-dev", exporter=self._options.exporter)
        self._stack.push_async_callback(telemetry.aclose)
        await self._stack.enter_async_context(valkey)
        mock = await self._mock() if self._options.is_mocked else None
        await self._serve_action(mock, valkey, telemetry)
        await self._serve_observation(valkey, telemetry)
        await self._serve_loop(loop, valkey, telemetry)
        metrics = await self._stack.enter_async_context(
            metrics_serving(telemetry.metrics, loop.telemetry.metrics_host, loop.telemetry.metrics_port)
        )
        return DevStack(
            loop_address=self._loop_address,
            thought_address=self._loop_address,
            action_address=self._action_address,
            observation_address=self._observation_address,
            metrics_address=metrics.address,
            valkey=valkey,
            mock=mock,
            telemetry=telemetry,
            catalogue=self._options.catalogue,
            data_directory=self._directory,
        )

    async def _mock(self) -> MockTools:
        catalogue = await asyncio.to_thread(read_catalogue, self._options.catalogue)
        path = self._options.catalogue
        try:
            samples = await asyncio.to_thread(read_samples, path if path.is_dir() else path.parent, catalogue)
        except SampleInvalid as exc:
            raise CatalogueInvalid(str(exc), metadata={"path": str(path)}) from exc
        if not any(samples.values()):
            raise ConfigurationError(
                f"The catalogue at {path} has no samples that the mock tools could answer with; call the real tools.",
                metadata={"catalogue": str(path)},
            )
        profile = self._options.mock_profile
        mock = MockTools(catalogue, samples, profile, seed=self._options.mock_seed, port=self._ports.mock)
        try:
            return await self._stack.enter_async_context(mock)
        except OSError as exc:
            raise ConfigurationError(
                f"The port {self._ports.mock} of the mock tools is taken.", metadata={"port": str(self._ports.mock)}
            ) from exc

    async def _serve_action(self, mock: MockTools | None, valkey: EmbeddedValkey, telemetry: Telemetry) -> None:
        ledger = f"sqlite+aiosqlite:///{self._directory / 'ledger.sqlite'}"
        fixed: dict[str, Any] = {
            "action_listen": self._action_address,
            "ledger": {"url": ledger},
            "board": {"redis": {"url": valkey.url}},
        }
        if mock is not None:
            fixed["bases"] = mock.bases
        settings = self._settings(ActionSettings, "action", catalogue=self._options.catalogue, **fixed)
        component = await self._stack.enter_async_context(action_component(settings, telemetry, self._clock))
        await self._stack.enter_async_context(
            serving((component,), settings.grpc, self._action_address, telemetry, self._clock, _GRACE_SECONDS)
        )

    async def _serve_observation(self, valkey: EmbeddedValkey, telemetry: Telemetry) -> None:
        settings = self._settings(
            ObservationSettings,
            "observation",
            catalogue=self._options.catalogue,
            observation_listen=self._observation_address,
            observation_drift={"redis": {"url": valkey.url}},
        )
        component = await self._stack.enter_async_context(observation_component(settings, telemetry, self._clock))
        await self._stack.enter_async_context(
            serving((component,), settings.grpc, self._observation_address, telemetry, self._clock, _GRACE_SECONDS)
        )

    async def _serve_loop(self, loop: LoopSettings, valkey: EmbeddedValkey, telemetry: Telemetry) -> None:
        """Serve loop and thought on one port, as in production, with a worker beside them."""
        redis = {"url": valkey.url}
        thought = self._settings(
            ThoughtSettings,
            "thought",
            catalogue=self._options.catalogue,
            thought_listen=self._loop_address,
            redis=redis,
        )
        worker = self._settings(ThoughtWorkerSettings, "thought-worker", catalogue=self._options.catalogue, redis=redis)
        enter = self._stack.enter_async_context
        workers = [await enter(worker_process(worker, telemetry, self._clock))] if self._options.has_worker else []
        components = (
            *(running.component for running in workers),
            await enter(thought_component(thought, telemetry, self._clock)),
            await enter(loop_component(loop, telemetry, self._clock)),
        )
        await enter(serving(components, loop.grpc, self._loop_address, telemetry, self._clock, _GRACE_SECONDS))
        for component in components:
            if component.wind_down is not None:  # as a process does: while every server still answers
                self._stack.push_async_callback(component.wind_down)

    def _settings(self, settings_class: type[SettingsT], deployable: str, **fixed: Any) -> SettingsT:
        wanted = {"shutdown_grace_seconds": _GRACE_SECONDS, **self._options.settings.get(deployable, {})}
        for name, value in fixed.items():
            inner = wanted.get(name)
            wanted[name] = {**inner, **value} if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
        return load_settings(settings_class, wanted)
