"""What is told about the runs of a host: a span of each, and counts of how they end."""

from __future__ import annotations

from contextlib import AbstractContextManager

from opentelemetry.context import Context
from opentelemetry.trace import Span

from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.names import Attribute, Operation
from taoloop.core.telemetry.tracing import link_to
from taoloop.loop.audit import log_run
from taoloop.loop.state import RunState


class RunMeasures:
    """Tells how the runs of a host go.

    Args:
        telemetry: Where it is told.
    """

    def __init__(self, telemetry: Telemetry) -> None:
        self._tracing = telemetry.tracing
        self._metrics = telemetry.metrics

    def open_runs(self, number: int) -> None:
        """Tell how many runs are driven."""
        self._metrics.gauge(names.OPEN_RUNS).set(number)

    def span(self, state: RunState, *, is_resumed: bool) -> AbstractContextManager[Span]:
        """Open a run's span: in its caller's trace, or in a new one that links to the first where the run goes on."""
        attributes = {
            Attribute.OPERATION_NAME: Operation.INVOKE_AGENT,
            Attribute.AGENT_NAME: names.AGENT_NAME,
            Attribute.RUN_ID: state.run_id,
            Attribute.CONVERSATION_ID: state.task.session_id or None,
        }
        if not is_resumed:
            return self._tracing.span(names.RUN_SPAN, attributes)
        links = link_to({"traceparent": state.traceparent})
        return self._tracing.span(names.RUN_SPAN, attributes, parent=Context(), links=links)

    def count(self, state: RunState, known_handovers: int) -> None:
        """Count what a run came to since it was last opened, with what it handed over meanwhile."""
        metrics = self._metrics
        metrics.counter(names.HANDOVERS).labels(event="opened").inc(len(state.waits.handovers) - known_handovers)
        if state.finished is None:
            return
        log_run(state)
        outcome = str(state.finished.outcome)
        metrics.counter(names.RUNS).labels(outcome=outcome).inc()
        metrics.histogram(names.RUN_DURATION).labels(outcome=outcome).observe(state.active_seconds)
        for limit in state.limits_reached:
            metrics.counter(names.LIMIT_REACHED).labels(limit=limit).inc()
