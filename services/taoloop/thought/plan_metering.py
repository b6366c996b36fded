"""Counts what the check of a plan refuses because of a limit."""

from __future__ import annotations

from collections.abc import Sequence

from taoloop.core.faults import Fault, FaultCode
from taoloop.core.telemetry import Metrics, names


def count_too_large(faults: Sequence[Fault], metrics: Metrics) -> None:
    """Count a plan whose check found that it has too many steps or tokens."""
    if any(fault.code == FaultCode.PLAN_TOO_LARGE for fault in faults):
        metrics.counter(names.PLAN_TOO_LARGE).inc()
