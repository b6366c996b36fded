"""What a metric is, and the buckets that histograms of time share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class MetricKind(StrEnum):
    """How a metric counts."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One Prometheus metric.

    Attributes:
        name: Full name with unit and, for a counter, `_total`.
        kind: How it counts.
        unit: UCUM unit, such as `s`, `By` or `{run}`.
        labels: Label names; their values come from fixed sets, never from ids.
        help: One sentence.
        buckets: Upper bounds of a histogram, in the unit; empty for the others.
    """

    name: str
    kind: MetricKind
    unit: str
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()


CALL_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Buckets for what one call takes: from a check in process to a slow tool."""

OPERATION_SECONDS: Final = tuple(round(0.01 * 2**power, 2) for power in range(14))
"""Buckets for whole operations: 0.01 s, doubling up to 81.92 s, as the GenAI conventions advise."""


def counter(name: str, unit: str, labels: tuple[str, ...], sentence: str) -> MetricSpec:
    """Return a counter; its name ends in `_total`."""
    return MetricSpec(name, MetricKind.COUNTER, unit, labels, sentence)


def gauge(name: str, unit: str, labels: tuple[str, ...], sentence: str) -> MetricSpec:
    """Return a gauge."""
    return MetricSpec(name, MetricKind.GAUGE, unit, labels, sentence)


def seconds(name: str, labels: tuple[str, ...], sentence: str, buckets: tuple[float, ...]) -> MetricSpec:
    """Return a histogram of seconds."""
    return MetricSpec(name, MetricKind.HISTOGRAM, "s", labels, sentence, buckets)
