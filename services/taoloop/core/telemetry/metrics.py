"""Prometheus collectors made from the registry of names, and the endpoint that shows them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Self, TypeVar, cast
from wsgiref.simple_server import WSGIServer

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
    start_http_server,
)
from prometheus_client.metrics import MetricWrapperBase

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


class MetricsEndpoint:
    """Serves `/metrics` from a thread of its own until it is closed.

    Attributes:
        port: The port it listens on.
    """

    def __init__(self, server: WSGIServer, thread: threading.Thread) -> None:
        self._server = server
        self._thread = thread
        self.port = server.server_port

    @classmethod
    def start(cls, metrics: Metrics, host: str, port: int) -> Self:
        """Listen on `host` and `port`; port 0 takes a free one.

        Raises:
            OSError: The address cannot be taken.
        """
        return cls(*start_http_server(port, host, registry=metrics.registry))

    async def aclose(self) -> None:
        """Stop listening and end the thread."""
        await asyncio.to_thread(self._server.shutdown)
        self._server.server_close()
        await asyncio.to_thread(self._thread.join)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"MetricsEndpoint(port={self.port}, is_serving={self._thread.is_alive()})"
