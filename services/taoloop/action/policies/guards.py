"""The policies of one tool put together, with the counters that move when one of them bites."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from taoloop.action.policies.breaker import BreakerEvent, BreakerHalfOpened, BreakerOpened, Permit, Refusal
from taoloop.action.policies.breaker_registry import BreakerKey, BreakerRegistry
from taoloop.action.policies.limiter import Limiter, ShedReason
from taoloop.action.policies.retry import Pause, RetryPolicy, StopReason
from taoloop.core.clock import Clock
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics, counting
from taoloop.plan.acting import Breaker as BreakerRecord
from taoloop.plan.acting import BreakerState
from taoloop.tools.contract import ToolContract

_log = EventLog(__name__)

_CLOSED: Final = BreakerRecord(state=BreakerState.CLOSED)
_GAUGE: Final = {BreakerState.CLOSED: 0, BreakerState.HALF_OPEN: 1, BreakerState.OPEN: 2}


class ToolGuards:
    """Retry policy, breaker and limiter of one tool.

    Args:
        contract: Whose policies.
        key: What its breaker is for.
        breakers: Where its breaker lives.
        metrics: Where it counts.
        clock: Measures waits and tells when a breaker opens up again.

    Attributes:
        contract: As given.
        retry: Decides about repeats.
        limiter: Gives slots; None when the contract sets no limit.
        answered: Counts an attempt that was answered.
    """

    def __init__(
        self, contract: ToolContract, key: BreakerKey, breakers: BreakerRegistry, metrics: Metrics, clock: Clock
    ) -> None:
        self.contract = contract
        self.retry = RetryPolicy(contract, clock.monotonic())
        self.limiter = _limiter(contract, metrics, clock)
        self._key = key
        self._breakers = breakers
        self._metrics = metrics
        self._clock = clock
        # Looked up once: a label lookup for each attempt would cost as much as the attempt's other bookkeeping.
        answered = metrics.counter(names.ACTION_ATTEMPTS).labels(tool=contract.name, outcome="answered")
        self.answered = counting(answered)
        if contract.breaker is not None:
            self._show(BreakerState.CLOSED)

    def admit(self, now: float) -> Permit | Refusal | None:
        """Ask the breaker for leave; None when the tool has no breaker. A refusal is counted."""
        if self.contract.breaker is None:
            return None
        admission = self._breakers.get(self._key, self.contract.breaker, now).admit(now)
        if isinstance(admission, Refusal):
            self._metrics.counter(names.BREAKER_REFUSED).labels(tool=self.contract.name).inc()
        elif admission.event is not None:
            self._changed(admission.event)
        return admission

    def ended(self, permit: Permit | None, now: float, seconds: float, *, has_failed: bool | None) -> None:
        """Tell the breaker how an attempt ended; None as verdict says nothing."""
        if permit is None:
            return
        if has_failed is None:
            permit.released()
            return
        event = permit.reported(now, seconds, has_failed=has_failed)
        if event is not None:
            self._changed(event)

    def breaker(self, now: float, permit: Permit | None) -> BreakerRecord | None:
        """Return where the breaker stands, for the envelope; None when the tool has none.

        Args:
            now: Monotonic seconds.
            permit: Of an attempt that was made a moment ago, which knows its breaker; None for none.
        """
        if permit is not None and permit.breaker.is_closed:
            return _CLOSED
        rules = self.contract.breaker
        if rules is None:
            return None
        breaker = self._breakers.get(self._key, rules, now)
        state = breaker.state(now)
        if state is BreakerState.CLOSED:
            return _CLOSED
        retry_at = breaker.retry_at(now)
        moment = None if retry_at is None else self._clock.now() + timedelta(seconds=retry_at - now)
        return BreakerRecord(state=state, retry_at=moment)

    def attempted(self, outcome: str) -> None:
        """Count an attempt that was not answered by its fault's code."""
        self._metrics.counter(names.ACTION_ATTEMPTS).labels(tool=self.contract.name, outcome=outcome).inc()

    def masked(self) -> None:
        """Count an answer that held a credential of ours."""
        self._metrics.counter(names.SECRETS_MASKED).labels(tool=self.contract.name).inc()
        _log.warning("secret_masked", tool=self.contract.name)

    def repeated(self, pause: Pause) -> None:
        """Count a repeat."""
        self._metrics.counter(names.ACTION_RETRIES).labels(tool=self.contract.name, reason=pause.reason).inc()

    def stopped(self, reason: StopReason) -> None:
        """Count a failed call that has no further attempt."""
        self._metrics.counter(names.RETRY_STOPPED).labels(tool=self.contract.name, reason=reason).inc()
        if reason is StopReason.BUDGET:
            self._metrics.counter(names.RETRY_BUDGET_EXHAUSTED).labels(tool=self.contract.name).inc()

    def shed(self, reason: ShedReason) -> None:
        """Count an attempt that found no slot."""
        self._metrics.counter(names.LIMITER_SHED).labels(tool=self.contract.name, limit=reason).inc()

    def switched_off(self) -> None:
        """Count an attempt that an operator's switch refused."""
        self._metrics.counter(names.SWITCHED_OFF_REFUSED).labels(tool=self.contract.name).inc()

    def _changed(self, event: BreakerEvent) -> None:
        tool = self.contract.name
        if isinstance(event, BreakerOpened):
            state = BreakerState.OPEN
            seconds = event.retry_at - self._clock.monotonic()
            _log.warning("breaker_opened", tool=tool, host=self._key.host, port=self._key.port, seconds=seconds)
        elif isinstance(event, BreakerHalfOpened):
            state = BreakerState.HALF_OPEN
            _log.info("breaker_half_opened", tool=tool, host=self._key.host, port=self._key.port)
        else:
            state = BreakerState.CLOSED
            _log.info("breaker_closed", tool=tool, host=self._key.host, port=self._key.port)
        self._metrics.counter(names.BREAKER_TRANSITIONS).labels(tool=tool, state=state).inc()
        self._show(state)

    def _show(self, state: BreakerState) -> None:
        self._metrics.gauge(names.BREAKER_STATE).labels(tool=self.contract.name).set(_GAUGE[state])

    def __repr__(self) -> str:
        return f"ToolGuards({self.contract.name}, {self.retry!r}, {self.limiter!r})"


class Guards:
    """The guards of every tool, each made at its tool's first call.

    Args:
        bases: Name to base URL; where the tools are.
        metrics: Where they count.
        clock: Measures.

    Attributes:
        breakers: The breakers, for what is published.
    """

    def __init__(self, bases: Mapping[str, str], metrics: Metrics, clock: Clock) -> None:
        self.breakers = BreakerRegistry()
        self._bases = bases
        self._metrics = metrics
        self._clock = clock
        self._tools: dict[str, ToolGuards] = {}

    def of(self, contract: ToolContract) -> ToolGuards:
        """Return the guards of a tool; another contract under the name gets new ones."""
        guards = self._tools.get(contract.name)
        if guards is None or guards.contract is not contract:
            key = BreakerKey.of(contract, self._bases)
            guards = ToolGuards(contract, key, self.breakers, self._metrics, self._clock)
            self._tools[contract.name] = guards
        return guards

    def __repr__(self) -> str:
        return f"Guards({list(self._tools.values())!r}, {self.breakers!r})"


def _limiter(contract: ToolContract, metrics: Metrics, clock: Clock) -> Limiter | None:
    rules = contract.limiter
    if rules is None:
        return None
    limiter = Limiter(
        in_flight=rules.in_flight, queue=rules.queue, max_wait_seconds=rules.max_wait_seconds, clock=clock
    )
    # Read when it is scraped, so that a call costs nothing for it.
    gauge = metrics.gauge(names.LIMITER_IN_FLIGHT).labels(tool=contract.name)
    gauge.set_function(lambda: limiter.in_flight)
    return limiter
