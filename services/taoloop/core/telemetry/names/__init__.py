"""The one registry of names: spans, attributes and metrics, each defined here and nowhere else."""

from taoloop.core.telemetry.names.metric_spec import OPERATION_SECONDS as OPERATION_SECONDS
from taoloop.core.telemetry.names.metric_spec import MetricKind as MetricKind
from taoloop.core.telemetry.names.metric_spec import MetricSpec as MetricSpec
from taoloop.core.telemetry.names.metrics import *  # noqa: F403 - the package is one registry in a few files
from taoloop.core.telemetry.names.spans import *  # noqa: F403
