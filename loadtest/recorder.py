"""What is noted of each arrival, and the counts and durations that come of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

from loadtest.latencies import Latencies
from loadtest.mix import MixedTask
from loadtest.schedule import Arrival
from taoloop.plan.task import Outcome

CLIENT_FULL: Final = "CLIENT_FULL"
"""Error reason of an arrival that was not sent, since as many runs as allowed were in flight."""
NO_OUTCOME: Final = "NO_OUTCOME"
"""Error reason of a run whose events ended before its end."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The service brought the run to an end."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Failed:
    """The call failed: there is no outcome. The reason is the service's own, such as `QUEUE_FULL`."""

    reason: str


Result = Answered | Failed


class Recorder:
    """Counts what becomes of the arrivals; those of the warm-up only take part in the number in flight.

    A latency runs from the scheduled instant, not from the one at which the task really left: a caller who had to
    wait for a slow client or service is counted with the whole of that wait (no coordinated omission).
    """

    def __init__(self) -> None:
        self.scheduled = 0
        self.sent = 0
        self.ended = 0
        self.in_flight = 0
        self.in_flight_peak = 0
        self.unexpected = 0
        self.outcomes: Counter[Outcome] = Counter()
        self.errors: Counter[str] = Counter()
        self.tasks: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.latencies = Latencies()
        self.latencies_by_end: defaultdict[str, Latencies] = defaultdict(Latencies)
        self.client_lag = Latencies()
        self._measured_in_flight = 0

    def __repr__(self) -> str:
        return f"<Recorder [{self.in_flight} in flight, {self.ended} of {self.scheduled} ended]>"

    @property
    def abandoned(self) -> int:
        """Measured arrivals that were sent and have not ended: what an interrupted test gave up."""
        return self._measured_in_flight

    @property
    def error_count(self) -> int:
        """Measured arrivals without an outcome, those that were not sent included."""
        return self.errors.total()

    def note_sent(self, arrival: Arrival, late_seconds: float) -> None:
        """Note that a task left the client, so many seconds after its scheduled instant."""
        self.in_flight += 1
        self.in_flight_peak = max(self.in_flight_peak, self.in_flight)
        if arrival.is_measured:
            self.scheduled += 1
            self.sent += 1
            self._measured_in_flight += 1
            self.client_lag.add(max(0.0, late_seconds))

    def note_refused(self, arrival: Arrival) -> None:
        """Note that a task was not sent, since too many are in flight."""
        if arrival.is_measured:
            self.scheduled += 1
            self.errors[CLIENT_FULL] += 1
            self.tasks[arrival.task.task_id][CLIENT_FULL] += 1

    def note_ended(self, arrival: Arrival, result: Result, latency_seconds: float) -> None:
        """Note what became of a task, so many seconds after its scheduled instant."""
        self.in_flight -= 1
        if not arrival.is_measured:
            return
        self._measured_in_flight -= 1
        self.ended += 1
        self.latencies.add(latency_seconds)
        ends = self.tasks[arrival.task.task_id]
        if isinstance(result, Answered):
            ends[result.outcome.value] += 1
            self.outcomes[result.outcome] += 1
            self.unexpected += _is_unexpected(arrival.task, result.outcome)
            self.latencies_by_end[result.outcome.value].add(latency_seconds)
        else:
            ends[result.reason] += 1
            self.errors[result.reason] += 1
            self.latencies_by_end["error"].add(latency_seconds)


def _is_unexpected(task: MixedTask, outcome: Outcome) -> bool:
    return bool(task.expected) and outcome not in task.expected
