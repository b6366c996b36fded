"""What a run does when nobody decided about an approval in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.ids import new_id
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.loop.people.resting import RestingRuns
from taoloop.loop.state import RunState
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running import (
    ApprovalOutcome,
    ApprovalRequired,
    EventBody,
    HandoverRequired,
    RunFinished,
    RunResumed,
    StepSkipped,
)
from taoloop.plan.task import Outcome


class OnExpire(StrEnum):
    """What becomes of a step about which nobody decided in time."""

    FAIL = "fail"
    """The step fails, and what corrects failures goes on from there."""
    HAND_OVER = "hand_over"
    """A person takes the step over."""
    ASK_AGAIN = "ask_again"
    """The run thinks again, and asks again if it still wants the call; each time is a thought of the run."""


@dataclass(frozen=True, slots=True)
class Lapses:
    """Writes what approvals came to, those of which nobody decided in time as the operator wants it.

    Attributes:
        runs: The runs that wait.
        on_expire: What becomes of a step about which nobody decided.
        clock: Says when.
        metrics: Counts lapses and handovers.
    """

    runs: RestingRuns
    on_expire: OnExpire
    clock: Clock
    metrics: Metrics

    async def settle(self, state: RunState, outcomes: Sequence[ApprovalOutcome], call: CallContext) -> int:
        """Tell a run that rests what became of approvals that it waits for; return the number of the first event.

        Args:
            state: The run.
            outcomes: What became of them, at least one.
            call: Tenant and deadline.

        Raises:
            RunConflict: Somebody else wrote to the run meanwhile; nothing was written.
            BackendUnavailable: The log does not answer in time.
        """
        is_asked_again = self.on_expire is OnExpire.ASK_AGAIN
        lapsed = [each for each in outcomes if each.decision is ApprovalDecision.EXPIRED]
        told: list[EventBody] = [
            RunResumed(reason="approval", approval=_told(each, is_asked_again=is_asked_again)) for each in outcomes
        ]
        if lapsed and self.on_expire is OnExpire.HAND_OVER:
            sequence = await self._hand_over(state, told, lapsed, goes_on=len(lapsed) < len(outcomes), call=call)
        else:
            sequence = await self.runs.take_on(state, call, *told)
        if lapsed:
            self.metrics.counter(names.APPROVALS_LAPSED).labels(reaction=self.on_expire.value).inc(len(lapsed))
        return sequence

    async def _hand_over(
        self,
        state: RunState,
        told: list[EventBody],
        lapsed: Sequence[ApprovalOutcome],
        *,
        goes_on: bool,
        call: CallContext,
    ) -> int:
        asked = {each.approval_id: each for each in state.open_approvals}
        handovers = [self._handover(asked[each.approval_id]) for each in lapsed]
        for required in handovers:
            tool = next(each.tool for each in asked.values() if each.step_id == required.step_id)
            told += [StepSkipped(step_id=required.step_id, tool=tool, fault=required.fault), required]
        if goes_on:
            return await self.runs.take_on(state, call, *told)
        rest = RunFinished(
            outcome=Outcome.NEEDS_HUMAN,
            fault=handovers[0].fault,
            usage=state.usage,
            duration_seconds=state.active_seconds,
        )
        return await self.runs.settle(state, call, *told, rest)

    def _handover(self, approval: ApprovalRequired) -> HandoverRequired:
        reason = f"Nobody decided in time whether {approval.tool} may be called."
        fault = Fault(
            code=FaultCode.APPROVAL_EXPIRED,
            stage=FaultStage.LOOP,
            message=f"Not called: approval {approval.approval_id} lapsed undecided.",
        )
        return HandoverRequired(handover_id=new_id(self.clock), step_id=approval.step_id, reason=reason, fault=fault)


def _told(outcome: ApprovalOutcome, *, is_asked_again: bool) -> ApprovalOutcome:
    if outcome.decision is not ApprovalDecision.EXPIRED or not is_asked_again:
        return outcome
    return ApprovalOutcome(approval_id=outcome.approval_id, decision=outcome.decision, is_asked_again=True)
