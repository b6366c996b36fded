"""When which accident happens to whom: the same for the same seed, whatever the machine does meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final


class Topology(StrEnum):
    """How the server is installed."""

    SINGLE = "single"
    SENTINEL = "sentinel"


class AccidentKind(StrEnum):
    """What may happen."""

    KILL_WORKER = "worker_killed"
    PAUSE_WORKER = "worker_paused"
    KILL_FRONT = "front_killed"
    KILL_REDIS = "redis_killed"
    PAUSE_REDIS = "redis_paused"
    CUT_OFF = "cut_off"
    DROP = "connections_dropped"


@dataclass(frozen=True, slots=True)
class Accident:
    """One thing that happens.

    Attributes:
        at_seconds: When, from the start; later where its victim is still in another one.
        kind: What.
        victim: Number of the worker or the front; 0 for the server.
        seconds: How long it lasts; 0.0 for what is over at once.
    """

    at_seconds: float
    kind: AccidentKind
    victim: int = 0
    seconds: float = 0.0


OF_PROGRAMS: Final = 4 * (AccidentKind.KILL_WORKER,) + 3 * (AccidentKind.PAUSE_WORKER, AccidentKind.KILL_FRONT)
OF_REDIS: Final = {
    Topology.SINGLE: (AccidentKind.KILL_REDIS, AccidentKind.PAUSE_REDIS, AccidentKind.CUT_OFF, AccidentKind.DROP),
    Topology.SENTINEL: (AccidentKind.KILL_REDIS, AccidentKind.PAUSE_REDIS, AccidentKind.DROP),
}
"""Of each deal; what befalls the servers of a Sentinel set befalls its primary."""
LONG_OUTAGE_SECONDS: Final = 10.0
SHORT_OUTAGE_SECONDS: Final = (0.2, 3.0)
FAIL_OVER_SECONDS: Final = 6.0
"""Long enough that another server is made the primary."""
PAST_LEASE_SECONDS: Final = (2.5, 4.0)
"""A worker stands still for longer than its lease."""
PAUSE_SECONDS: Final = (0.8, 2.4)
"""Between two accidents."""


def scheduled(seed: int, topology: Topology, seconds: float, workers: int, fronts: int) -> tuple[Accident, ...]:
    """Return the accidents of so many seconds, in order of time.

    Every kind comes once in each deal of them all, so that a short run sees them all as well. The first killing of a
    single server lasts for ten seconds.

    Args:
        seed: The same one gives the same accidents.
        topology: What can happen to the server.
        seconds: How long.
        workers: How many there are.
        fronts: How many there are.
    """
    random = Random(f"{seed} {topology}")
    kinds: list[AccidentKind] = []
    accidents: list[Accident] = []
    is_long_due = topology is Topology.SINGLE
    at_seconds = random.uniform(*PAUSE_SECONDS)
    while at_seconds < seconds:
        if not kinds:
            kinds = [*OF_PROGRAMS, *OF_REDIS[topology]]
            random.shuffle(kinds)
        kind = kinds.pop()
        victim = random.randrange(_victims(kind, workers, fronts))
        lasting = _lasting(kind, topology, random)
        if kind is AccidentKind.KILL_REDIS and is_long_due:
            lasting, is_long_due = LONG_OUTAGE_SECONDS, False
        accidents.append(Accident(round(at_seconds, 3), kind, victim, round(lasting, 3)))
        at_seconds += random.uniform(*PAUSE_SECONDS)
    return tuple(accidents)


def _victims(kind: AccidentKind, workers: int, fronts: int) -> int:
    if kind in (AccidentKind.KILL_WORKER, AccidentKind.PAUSE_WORKER):
        return workers
    return fronts if kind is AccidentKind.KILL_FRONT else 1


def _lasting(kind: AccidentKind, topology: Topology, random: Random) -> float:
    if kind is AccidentKind.PAUSE_WORKER:
        return random.uniform(*PAST_LEASE_SECONDS)
    if kind not in (AccidentKind.KILL_REDIS, AccidentKind.PAUSE_REDIS, AccidentKind.CUT_OFF):
        return 0.0
    return FAIL_OVER_SECONDS if topology is Topology.SENTINEL else random.uniform(*SHORT_OUTAGE_SECONDS)
