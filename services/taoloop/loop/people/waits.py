"""What a run has asked of people and what they said: the part of its state that they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.running import ApprovalOutcome, HandoverDecision, HandoverOutcome, HandoverRequired, RunResumed


@dataclass(slots=True)
class HandoverRecord:
    """A handover, and what a person made of it."""

    required: HandoverRequired
    opened_at: datetime
    outcome: HandoverOutcome | None = None

    @property
    def is_open(self) -> bool:
        """Whether a person still has to decide."""
        return self.outcome is None


@dataclass(slots=True)
class Waits:
    """What people were asked beside values and leave, and where in the log they spoke."""

    handovers: dict[str, HandoverRecord] = field(default_factory=dict)
    """Every handover of the run by its id, in the order in which they came up."""
    said_at: dict[str, int] = field(default_factory=dict)
    """Number of the event that holds what was said, by the id of the question, the approval or the handover."""
    asked_at: dict[str, datetime] = field(default_factory=dict)
    """When leave was asked for, by approval."""
    warned: set[str] = field(default_factory=set)
    """The approvals of which it was told that they lapse soon."""
    notes: tuple[str, ...] = ()
    """What persons said who let the run go on."""

    @property
    def open_handovers(self) -> tuple[HandoverRequired, ...]:
        """Return the handovers that wait for a person."""
        return tuple(record.required for record in self.handovers.values() if record.is_open)

    def hand_over(self, required: HandoverRequired, at: datetime) -> None:
        """Note that a person has to take something over."""
        self.handovers.setdefault(required.handover_id, HandoverRecord(required, at))

    def hear(self, resumed: RunResumed, sequence: int) -> None:
        """Note what a person said, and where in the log it stands."""
        if resumed.input is not None:
            self.said_at[resumed.input.input_id] = sequence
        if resumed.approval is not None:
            self.said_at[resumed.approval.approval_id] = sequence
        if resumed.handover is not None:
            self._decide(resumed.handover)
            self.said_at[resumed.handover.handover_id] = sequence

    def _decide(self, outcome: HandoverOutcome) -> None:
        if outcome.handover_id in self.handovers:
            self.handovers[outcome.handover_id].outcome = outcome
        if outcome.decision is HandoverDecision.RESUMED and outcome.comment:
            self.notes = (*self.notes, outcome.comment)


def asked_again(outcome: ApprovalOutcome) -> Fault:
    """Return the fault of a step about which nobody decided in time, and which is planned anew."""
    message = f"Nobody decided about approval {outcome.approval_id} in time; the call is asked about anew."
    return Fault(code=FaultCode.APPROVAL_EXPIRED, stage=FaultStage.LOOP, message=message)
