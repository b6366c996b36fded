"""Rules of metrics."""

import pytest

from taoloop.core.telemetry.metrics import Metrics, counting, observing
from taoloop.core.telemetry.names import METRICS, OPEN_RUNS, QUEUE_WAIT, RUNS, MetricKind, MetricSpec


def test_two_processes_in_one_interpreter_count_apart() -> None:
    left, right = Metrics(), Metrics()
    left.counter(RUNS).labels(outcome="answered").inc()
    right.counter(RUNS)
    assert left.registry.get_sample_value("taoloop_runs_total", {"outcome": "answered"}) == 1.0
    assert right.registry.get_sample_value("taoloop_runs_total", {"outcome": "answered"}) is None


def test_asking_twice_gives_the_same_collector() -> None:
    metrics = Metrics()
    assert metrics.counter(RUNS) is metrics.counter(RUNS)


def test_what_was_never_asked_for_is_not_shown() -> None:
    metrics = Metrics()
    metrics.gauge(OPEN_RUNS).set(2)
    assert "taoloop_open_runs 2.0" in metrics.exposition()
    assert "taoloop_thought_queue_length" not in metrics.exposition()


def test_every_metric_of_the_registry_can_be_made_with_its_own_buckets() -> None:
    metrics = Metrics()
    make = {
        MetricKind.COUNTER: metrics.counter,
        MetricKind.GAUGE: metrics.gauge,
        MetricKind.HISTOGRAM: metrics.histogram,
    }
    for spec in METRICS:
        make[spec.kind](spec)
    metrics.histogram(QUEUE_WAIT).observe(0.002)
    assert metrics.registry.get_sample_value("taoloop_queue_wait_seconds_bucket", {"le": "0.0025"}) == 1.0
    assert all(f"# HELP {spec.name} {spec.help}" in metrics.exposition() for spec in METRICS)


def test_a_metric_of_another_kind_or_outside_the_registry_is_refused() -> None:
    metrics = Metrics()
    with pytest.raises(ValueError, match="is not a gauge"):
        metrics.gauge(RUNS)
    metrics.counter(RUNS)
    with pytest.raises(ValueError, match="is not a histogram"):
        metrics.histogram(RUNS)
    with pytest.raises(ValueError, match="is not a counter"):
        metrics.counter(MetricSpec("taoloop_other_total", MetricKind.COUNTER, "{x}", (), "Other."))


@pytest.mark.parametrize("amount", [0.0, 0.0025, 0.002500001, 1e9, float("inf")])
def test_what_counts_quickly_counts_as_the_library_does(amount: float) -> None:
    usual, quick = Metrics(), Metrics()
    usual.counter(RUNS).labels(outcome="answered").inc()
    usual.histogram(QUEUE_WAIT).observe(amount)
    counting(quick.counter(RUNS).labels(outcome="answered"))()
    observing(quick.histogram(QUEUE_WAIT))(amount)
    shown = [[line for line in each.exposition().splitlines() if "_created" not in line] for each in (usual, quick)]
    assert shown[0] == shown[1]


def test_a_histogram_that_several_processes_share_is_observed_in_its_own_way() -> None:
    histogram = Metrics().histogram(QUEUE_WAIT)
    histogram._sum = object()  # stands for a value in a file
    assert observing(histogram) == histogram.observe
