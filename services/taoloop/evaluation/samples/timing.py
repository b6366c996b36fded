"""What each check of one result costs, by repeating it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.exact_json import Absent, JsonEncodeError, JsonValue
from taoloop.evaluation.samples.explaining import SUCCESS_RULE
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.normalising import compile_normaliser
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.rules import RuleData

ROUNDS: Final = 5
REPEATS: Final = 100
"""A check is repeated so often in a row; the quickest round counts, since others were disturbed."""

WHOLE: Final = "verdict"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTime:
    """What one check costs.

    Attributes:
        check: `verdict` for the whole, `schema`, `normalise`, or the id of a rule.
        seconds: For one result.
    """

    check: str
    seconds: float


def check_times(
    tool: CompiledTool, request: ObserveRequest, verdict: ObservationResult, clock: Clock
) -> tuple[CheckTime, ...]:
    """Return what the whole verdict costs, and each check by itself, in the order in which they run.

    A check by itself takes the careful way. A sound result is judged at once, by all checks together, so that the
    whole may cost less than the sum; it has parts besides that are not listed, such as what prompts may see.

    Args:
        tool: By whose contract it was judged.
        request: What was judged.
        verdict: What came of it; without data there are no rules to time.
        clock: Measures.
    """
    observer = Observer(FixedCatalogue(Catalogue([tool])), ObservationPolicy(), {})
    checks = [(WHOLE, lambda: observer.observe(request)), *_checks(tool, request, verdict)]
    return tuple(CheckTime(check=name, seconds=_quickest(check, clock)) for name, check in checks)


def _checks(
    tool: CompiledTool, request: ObserveRequest, verdict: ObservationResult
) -> Iterator[tuple[str, Callable[[], object]]]:
    body = None if request.result is None else request.result.parsed
    if request.result is None or isinstance(body, Absent):
        return
    scope: dict[str, JsonValue] = {
        "status_code": request.result.status_code,
        "response_time_seconds": request.result.response_time_seconds,
        "body": body,
        "arguments": None if isinstance(request.arguments, Absent) else request.arguments,
    }
    rules = [] if tool.success is None else [(SUCCESS_RULE, tool.success)]
    yield "schema", lambda: tool.response.is_valid(body)
    normaliser = compile_normaliser(tool.contract.observe)
    if normaliser is not None:
        yield "normalise", lambda: normaliser.apply(body)
    if not isinstance(verdict.data, Absent):
        scope |= {"data": verdict.data, "expect": None if isinstance(request.expect, Absent) else request.expect}
        rules += [(rule.id, compiled) for rule, compiled in tool.rules]
    try:
        data = RuleData(scope)
    except JsonEncodeError:  # nests deeper than rules may read; the verdict says so
        return
    for name, rule in rules:
        yield name, partial(rule.verdict, data)


def _quickest(check: Callable[[], object], clock: Clock) -> float:
    check()  # what is compiled or remembered at the first time is no cost of the next
    rounds = []
    for _ in range(ROUNDS):
        started = clock.monotonic()
        for _ in range(REPEATS):
            check()
        rounds.append((clock.monotonic() - started) / REPEATS)
    return min(rounds)
