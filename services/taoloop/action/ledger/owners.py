"""Which processes that share a ledger are alive: told by counters, so that no two clocks have to agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BEATS_PER_LEASE: Final = 4
"""How often in a lease a process should beat: three beats may be lost."""


class OwnerWatch:
    """Watches the beats of the other processes.

    Each process adds one to its counter now and then. One whose counter has stood still for the lease, on the
    watcher's own clock, is dead. Times at which the store could not be read do not count, since then nobody's
    counter could move.

    Args:
        lease_seconds: How long a counter may stand still, above 0.
    """

    def __init__(self, lease_seconds: float) -> None:
        self._lease_seconds = lease_seconds
        self._seen: dict[str, tuple[int, float]] = {}

    def dead(self, beats: Mapping[str, int], now: float) -> dict[str, int]:
        """Take the counters in as they stand now and return those that stand still too long.

        Args:
            beats: Owner → counter, of every owner.
            now: Seconds of a monotonic clock.
        """
        seen = {}
        for owner, count in beats.items():
            known = self._seen.get(owner)
            seen[owner] = known if known is not None and known[0] == count else (count, now)
        self._seen = seen
        return {owner: count for owner, (count, since) in seen.items() if now - since >= self._lease_seconds}

    def forget(self) -> None:
        """Begin anew, because the store could not be read."""
        self._seen = {}

    def __repr__(self) -> str:
        return f"OwnerWatch(owners={len(self._seen)}, lease_seconds={self._lease_seconds:g})"
