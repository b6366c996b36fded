"""Prometheus collectors made from the registry of names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.values import MutexValue

from taoloop.core.telemetry.names import METRICS, MetricKind, MetricSpec

_CollectorT = TypeVar("_CollectorT", bound=MetricWrapperBase)


class Metrics:
    """The metrics of one process, in a registry of their own.

    A collector comes into being when it is first asked for, so that a process shows only what it counts: a
    gauge of the queue's length that stands at 0 in every other process would be a lie.

    Args:
        registry: Where the collectors live; a private one when left out, which is also how to count in vain.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = CollectorRegistry() if registry is None else registry
        self._collectors: dict[str, MetricWrapperBase] = {}

    def counter(self, spec: MetricSpec) -> Counter:
        """Return the counter of `spec`.

        Raises:
            ValueError: The metric is of another kind, or not in the registry of names.
        """
        return self._collector(
            spec, MetricKind.COUNTER, lambda: Counter(spec.name, spec.help, spec.labels, registry=self.registry)
        )

    def gauge(self, spec: MetricSpec) -> Gauge:
        """Return the gauge of `spec`.

        Raises:
            ValueError: The metric is of another kind, or not in the registry of names.
        """
        return self._collector(
            spec, MetricKind.GAUGE, lambda: Gauge(spec.name, spec.help, spec.labels, registry=self.registry)
        )

    def histogram(self, spec: MetricSpec) -> Histogram:
        """Return the histogram of `spec`.

        Raises:
            ValueError: The metric is of another kind, or not in the registry of names.
        """
        return self._collector(
            spec,
            MetricKind.HISTOGRAM,
            lambda: Histogram(spec.name, spec.help, spec.labels, registry=self.registry, buckets=spec.buckets),
        )

    def add_process_metrics(self) -> None:
        """Add memory, CPU, open files and the interpreter's version, once for each process."""
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)

    def exposition(self) -> str:
        """Return what `/metrics` shows, in the text format of Prometheus."""
        return generate_latest(self.registry).decode()

    def _collector(self, spec: MetricSpec, kind: MetricKind, make: Callable[[], _CollectorT]) -> _CollectorT:
        if spec.kind is not kind or spec not in METRICS:
            raise ValueError(f"{spec.name} is not a {kind} of the registry of names")
        if spec.name not in self._collectors:
            self._collectors[spec.name] = make()
        return cast("_CollectorT", self._collectors[spec.name])  # the kind decides the class


def counting(counter: Counter) -> Callable[[], None]:
    """Return what adds one to a counter whose labels are given, in a quarter of the calls that `inc` makes."""
    return partial(counter._value.inc, 1)  # noqa: SLF001 - see above


def observing(histogram: Histogram) -> Callable[[float], None]:
    """Return what `observe` of a histogram does whose labels are given, in a third of its calls."""
    total, bounds, buckets = histogram._sum, histogram._upper_bounds, histogram._buckets  # noqa: SLF001 - see above
    if type(total) is not MutexValue:  # in files, which several processes share
        return histogram.observe

    def observe(amount: float) -> None:
        with total._lock:  # noqa: SLF001 - see above
            total._value += amount  # noqa: SLF001
        bucket = buckets[bisect_left(bounds, amount)]
        with bucket._lock:  # noqa: SLF001
            bucket._value += 1  # noqa: SLF001

    return observe
