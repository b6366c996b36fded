"""The report as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from loadtest.latencies import Percentiles
from loadtest.recorder import Recorder
from loadtest.report import Report

_HEAD = f"  {'':14}{'count':>8}{'share':>8}{'p50':>9}{'p90':>9}{'p99':>9}{'p99.9':>9}{'max':>9}"


def summary_of(report: Report, broken: tuple[str, ...]) -> str:
    """Return the report in a form for people; latencies are in milliseconds from the scheduled instant."""
    return "\n".join(_lines(report, broken))


def progress_of(recorder: Recorder, elapsed_seconds: float, total_seconds: float) -> str:
    """Return one line on how far the test is."""
    p99_ms = recorder.latencies.percentile(99) * 1000
    return (
        f"{elapsed_seconds:4.0f} of {total_seconds:.0f} s  {recorder.sent} sent  {recorder.ended} ended  "
        f"{recorder.in_flight} in flight  p99 {p99_ms:.0f} ms  {recorder.error_count} errors"
    )


def _lines(report: Report, broken: tuple[str, ...]) -> Iterator[str]:
    schedule, measured = report.schedule, report.measured
    state = "interrupted after" if measured.is_interrupted else "for"
    yield (
        f"{measured.tasks_file} to {measured.address}: {schedule.rate_per_second:g} a second "
        f"({schedule.arrivals.value}, seed {schedule.seed}) {state} {measured.measured_seconds:.1f} s"
    )
    yield (
        f"  rate          set {schedule.rate_per_second:g}, sent {report.sent_rate:.1f}, "
        f"ended {report.ended_rate:.1f} a second; most in flight {report.in_flight_peak}"
    )
    yield (
        f"  arrivals      {report.scheduled}: {report.sent} sent, {report.ended} ended"
        + (f", {report.abandoned} given up" if report.abandoned else "")
        + (f"; {report.unexpected} with another outcome than expected" if report.unexpected else "")
    )
    yield _HEAD + "   (ms)"
    yield _row("all", report, report.latency)
    for end, found in report.latency_by_end.items():
        yield _row(end, report, found)
    for reason, count in report.errors.items():
        yield f"  error         {count:>8}{report.share(count):>8.2%}  {reason}"
    lag = report.client_lag
    yield (
        f"  client        lag p50 {lag.p50 * 1000:.1f}, p99 {lag.p99 * 1000:.1f}, max {lag.max * 1000:.1f} ms; "
        f"{measured.client_cpu_share:.0%} of one core"
    )
    for doubt in report.doubts:
        yield f"  DO NOT TRUST  {doubt}"
    for each in broken:
        yield f"  BROKEN        {each}"


def _row(name: str, report: Report, found: Percentiles) -> str:
    values = (found.p50, found.p90, found.p99, found.p99_9, found.max)
    shown = "".join(f"{value * 1000:>9.1f}" for value in values)
    return f"  {name:14}{found.count:>8}{report.share(found.count):>8.2%}{shown}"
