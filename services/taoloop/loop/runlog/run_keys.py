"""Names of the run log's keys; those of one run share a slot of a cluster, and so do those of one tenant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunKeys:
    """The keys below one prefix."""

    prefix: str

    def of_run(self, tenant: str, run_id: str) -> tuple[str, str, str]:
        """Return a run's stream, its position, and the contents of its large events."""
        base = f"{self.prefix}:{{run:{tenant}:{run_id}}}"
        return f"{base}:events", f"{base}:position", f"{base}:contents"

    def tenant(self, tenant: str) -> str:
        """Return what the keys of a tenant's index begin with."""
        return f"{self.prefix}:{{tenant:{tenant}}}"

    @property
    def leases(self) -> str:
        """Return what the keys of all runs' leases begin with."""
        return f"{self.prefix}:{{run-leases}}"
