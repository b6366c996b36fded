"""Names of the thought queue's keys; one hash tag, so that each script touches one slot of a cluster."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueueKeys:
    """The keys below one prefix."""

    prefix: str

    @property
    def jobs(self) -> str:
        """Return the stream of jobs."""
        return f"{self._base}:jobs"

    @property
    def dead(self) -> str:
        """Return the stream of dead letters."""
        return f"{self._base}:dead"

    @property
    def fronts(self) -> str:
        """Return what the name of each front's stream of replies begins with."""
        return f"{self._base}:front:"

    def note(self, job_id: str) -> str:
        """Return where it stands who waits for a job."""
        return f"{self._base}:note:{job_id}"

    def reply(self, job_id: str) -> str:
        """Return where a job's reply is stored."""
        return f"{self._base}:reply:{job_id}"

    @property
    def _base(self) -> str:
        return f"{self.prefix}:{{thought}}"
