"""Metrics and traces, and the one registry of their names."""

from taoloop.core.telemetry.metrics import Metrics
from taoloop.core.telemetry.process import Telemetry
from taoloop.core.telemetry.tracing import Tracing

__all__ = ["Metrics", "Telemetry", "Tracing"]
