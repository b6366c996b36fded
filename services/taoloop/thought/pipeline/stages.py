"""The stages of a thought as they are told: a span and a duration each, under an outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from opentelemetry.trace import Span

from taoloop.core.clock import Clock
from taoloop.core.faults import Fault
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.tracing import Attributes
from taoloop.plan.check import check_plan
from taoloop.plan.check_context import CheckContext, PlanVerdict
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.pipeline.stalling import Outcome, find_stall, stall_of
from taoloop.thought.plan_metering import count_too_large

OK: Final = "ok"
REFUSED: Final = "refused"
"""The stage did its work, and what it was given does not pass."""


class Stage(StrEnum):
    """Parts of a thought; the labels of their metric."""

    GRAPH = "graph"
    """The graph planner looks at the request."""
    ROUTE = "route"
    """Who plans."""
    SELECT = "select"
    """Which tools a model is offered, and what it is told."""
    PLAN = "plan"
    """A model is asked."""
    EXPAND = "expand"
    """Its reply is read, and made a plan of."""
    CHECK = "check"
    """A plan is type-checked."""
    REPAIR = "repair"
    """A model is told the faults of its plan and asked again."""


class StageRun:
    """One stage under way.

    Attributes:
        span: Its span.
        outcome: What it came to, a word of a fixed set.
    """

    __slots__ = ("outcome", "span")

    def __init__(self, span: Span) -> None:
        self.span = span
        self.outcome = OK


class Stages:
    """Opens stages.

    Args:
        telemetry: Where they are told.
        clock: Measures them.
    """

    def __init__(self, telemetry: Telemetry, clock: Clock) -> None:
        self._tracing = telemetry.tracing
        self.metrics = telemetry.metrics
        self._clock = clock
        self._duration = telemetry.metrics.histogram(names.THOUGHT_STAGE_DURATION)

    @contextmanager
    def of(self, stage: Stage, attributes: Attributes | None = None) -> Iterator[StageRun]:
        """Run the block as a stage; what leaves it as an exception is `error`, or `abandoned` when it was cancelled."""
        started = self._clock.monotonic()
        with self._tracing.span(
            names.stage_span(stage), {names.Attribute.THOUGHT_STAGE: stage, **(attributes or {})}
        ) as span:
            run = StageRun(span)
            try:
                yield run
            except asyncio.CancelledError:
                run.outcome = "abandoned"
                raise
            except BaseException:
                run.outcome = "error"
                raise
            finally:
                span.set_attribute(names.Attribute.THOUGHT_STAGE_OUTCOME, run.outcome)
                self._duration.labels(stage.value, run.outcome).observe(self._clock.monotonic() - started)

    def check(self, plan: ThoughtPlan, context: CheckContext) -> PlanVerdict:
        """Check a plan as a stage of its own; a plan that is too large is counted."""
        with self.of(Stage.CHECK) as run:
            verdict = check_plan(plan, context)
            run.outcome = OK if verdict.is_valid else REFUSED
            if not verdict.is_valid:
                run.span.set_attribute(names.Attribute.FAULT_CODE, verdict.faults[0].code)
        count_too_large(verdict.faults, self.metrics)
        return verdict

    def stall(self, outcome: Outcome, request: ThinkRequest) -> Fault | None:
        """Return why a thought does not move its run on, counted by its kind; None when it does."""
        stall = stall_of(outcome, request)
        if stall is not None:
            self.metrics.counter(names.THOUGHT_STALLS).labels(stall.value).inc()
        return find_stall(outcome, request)
