"""Drift of one replica: in the process, gone with it."""

from __future__ import annotations

from collections.abc import Sequence

from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import dumps
from taoloop.observation.drift.ports import Sighting, SightingBatch
from taoloop.plan.observing import Drift, DriftRecord

DriftKey = tuple[str, bool, str, str]


class LocalDriftLog:
    """A `DriftLog` for one process.

    Args:
        max_records: Most records of one tool; what is found beyond them is not remembered.
    """

    is_shared = False

    def __init__(self, max_records: int) -> None:
        self._max_records = max_records
        self._records: dict[str, dict[DriftKey, DriftRecord]] = {}
        self._taken: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<LocalDriftLog [{sum(map(len, self._records.values()))} records]>"

    async def add(self, batch: SightingBatch, deadline: Deadline) -> int:  # noqa: ARG002 - the port's; nothing waits
        """See `DriftLog.add`."""
        if batch.number <= self._taken.get(batch.source, 0):
            return 0
        self._taken[batch.source] = batch.number
        return sum(not self._add(sighting) for sighting in batch.sightings)

    async def read(
        self,
        tools: Sequence[str],
        deadline: Deadline,  # noqa: ARG002 - the port's; nothing waits
    ) -> tuple[DriftRecord, ...]:
        """See `DriftLog.read`."""
        return tuple(record for tool in tools for record in self._records.get(tool, {}).values())

    def _add(self, sighting: Sighting) -> bool:
        records = self._records.setdefault(sighting.tool, {})
        key = drift_key(sighting.drift)
        known = records.get(key)
        if known is None and len(records) >= self._max_records:
            return False
        records[key] = merged(known, sighting)
        return True


def drift_key(drift: Drift) -> DriftKey:
    """Return what makes two drifts of a tool the same."""
    return drift.kind.value, drift.in_data, drift.pointer, dumps(drift.value)


def merged(known: DriftRecord | None, sighting: Sighting) -> DriftRecord:
    """Return the record with the sighting added."""
    first, last, count = sighting.first_seen, sighting.last_seen, sighting.count
    if known is not None and known.first_seen is not None and known.last_seen is not None:
        first, last = min(first, known.first_seen), max(last, known.last_seen)
        count += known.count
    return DriftRecord(tool=sighting.tool, drift=sighting.drift, first_seen=first, last_seen=last, count=count)
