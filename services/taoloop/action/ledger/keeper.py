"""Keeps the ledger in order while the service runs: beats, sweeps, look-ups."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import TracebackType
from typing import Self

from taoloop.action.ledger.owners import BEATS_PER_LEASE
from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.ledger.reconciliation import Reconciler
from taoloop.action.ledger.write_guard import WriteGuard
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics

_log = EventLog(__name__)


class LedgerKeeper:
    """Works in the background from `async with` to its end.

    Beats and look-ups run side by side: a look-up that hangs must not make this process seem dead.

    Args:
        ledger: What is kept.
        guard: Knows on which writes this process works.
        reconciler: Looks unknown effects up.
        clock: Times the rounds.
        metrics: Counts what was swept.
        lease_seconds: The ledger's lease; a beat comes four times in it.
        look_up_every_seconds: How long look-ups rest between two rounds.
    """

    def __init__(  # noqa: PLR0913 - one collaborator each
        self,
        ledger: EffectLedger,
        guard: WriteGuard,
        reconciler: Reconciler,
        clock: Clock,
        metrics: Metrics,
        *,
        lease_seconds: float,
        look_up_every_seconds: float,
    ) -> None:
        self._ledger = ledger
        self._guard = guard
        self._reconciler = reconciler
        self._clock = clock
        self._swept = metrics.counter(names.EFFECTS_SWEPT)
        self._beats_lost = metrics.counter(names.LEDGER_BEATS_LOST)
        self._lease_seconds = lease_seconds
        self._look_up_every_seconds = look_up_every_seconds
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._tasks = [
            self._group.create_task(self._beats(), name="ledger beats"),
            self._group.create_task(self._look_ups(), name="ledger look-ups"),
        ]
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(None, None, None)

    async def keep(self) -> None:
        """Do one round of what keeps the ledger in order, look-ups left aside; a store that is away is let be."""
        try:
            await self._ledger.beat()
            await self._guard.settle_leftovers()
            # Younger entries are left alone: a call may have started since the guard was asked.
            not_after = self._clock.now() - timedelta(seconds=self._lease_seconds)
            swept = await self._ledger.sweep(self._guard.in_progress, not_after)
        except BackendUnavailable:
            self._beats_lost.inc()
            return
        if swept.unknown or swept.given_up:
            self._swept.labels(state="unknown").inc(swept.unknown)
            self._swept.labels(state="failed").inc(swept.given_up)
            _log.warning("effects_swept", unknown=swept.unknown, given_up=swept.given_up)

    async def look_up(self) -> None:
        """Do one round of look-ups; a store that is away is let be."""
        try:
            await self._reconciler.round()
        except BackendUnavailable:
            self._beats_lost.inc()

    async def _beats(self) -> None:
        while True:
            await self.keep()
            await self._clock.sleep(self._lease_seconds / BEATS_PER_LEASE)

    async def _look_ups(self) -> None:
        while True:
            await self._clock.sleep(self._look_up_every_seconds)
            await self.look_up()

    def __repr__(self) -> str:
        return f"LedgerKeeper({self._guard!r}, {self._reconciler!r})"
