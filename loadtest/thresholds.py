"""The limits that a load test is to keep, and which of them it broke."""

from __future__ import annotations

from dataclasses import dataclass

from loadtest.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What is demanded; None demands nothing.

    Attributes:
        max_error_share: Of arrivals without an outcome, 0 to 1.
        max_unexpected_share: Of arrivals with another outcome than expected, 0 to 1.
        max_p99_seconds: Of all calls that ended.
    """

    max_error_share: float | None = None
    max_unexpected_share: float | None = None
    max_p99_seconds: float | None = None

    def broken_by(self, report: Report) -> tuple[str, ...]:
        """Return in words which limits the report breaks; one without a single ended call keeps none that is set."""
        checks = (
            ("error share", report.error_share, self.max_error_share, 1.0, ""),
            ("unexpected share", report.unexpected_share, self.max_unexpected_share, 1.0, ""),
            ("p99", report.latency.p99, self.max_p99_seconds, 1000.0, " ms"),
        )
        broken = []
        for name, value, limit, factor, unit in checks:
            if limit is None:
                continue
            if report.ended == 0:
                broken.append(f"{name}: no call ended")
            elif value > limit:
                broken.append(f"{name} {value * factor:.4g}{unit} is above {limit * factor:g}{unit}")
        return tuple(broken)
