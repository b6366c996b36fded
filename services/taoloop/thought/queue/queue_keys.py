"""Names of the thought queue's keys; one hash tag, so that each script touches one slot of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from taoloop.plan.task import Priority

GROUP: Final = "thinkers"
"""The consumer group of the workers, on the jobs of both priorities."""


@dataclass(frozen=True, slots=True)
class QueueKeys:
    """The keys below one prefix."""

    prefix: str
    _base: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_base", f"{self.prefix}:{{thought}}")

    def jobs(self, priority: Priority) -> str:
        """Return the stream of the jobs of a priority."""
        return f"{self._base}:jobs:background" if priority is Priority.BACKGROUND else f"{self._base}:jobs"

    @property
    def dead(self) -> str:
        """Return the stream of dead letters."""
        return f"{self._base}:dead"

    @property
    def fronts(self) -> str:
        """Return what the name of each front's stream of replies begins with."""
        return f"{self._base}:front:"

    def note(self, job_id: str) -> str:
        """Return where it stands who waits for a job; earlier versions kept a hash under `note`."""
        return f"{self._base}:wait:{job_id}"

    def reply(self, job_id: str) -> str:
        """Return where a job's reply is stored."""
        return f"{self._base}:reply:{job_id}"

    def tenant(self, tenant: str) -> str:
        """Return where it stands which jobs of a tenant wait or are leased."""
        return f"{self._base}:tenant:{tenant}"
