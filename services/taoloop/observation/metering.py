"""The observer as the service runs it: in a span, counted by verdict, with each refusal by a limit counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from opentelemetry.trace import Span

from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.metrics import counting
from taoloop.core.telemetry.names import (
    EXPOSED_CUT,
    OBSERVATIONS,
    RESPONSE_REFUSED,
    SOFT_LABELS,
    Attribute,
    observe_span,
)
from taoloop.observation.drift.notebook import DriftNotebook
from taoloop.observation.observer import Observer
from taoloop.observation.ports import CatalogueSource
from taoloop.observation.stages.model import Stage
from taoloop.plan.observing import ObservationResult, ObserveRequest

UNKNOWN_TOOL_LABEL = "unknown"
"""Stands for any name that the catalogue does not have, so that callers cannot make new labels."""


class MeteredObserver:
    """Judges like the observer inside it, and tells of it.

    Args:
        observer: Judges.
        catalogues: Says which names are tools; the observer's own.
        telemetry: Where it is told.
        notebook: Where drift is noted; None notes it nowhere.
    """

    def __init__(
        self,
        observer: Observer,
        catalogues: CatalogueSource,
        telemetry: Telemetry,
        notebook: DriftNotebook | None = None,
    ) -> None:
        self._observer = observer
        self._catalogues = catalogues
        self._tracing = telemetry.tracing
        self._observations = telemetry.metrics.counter(OBSERVATIONS)
        self._refused = telemetry.metrics.counter(RESPONSE_REFUSED)
        self._cut = telemetry.metrics.counter(EXPOSED_CUT)
        self._soft_labels = telemetry.metrics.counter(SOFT_LABELS)
        self._notebook = notebook
        self._counts: dict[tuple[str, bool], Callable[[], None]] = {}

    def observe(self, request: ObserveRequest) -> ObservationResult:
        """Return the verdict; see `Observer.observe`, also for what it raises."""
        name = "" if request.result is None else request.result.tool
        if self._tracing.keeps_nothing():
            result = self._observer.observe(request)
        else:
            result = self._traced(request, self._label(name))
        count = self._counts.get((name, result.valid))
        if count is None:
            count = self._counter(self._label(name), is_valid=result.valid)
        count()
        if result.failures or result.fault is not None or result.drift or result.exposed_is_cut:
            self._tell(request, result, self._label(name))
        return result

    def _traced(self, request: ObserveRequest, tool: str) -> ObservationResult:
        with self._tracing.span(observe_span(tool), partial(_identity, request, tool)) as span:
            result = self._observer.observe(request)
            _describe(span, result)
            return result

    def _counter(self, tool: str, *, is_valid: bool) -> Callable[[], None]:
        """Return what counts a verdict, by the label of its tool; to look it up costs more than to count."""
        count = self._counts.get((tool, is_valid))
        if count is None:
            count = counting(self._observations.labels(tool, "true" if is_valid else "false"))
            self._counts[tool, is_valid] = count
        return count

    def _tell(self, request: ObserveRequest, result: ObservationResult, tool: str) -> None:
        """Count and note what most verdicts do not have."""
        if result.fault is not None and result.fault.code == FaultCode.RESPONSE_TOO_LARGE:
            self._refused.labels(tool, "observation_max_body_bytes").inc()
        if result.exposed_is_cut:
            self._cut.labels(tool).inc()
        if result.drift and self._notebook is not None and request.result is not None:
            self._notebook.note(self._label(request.result.served_by_tool or request.result.tool), result.drift)
        for failure in result.failures:
            if failure.stage == Stage.SOFT:
                self._soft_labels.labels(tool, failure.rule_id).inc()

    def _label(self, tool: str) -> str:
        return tool if tool in self._catalogues.current() else UNKNOWN_TOOL_LABEL

    def __repr__(self) -> str:
        return f"MeteredObserver({self._observer!r})"


def _identity(request: ObserveRequest, tool: str) -> dict[Attribute, str]:
    identity = {Attribute.TOOL_NAME: tool}
    if request.result is not None:
        identity |= {
            Attribute.RUN_ID: request.result.run_id,
            Attribute.THOUGHT_ID: request.result.thought_id,
            Attribute.STEP_ID: request.result.step_id,
            Attribute.ACTION_STATUS: request.result.status.value,
        }
    return identity


def _describe(span: Span, result: ObservationResult) -> None:
    """Write the verdict into the span; a bad result is a verdict, so the span itself did not fail."""
    if not span.is_recording():
        return
    span.set_attribute(Attribute.OBSERVATION_VALID, result.valid)
    span.set_attribute(Attribute.OBSERVATION_CONFIDENCE, result.confidence)
    if result.fault is not None:
        span.set_attribute(Attribute.FAULT_CODE, result.fault.code)
        span.set_attribute(Attribute.FAULT_STAGE, result.fault.stage)
