"""Runs cases one after the other and judges each; whatever a case does, the next one runs."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.clock import Clock
from taoloop.evaluation.cases.expecting import mismatches
from taoloop.evaluation.cases.model import Adapter, Case, CaseResult, Said, Unsupported, Verdict

CASE_TIMEOUT_SECONDS: Final = 60.0
"""A case that takes longer has failed: nothing that it asks for may hang."""


async def run_case(case: Case, adapters: Mapping[str, Adapter], clock: Clock) -> CaseResult:
    """Run one case and judge what the product said."""
    adapter = adapters.get(case.kind)
    if adapter is None:
        return _unsupported(case, f"the product has no function yet for the kind {case.kind}")
    unknown = adapter.unknown(case.input)
    if unknown:
        return _unsupported(case, f"nothing reads {', '.join(unknown)} of an input of the kind {case.kind}")
    started = clock.monotonic()
    try:
        async with asyncio.timeout(CASE_TIMEOUT_SECONDS):
            said = await _said(adapter, case)
    except Unsupported as unsupported:
        return _unsupported(case, unsupported.reason)
    except Exception as exc:  # noqa: BLE001 - what the product raises instead of saying it is a verdict on the case
        return _failed(case, f"{type(exc).__name__} was raised: {exc}", clock.monotonic() - started)
    seconds = clock.monotonic() - started
    found = [*mismatches(case.expect, said), *_lateness(case, seconds)]
    if found:
        return _failed(case, "; ".join(found), seconds)
    return CaseResult(case=case, verdict=Verdict.PASS, seconds=seconds)


async def run_cases(cases: Iterable[Case], adapters: Mapping[str, Adapter], clock: Clock) -> tuple[CaseResult, ...]:
    """Run cases in their order."""
    return tuple([await run_case(case, adapters, clock) for case in cases])


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cases came to which verdict.

    Attributes:
        by_component: Counts of verdicts by component, in the order of the file.
    """

    by_component: Mapping[str, Counter[Verdict]]

    @classmethod
    def of(cls, results: Sequence[CaseResult]) -> Counts:
        """Count results."""
        counts: dict[str, Counter[Verdict]] = {}
        for result in results:
            counts.setdefault(result.case.component, Counter())[result.verdict] += 1
        return cls(counts)

    @property
    def total(self) -> Counter[Verdict]:
        """The counts of all components together."""
        return sum(self.by_component.values(), start=Counter())


async def _said(adapter: Adapter, case: Case) -> Said:
    said = adapter.feed(case.input)
    return await said if inspect.isawaitable(said) else said


def _lateness(case: Case, seconds: float) -> tuple[str, ...]:
    allowed = case.input.get("max_s")
    if allowed is None or seconds <= float(allowed):
        return ()
    return (f"took {seconds:.3f} s, {allowed} s are allowed",)


def _unsupported(case: Case, reason: str) -> CaseResult:
    return CaseResult(case=case, verdict=Verdict.UNSUPPORTED, reason=_one_line(reason))


def _failed(case: Case, reason: str, seconds: float) -> CaseResult:
    return CaseResult(case=case, verdict=Verdict.FAIL, reason=_one_line(reason), seconds=seconds)


def _one_line(reason: str) -> str:
    return " ".join(reason.split())
