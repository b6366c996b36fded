"""Writes drift down without holding up the observation, and hands it to the log in batches from the background."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog
from taoloop.core.tasks import beside
from taoloop.core.telemetry.metrics import Metrics
from taoloop.core.telemetry.names import DRIFT, DRIFT_REFUSED
from taoloop.observation.drift.local_drift_log import DriftKey, drift_key
from taoloop.observation.drift.ports import DriftLog, Sighting, SightingBatch
from taoloop.plan.observing import Drift, DriftRecord

STORE_SECONDS: Final = 2.0
"""Longest wait for the log; what was not taken is offered again."""

MAX_BATCH: Final = 500
"""Most sightings that are handed over at once."""

_log = EventLog(__name__)

_Key = tuple[str, DriftKey]


class DriftNotebook:
    """Counts what was seen until the log has taken it. Threads may share a notebook.

    A log that does not answer loses nothing for as long as the process lives, and fails no observation. Memory is
    bounded by `max_records` for each tool of the catalogue.

    Args:
        log: Where it is remembered.
        max_records: Most different drifts of one tool that are noted; others are counted as refused.
        metrics: Where it is counted.
        clock: Dates the sightings and paces the batches.
        every_seconds: How long a sighting may wait for its batch.
    """

    def __init__(self, log: DriftLog, max_records: int, metrics: Metrics, clock: Clock, every_seconds: float) -> None:
        self._drift_log = log
        self._max_records = max_records
        self._clock = clock
        self._every_seconds = every_seconds
        self._seen = metrics.counter(DRIFT)
        self._refused = metrics.counter(DRIFT_REFUSED)
        self._lock = threading.Lock()
        self._known: dict[str, set[DriftKey]] = {}
        self._waiting: dict[_Key, Sighting] = {}
        self._source = new_id(clock)
        self._batch = SightingBatch(source=self._source, number=0, sightings=())
        self._handing = asyncio.Lock()
        self._is_away = False

    def __repr__(self) -> str:
        state = "away" if self._is_away else "up"
        return f"<DriftNotebook [{len(self._waiting) + len(self._batch.sightings)} to hand over] log {state}>"

    @property
    def is_shared(self) -> bool:
        """Tell whether the log is that of all replicas."""
        return self._drift_log.is_shared

    def note(self, tool: str, drift: Sequence[Drift]) -> None:
        """Note what one result of a tool showed; never waits, never fails."""
        now = self._clock.now()
        for each in drift:
            self._seen.labels(tool, each.kind.value).inc()
            sighting = Sighting(tool=tool, drift=each, first_seen=now, last_seen=now)
            with self._lock:
                is_noted, is_new = self._noted(sighting)
            if is_new:
                _log.warning("drift_seen", tool=tool, kind=each.kind.value, pointer=each.pointer)
            if not is_noted:
                self._refused.inc()

    async def hand_over(self) -> None:
        """Give the log what waits; what it does not take now is kept for the next time."""
        async with self._handing:
            while self._next_batch():
                deadline = Deadline.after(STORE_SECONDS, self._clock)
                try:
                    refused = await self._drift_log.add(self._batch, deadline)
                except BackendUnavailable as error:
                    self._note_absence(error.reason)
                    return
                self._batch = SightingBatch(source=self._source, number=self._batch.number, sightings=())
                self._note_presence(refused)

    async def read(self, tools: Sequence[str], deadline: Deadline) -> tuple[DriftRecord, ...]:
        """Return the records of these tools, with what was seen here until now.

        Raises:
            BackendUnavailable: The log does not answer.
        """
        await self.hand_over()
        return await self._drift_log.read(tools, deadline)

    async def follow(self) -> None:
        """Hand over again and again until cancelled."""
        while True:
            await self._clock.sleep(self._every_seconds)
            await self.hand_over()

    def _noted(self, sighting: Sighting) -> tuple[bool, bool]:
        """Add a sighting and tell whether there was room, and whether it is the first of its kind here."""
        key = drift_key(sighting.drift)
        known = self._known.setdefault(sighting.tool, set())
        is_new = key not in known
        if is_new and len(known) >= self._max_records:
            return False, False
        known.add(key)
        before = self._waiting.get((sighting.tool, key))
        if before is not None:
            sighting = Sighting(
                tool=sighting.tool,
                drift=sighting.drift,
                first_seen=before.first_seen,
                last_seen=max(before.last_seen, sighting.last_seen),
                count=before.count + 1,
            )
        self._waiting[sighting.tool, key] = sighting
        return True, is_new

    def _next_batch(self) -> bool:
        """Make the batch to hand over: the one that was not taken as it was, else one of what waits."""
        if self._batch.sightings:
            return True
        with self._lock:
            keys = list(self._waiting)[:MAX_BATCH]
            sightings = tuple(self._waiting.pop(key) for key in keys)
        if sightings:
            self._batch = SightingBatch(source=self._source, number=self._batch.number + 1, sightings=sightings)
        return bool(sightings)

    def _note_absence(self, reason: str) -> None:
        if not self._is_away:
            _log.warning("drift_log_lost", reason=reason)
        self._is_away = True

    def _note_presence(self, refused: int) -> None:
        if self._is_away:
            _log.info("drift_log_found")
        self._is_away = False
        if refused:  # other replicas had filled the log
            self._refused.inc(refused)


@asynccontextmanager
async def handing_over(notebook: DriftNotebook) -> AsyncIterator[DriftNotebook]:
    """Hand the notebook's sightings over while the block runs, and the last of them at its end."""
    async with beside(drift_notebook=notebook.follow()):
        yield notebook
    await notebook.hand_over()
