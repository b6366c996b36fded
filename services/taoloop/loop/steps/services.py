"""What the steps of a run need of the world."""

from __future__ import annotations

from dataclasses import dataclass, field

from taoloop.core.clock import Clock
from taoloop.core.errors import TaoError
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.telemetry import Metrics
from taoloop.loop.patience import Patience
from taoloop.loop.ports import ActionPort, ObservationPort


@dataclass(frozen=True, slots=True, kw_only=True)
class StepServices:
    """What a step needs of the world."""

    action: ActionPort
    observation: ObservationPort
    clock: Clock
    metrics: Metrics = field(default_factory=Metrics)
    """Counts calls that were not made; left out, in vain."""

    @property
    def patience(self) -> Patience:
        """Return how a service that is away or full is borne with."""
        return Patience(clock=self.clock)


def service_fault(service: str, error: TaoError) -> Fault:
    """Return the fault of a step that a service, `action` or `observation`, did not serve."""
    known = {"DEADLINE_EXCEEDED": FaultCode.DEADLINE_EXCEEDED, "CATALOGUE_MISMATCH": FaultCode.CATALOGUE_MISMATCH}
    return Fault(
        code=known.get(error.reason) or known.get(error.code, FaultCode.SERVICE_UNAVAILABLE),
        stage=FaultStage.ACTION if service == "action" else FaultStage.OBSERVATION,
        message=f"The {service} service did not serve the call: {error.reason}: {error.message}",
        retriable=error.code == "UNAVAILABLE" or error.retry_after_seconds is not None,
        retry_after_seconds=error.retry_after_seconds,
    )
