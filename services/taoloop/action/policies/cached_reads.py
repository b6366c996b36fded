"""The read cache as the executor uses it: which answers are kept, and which stand in for a call."""

from __future__ import annotations

from dataclasses import replace

from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.action.policies.read_cache import MAX_BYTES, CachedAnswer, CacheKey, ReadCache
from taoloop.core import exact_json
from taoloop.core.clock import Clock
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.plan.acting import ActionStatus, ServedBy
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import Cache
from taoloop.tools.rules import RuleData, Verdict


class CachedReads:
    """Keeps the good answers of reads whose contract has a cache.

    Args:
        metrics: Counts hits, misses, last-good answers and evictions.
        clock: Tells the age.
        max_bytes: Most bytes of all answers together.
    """

    def __init__(self, metrics: Metrics, clock: Clock, max_bytes: int = MAX_BYTES) -> None:
        self._clock = clock
        self._reads = metrics.counter(names.READ_CACHE)
        evictions = metrics.counter(names.READ_CACHE_EVICTIONS)
        self._cache: ReadCache[Outcome] = ReadCache(max_bytes, on_eviction=evictions.inc)

    def fresh(self, call: CheckedCall) -> Outcome | None:
        """Return the answer that spares the call, with its age; None when there is none."""
        rules = _rules(call)
        if rules is None or rules.ttl_seconds <= 0:
            return None
        found = self._cache.find(_key(call), rules.ttl_seconds, self._clock.monotonic())
        self._reads.labels(tool=call.tool.contract.name, outcome="miss" if found is None else "hit").inc()
        return None if found is None else _aged(found)

    def last_good(self, call: CheckedCall) -> Outcome | None:
        """Return the answer that stands in for a call that failed, with its age; None when there is none."""
        rules = _rules(call)
        if rules is None:
            return None
        found = self._cache.find(_key(call), rules.last_good_seconds, self._clock.monotonic())
        if found is None:
            return None
        self._reads.labels(tool=call.tool.contract.name, outcome="last_good").inc()
        return _aged(found)

    def keep(self, call: CheckedCall, outcome: Outcome) -> None:
        """Keep an answer that the tool itself gave, if it is whole and good by its contract."""
        rules = _rules(call)
        if rules is None or max(rules.ttl_seconds, rules.last_good_seconds) <= 0:
            return
        if outcome.served_by is ServedBy.PRIMARY and _is_good(call.tool, outcome):
            size = outcome.body.size_bytes if outcome.body is not None else 0
            self._cache.keep(_key(call), outcome, size, self._clock.monotonic())

    def __repr__(self) -> str:
        return f"CachedReads({self._cache!r})"


def _rules(call: CheckedCall) -> Cache | None:
    """Return the rules of the cache; None for none, and for whatever writes."""
    return None if call.writes else call.tool.contract.cache


def _key(call: CheckedCall) -> CacheKey:
    return CacheKey(call.context.tenant, call.tool.contract.digest, call.arguments_hash)


def _aged(found: CachedAnswer[Outcome]) -> Outcome:
    """Return a copy without what the first call went through."""
    return replace(
        found.answer,
        served_by=ServedBy.CACHE,
        age_seconds=found.age_seconds,
        attempts=(),
        response_time_seconds=None,
        breaker=None,
    )


def _is_good(tool: CompiledTool, outcome: Outcome) -> bool:
    """Tell whether an answer may be given again: bad news must not outlive the call that brought it."""
    if outcome.status is not ActionStatus.SUCCEEDED:
        return False
    body = None if isinstance(outcome.parsed, exact_json.Absent) else outcome.parsed
    if tool.success is not None:
        data = RuleData({"status_code": outcome.status_code, "body": body})
        if tool.success.verdict(data).verdict is not Verdict.PASS:
            return False
    return tool.contract.response is True or not tool.response.violations(body)
