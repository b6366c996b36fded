"""A store of memory with its time limits, its counts, and a pause after it did not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.names import MetricSpec
from taoloop.loop.memory.ports import HotMemory, WarmMemory

StoreT = TypeVar("StoreT", bound=HotMemory)
ValueT = TypeVar("ValueT")

_log = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TierPatience:
    """How long a store is waited for.

    Attributes:
        read_seconds: For one read.
        write_seconds: For one write.
        pause_seconds: How long it is left alone after it did not answer.
    """

    read_seconds: float = 0.5
    write_seconds: float = 2.0
    pause_seconds: float = 5.0


class Tier(Generic[StoreT]):
    """One store. Whoever asks it gets an answer or none, and never an error.

    Args:
        name: `hot` or `warm`, the label of its metrics.
        store: The store.
        patience: How long it is waited for.
        telemetry: Where it is counted.
        clock: Measures the pause.
    """

    def __init__(self, name: str, store: StoreT, patience: TierPatience, telemetry: Telemetry, clock: Clock) -> None:
        self._name: Final = name
        self._store: Final = store
        self._patience: Final = patience
        self._metrics: Final = telemetry.metrics
        self._clock: Final = clock
        self._asked_again_at = 0.0

    def __repr__(self) -> str:
        state = "left alone" if self._is_left_alone else "asked"
        return f"<Tier {self._name} {state} {self._store!r}>"

    async def read(self, operation: Callable[[StoreT, Deadline], Awaitable[ValueT | None]]) -> ValueT | None:
        """Return what a read finds; None for nothing, and where the store does not answer."""
        answer = await self._ask(operation, self._patience.read_seconds, names.MEMORY_READS)
        if answer is not None:
            self._count(names.MEMORY_READS, "miss" if not answer.value else "hit")
        return None if answer is None else answer.value

    async def write(self, operation: Callable[[StoreT, Deadline], Awaitable[ValueT]]) -> ValueT | None:
        """Return what a write says; None where the store does not answer. False is a conflict."""
        answer = await self._ask(operation, self._patience.write_seconds, names.MEMORY_WRITES)
        if answer is not None:
            self._count(names.MEMORY_WRITES, "conflict" if answer.value is False else "written")
        return None if answer is None else answer.value

    async def _ask(
        self, operation: Callable[[StoreT, Deadline], Awaitable[ValueT]], seconds: float, metric: MetricSpec
    ) -> _Answer[ValueT] | None:
        if self._is_left_alone:
            self._count(metric, "skipped")
            return None
        try:
            async with asyncio.timeout(seconds):
                return _Answer(await operation(self._store, Deadline.after(seconds, self._clock)))
        except (TaoError, TimeoutError) as error:
            # A run goes on without; who waits next must not wait as long for the same store.
            self._asked_again_at = self._clock.monotonic() + self._patience.pause_seconds
            self._count(metric, "error")
            reason = error.reason if isinstance(error, TaoError) else "TIMEOUT"
            _log.warning("memory_unavailable", tier=self._name, reason=reason)
            return None

    @property
    def _is_left_alone(self) -> bool:
        return self._clock.monotonic() < self._asked_again_at

    def _count(self, metric: MetricSpec, outcome: str) -> None:
        self._metrics.counter(metric).labels(tier=self._name, outcome=outcome).inc()


@dataclass(frozen=True, slots=True)
class _Answer(Generic[ValueT]):
    value: ValueT


@dataclass(frozen=True, slots=True)
class Tiers:
    """The stores of one line of business, or of all that share them; None where there is none."""

    hot: Tier[HotMemory] | None = None
    warm: Tier[WarmMemory] | None = None
