"""The one registry of names: spans, attributes and metrics, each defined here and nowhere else."""

from taoloop.core.telemetry.names.metrics import *  # noqa: F403 - the package is one registry in two files
from taoloop.core.telemetry.names.spans import *  # noqa: F403
