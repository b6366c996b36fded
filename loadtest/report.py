"""What a load test came to: a record, its JSON form, and whether its figures can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from loadtest.latencies import RELATIVE_ERROR, Percentiles
from loadtest.recorder import CLIENT_FULL, Recorder
from loadtest.schedule import Schedule
from taoloop.core.exact_json import JsonValue

FORM: Final = "taoloop.loadtest/v1"
"""Name and version of the JSON form; report.schema.json describes it. A field is only ever added in one version."""

_MOST_LAG_SHARE: Final = 0.1
_LEAST_LAG_SECONDS: Final = 0.002  # the event loop's timers have a resolution of a millisecond
_MOST_CPU_SHARE: Final = 0.8
_LEAST_RATE_SHARE: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What is known about a test besides its counts.

    Attributes:
        address: Of the service.
        tasks_file: Where the mix came from.
        started_at: First possible arrival.
        measured_seconds: From the end of the warm-up to the last scheduled arrival, or to the interruption.
        drain_seconds: From then to the end of the last call.
        client_cpu_share: Processor time of this process over the time of the whole test, warm-up included.
        is_interrupted: Whether it was stopped before its end.
        max_in_flight: Most calls at the same time.
    """

    address: str
    tasks_file: str
    started_at: datetime
    measured_seconds: float
    drain_seconds: float
    client_cpu_share: float
    is_interrupted: bool
    max_in_flight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a test came to; rates are per second, shares from 0 to 1 of all measured arrivals."""

    measured: Measured
    schedule: Schedule
    scheduled: int
    sent: int
    ended: int
    abandoned: int
    sent_rate: float
    ended_rate: float
    in_flight_peak: int
    latency: Percentiles
    latency_by_end: Mapping[str, Percentiles]
    outcomes: Mapping[str, int]
    errors: Mapping[str, int]
    unexpected: int
    tasks: Mapping[str, Mapping[str, int]]
    client_lag: Percentiles

    @property
    def error_share(self) -> float:
        """Share of arrivals that came to no outcome."""
        return self.share(sum(self.errors.values()))

    @property
    def unexpected_share(self) -> float:
        """Share of arrivals that came to another outcome than their task's file expects."""
        return self.share(self.unexpected)

    def share(self, count: int) -> float:
        """Return the share that `count` has of all measured arrivals."""
        return count / self.scheduled if self.scheduled else 0.0

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the figures tell of the client rather than of the service; empty when they can be trusted."""
        found = []
        allowed_lag = max(_LEAST_LAG_SECONDS, _MOST_LAG_SHARE * self.latency.p99)
        if self.client_lag.p99 > allowed_lag:
            found.append(
                f"the client sent late: p99 of its lag is {self.client_lag.p99 * 1000:.1f} ms, "
                f"allowed are {allowed_lag * 1000:.1f} ms"
            )
        if self.measured.client_cpu_share > _MOST_CPU_SHARE:
            found.append(f"the client itself was busy: {self.measured.client_cpu_share:.0%} of one core")
        if self.errors.get(CLIENT_FULL):
            found.append(
                f"{self.errors[CLIENT_FULL]} arrivals were not sent, since {self.measured.max_in_flight} were in flight"
            )
        if self.sent and self.sent_rate < _LEAST_RATE_SHARE * self.schedule.rate_per_second and not found:
            found.append(f"only {self.sent_rate:.1f} of {self.schedule.rate_per_second:g} a second were sent")
        return tuple(found)


def report_of(recorder: Recorder, schedule: Schedule, measured: Measured) -> Report:
    """Return what the recorder noted, with what is known besides."""
    seconds = measured.measured_seconds
    busy_seconds = seconds + measured.drain_seconds
    return Report(
        measured=measured,
        schedule=schedule,
        scheduled=recorder.scheduled,
        sent=recorder.sent,
        ended=recorder.ended,
        abandoned=recorder.abandoned,
        sent_rate=recorder.sent / seconds if seconds else 0.0,
        ended_rate=recorder.ended / busy_seconds if busy_seconds else 0.0,
        in_flight_peak=recorder.in_flight_peak,
        latency=recorder.latencies.percentiles(),
        latency_by_end={end: found.percentiles() for end, found in sorted(recorder.latencies_by_end.items())},
        outcomes={outcome.value: count for outcome, count in recorder.outcomes.most_common()},
        errors=dict(recorder.errors.most_common()),
        unexpected=recorder.unexpected,
        tasks={task_id: dict(ends.most_common()) for task_id, ends in sorted(recorder.tasks.items())},
        client_lag=recorder.client_lag.percentiles(),
    )


def report_json(report: Report, broken: tuple[str, ...]) -> dict[str, JsonValue]:
    """Return the report in its JSON form.

    Args:
        report: The report.
        broken: The thresholds that it breaks, in words.
    """
    measured, schedule = report.measured, report.schedule
    return {
        "form": FORM,
        "settings": {
            "address": measured.address,
            "tasks_file": measured.tasks_file,
            "rate_per_second": schedule.rate_per_second,
            "arrivals": schedule.arrivals.value,
            "warm_up_seconds": schedule.warm_up_seconds,
            "duration_seconds": schedule.duration_seconds,
            "max_in_flight": measured.max_in_flight,
            "seed": schedule.seed,
        },
        "started_at": measured.started_at.isoformat(),
        "is_interrupted": measured.is_interrupted,
        "measured_seconds": measured.measured_seconds,
        "arrivals": {
            "scheduled": report.scheduled,
            "sent": report.sent,
            "ended": report.ended,
            "abandoned": report.abandoned,
        },
        "rate_per_second": {
            "set": schedule.rate_per_second,
            "sent": report.sent_rate,
            "ended": report.ended_rate,
        },
        "in_flight_peak": report.in_flight_peak,
        "latency_relative_error": RELATIVE_ERROR,
        "latency_seconds": _percentiles_json(report.latency),
        "latency_seconds_by_end": {end: _percentiles_json(each) for end, each in report.latency_by_end.items()},
        "outcomes": _counts_json(report, report.outcomes),
        "unexpected": {"count": report.unexpected, "share": report.unexpected_share},
        "error_share": report.error_share,
        "errors": _counts_json(report, report.errors),
        "tasks": {task_id: dict(ends) for task_id, ends in report.tasks.items()},
        "client": {
            "lag_seconds": _percentiles_json(report.client_lag),
            "cpu_share": measured.client_cpu_share,
        },
        "doubts": list(report.doubts),
        "broken_thresholds": list(broken),
    }


def _percentiles_json(found: Percentiles) -> JsonValue:
    return {
        "count": found.count,
        "mean": found.mean,
        "p50": found.p50,
        "p90": found.p90,
        "p99": found.p99,
        "p99_9": found.p99_9,
        "max": found.max,
    }


def _counts_json(report: Report, counts: Mapping[str, int]) -> JsonValue:
    return {name: {"count": count, "share": report.share(count)} for name, count in counts.items()}
