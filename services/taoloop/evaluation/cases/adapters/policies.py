"""The policies of a call: a breaker over a trace of calls, and the pauses between attempts."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from taoloop.action import faulting
from taoloop.action.policies.breaker import Breaker, Permit
from taoloop.action.policies.retry import backoff_seconds
from taoloop.action.ports import Reply, TransportFault
from taoloop.core.faults import FaultCode
from taoloop.evaluation.cases.adapters.refusing import listed, need
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.tools.contract import ConsecutiveBreaker, Retry

_CALL_SECONDS: Final = 0.1
_NO_ANSWER: Final = {
    "timeout": FaultCode.TOOL_TIMEOUT,
    "connect_error": FaultCode.TOOL_UNREACHABLE,
    "connection_error": FaultCode.TOOL_UNREACHABLE,
    "connection_refused": FaultCode.TOOL_UNREACHABLE,
    "reset": FaultCode.RESPONSE_INCOMPLETE,
    "connection_reset": FaultCode.RESPONSE_INCOMPLETE,
}
_CANCELLED: Final = frozenset({"cancelled", "cancel"})
_KNOWN_EVENT: Final = frozenset({"t", "target", "call", "call_attempts", "concurrent_calls", "probe_result"})


class _Trace:
    """Breakers by target, driven by the events of one case."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._rules = ConsecutiveBreaker(
            failures=config.get("failure_threshold", 5),
            open_for_seconds=float(config.get("open_s", 30)),
            half_open_calls=config.get("half_open_max", 1),
        )
        self.breakers: dict[str, Breaker] = {}
        self.said: Said = {"states_after": []}

    def feed(self, event: Mapping[str, Any]) -> None:
        """Let the calls of one event happen, and note who passed and where the breaker stands afterwards."""
        unknown = event.keys() - _KNOWN_EVENT
        if unknown:
            raise Unsupported(f"an event has {', '.join(sorted(unknown))}")
        now = float(need(event, "t", "an event"))
        breaker = self.breakers.setdefault(event.get("target", ""), Breaker(self._rules))
        admitted, refused = _called(breaker, event, now)
        self.said["states_after"].append(breaker.state(now).value)
        for word, count in (("admitted", admitted), ("refused", refused)):
            key = f"{word}_at_{event['t']}"
            self.said[key] = self.said.get(key, 0) + count


def _called(breaker: Breaker, event: Mapping[str, Any], now: float) -> tuple[int, int]:
    """Return how many calls of an event passed and how many did not."""
    if "concurrent_calls" in event:
        admissions = [breaker.admit(now) for _ in range(event["concurrent_calls"])]
        permits = [admission for admission in admissions if isinstance(admission, Permit)]
        for permit in permits:
            _report(permit, need(event, "probe_result", "an event"), now)
        return len(permits), len(admissions) - len(permits)
    results = event["call_attempts"] if "call_attempts" in event else [need(event, "call", "an event")]
    admitted = 0
    for result in listed(results, "call_attempts"):
        admission = breaker.admit(now)
        if isinstance(admission, Permit):
            admitted += 1
            _report(admission, result, now)
    return admitted, len(results) - admitted


def _report(permit: Permit, result: str, now: float) -> None:
    """Report an attempt that ended with a status code, without an answer, or by its caller's cancelling."""
    has_failed = None if str(result) in _CANCELLED else faulting.has_failed(_got(str(result)))
    if has_failed is None:
        permit.released()
    elif has_failed:
        permit.failed(now, _CALL_SECONDS)
    else:
        permit.succeeded(now, _CALL_SECONDS)


def _got(result: str) -> Reply | TransportFault:
    if result.isdigit():
        return Reply(status_code=int(result))
    if result not in _NO_ANSWER:
        raise Unsupported(f"no attempt ends with {result!r}")
    return TransportFault(_NO_ANSWER[result], "No answer came.", may_have_left=True)


def _breaker_trace(case_input: CaseInput) -> Said:
    trace = _Trace(case_input["config"])
    events = listed(case_input["events"], "events")
    for event in events:
        trace.feed(event)
    last = float(events[-1]["t"]) if events else 0.0
    return {**trace.said, "final": {target: breaker.state(last).value for target, breaker in trace.breakers.items()}}


def _backoff(case_input: CaseInput) -> Said:
    attempts = case_input.get("attempts", 1)
    rules = Retry(
        attempts=attempts,
        backoff_seconds=float(case_input["base_s"]),
        max_backoff_seconds=float(case_input.get("cap_s", 5.0)),
    )
    clients = [Random(number) for number in range(case_input.get("clients", 1))]
    pauses = [[backoff_seconds(rules, attempt, client) for attempt in range(1, attempts)] for client in clients]
    return {
        "distinct_first_delays": len({each[0] for each in pauses if each}),
        "delay_s": max((pause for each in pauses for pause in each), default=0.0),
    }


BREAKER_TRACE = Adapter(feed=_breaker_trace, required=("config", "events"))
BACKOFF = Adapter(feed=_backoff, required=("base_s",), optional=("cap_s", "attempts", "clients"))
