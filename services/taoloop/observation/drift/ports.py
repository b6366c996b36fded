"""Where drift is remembered, in the domain's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from taoloop.core.deadlines import Deadline
from taoloop.plan.observing import Drift, DriftRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """How often one drift was seen in a span of time.

    Attributes:
        tool: The tool's name.
        drift: What was seen.
        first_seen: When first, aware.
        last_seen: When last, aware.
        count: In how many results, at least 1.
    """

    tool: str
    drift: Drift
    first_seen: datetime
    last_seen: datetime
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SightingBatch:
    """What one process saw, to be added once.

    Attributes:
        source: The process that saw it.
        number: Counts up from 1 in each process; a number that was taken is not taken again.
        sightings: Each drift of a tool at most once.
    """

    source: str
    number: int
    sightings: tuple[Sighting, ...]


class DriftLog(Protocol):
    """Remembers drift for all replicas, a bounded number of records for each tool.

    Every method raises `BackendUnavailable` when the store does not answer.
    """

    @property
    def is_shared(self) -> bool:
        """Tell whether the replicas meet here and what is known outlives them."""
        ...

    async def add(self, batch: SightingBatch, deadline: Deadline) -> int:
        """Add sightings to the records, and return how many new ones found no room.

        The same batch again changes nothing.
        """
        ...

    async def read(self, tools: Sequence[str], deadline: Deadline) -> tuple[DriftRecord, ...]:
        """Return the records of these tools, in no order."""
        ...
