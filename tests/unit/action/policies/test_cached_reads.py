"""Rules of the executor's read cache."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.action.policies.cached_reads import CachedReads
from taoloop.core.exact_json import ABSENT
from taoloop.plan.acting import ActionStatus, Body, ServedBy
from taoloop.testing.clock import FakeClock
from taoloop.tools.contract import Cache
from tests.unit.action.calls import checked, contract
from tests.unit.action.contracts import CHANGE, telemetry

BOTH = Cache(ttl_seconds=60.0, last_good_seconds=3600.0)
GOOD = Outcome(
    status=ActionStatus.SUCCEEDED,
    parsed={"id": 1},
    body=Body(size_bytes=8),
    status_code=200,
    served_by=ServedBy.PRIMARY,
    response_time_seconds=0.1,
)


class Bench:
    def __init__(self, cache: Cache | None = BOTH, **changes: Any) -> None:
        self.clock = FakeClock()
        self.metrics = telemetry().metrics
        self.reads = CachedReads(self.metrics, self.clock, max_bytes=4096)
        self.contract = contract(cache=cache, **changes)

    def call(self, **changes: Any) -> CheckedCall:
        return checked(self.contract, self.clock, **changes)


def test_a_fresh_answer_spares_the_call_and_tells_its_age() -> None:
    bench = Bench()
    assert bench.reads.fresh(bench.call()) is None
    bench.reads.keep(bench.call(), GOOD)
    bench.clock.advance(60.0)
    found = bench.reads.fresh(bench.call(step_id="2.t1"))
    assert found is not None
    assert (found.parsed, found.served_by, found.age_seconds) == ({"id": 1}, ServedBy.CACHE, 60.0)
    assert (found.attempts, found.response_time_seconds) == ((), None)
    bench.clock.advance(0.1)
    assert bench.reads.fresh(bench.call()) is None
    shown = bench.metrics.exposition()
    assert 'taoloop_read_cache_total{outcome="hit",tool="look_up"} 1.0' in shown
    assert 'taoloop_read_cache_total{outcome="miss",tool="look_up"} 2.0' in shown


def test_an_old_good_answer_is_kept_longer() -> None:
    bench = Bench(Cache(last_good_seconds=3600.0))
    assert bench.reads.last_good(bench.call()) is None
    bench.reads.keep(bench.call(), GOOD)
    assert bench.reads.fresh(bench.call()) is None
    bench.clock.advance(3600.0)
    found = bench.reads.last_good(bench.call())
    assert found is not None
    assert (found.served_by, found.age_seconds) == (ServedBy.CACHE, 3600.0)
    assert 'outcome="last_good"' in bench.metrics.exposition()
    bench.clock.advance(1.0)
    assert bench.reads.last_good(bench.call()) is None


@pytest.mark.parametrize(
    ("bench", "outcome"),
    [
        (Bench(None), GOOD),
        (Bench(Cache()), GOOD),
        (Bench(base=CHANGE), GOOD),
        (Bench(), replace(GOOD, served_by=ServedBy.FALLBACK)),
        (Bench(), replace(GOOD, status=ActionStatus.PENDING)),
        (Bench(), replace(GOOD, parsed=["no object"])),
        (Bench(), replace(GOOD, parsed=ABSENT)),
        (Bench(success={"===": [{"var": "body.ok"}, True]}), GOOD),
        (Bench(), replace(GOOD, body=Body(size_bytes=10_000))),
    ],
)
def test_what_is_not_good_or_not_wanted_is_not_kept(bench: Bench, outcome: Outcome) -> None:
    bench.reads.keep(bench.call(), outcome)
    assert bench.reads.fresh(bench.call()) is None
    assert bench.reads.last_good(bench.call()) is None
    assert repr(bench.reads) == "CachedReads(ReadCache(0 answers, 0 of 4096 bytes))"


def test_success_rules_and_bodies_of_any_form_are_heeded() -> None:
    bench = Bench(success={"===": [{"var": "body.id"}, 1]})
    bench.reads.keep(bench.call(), GOOD)
    assert bench.reads.fresh(bench.call()) is not None
    other = Bench(response=True)
    other.reads.keep(other.call(), replace(GOOD, parsed=ABSENT, body=None))
    assert other.reads.fresh(other.call()) is not None


def test_tenants_and_arguments_have_their_own_answers() -> None:
    bench = Bench()
    bench.reads.keep(bench.call(), GOOD)
    assert bench.reads.fresh(bench.call(tenant="else")) is None
    assert bench.reads.fresh(bench.call(arguments={"key": "abd"})) is None


def test_evictions_are_counted() -> None:
    bench = Bench()
    for number in range(5):
        bench.reads.keep(bench.call(arguments={"key": f"key{number}"}), GOOD)
    assert "taoloop_read_cache_evictions_total 2.0" in bench.metrics.exposition()
