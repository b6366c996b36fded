"""A person's decision about a step: checked against the run, told to the executor, withdrawn with the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from taoloop.core.calls import CallContext
from taoloop.core.errors import FieldViolation, InvalidRequest, NotWaiting, TaoError
from taoloop.core.logs import EventLog
from taoloop.loop.ports import ActionPort
from taoloop.loop.state import RunState
from taoloop.plan.effects import (
    MAX_COMMENT_CHARACTERS,
    MAX_NAME_CHARACTERS,
    ApprovalDecision,
    ApprovalState,
    DecideApprovalRequest,
    ListApprovalsRequest,
    ListApprovalsResponse,
)
from taoloop.plan.running import (
    ApprovalOutcome,
    ApprovalRequired,
    LoopServiceDecideApprovalRequest,
    LoopServiceDecideApprovalResponse,
)

_log = EventLog(__name__)

BY_THE_RUN: Final = "taoloop"
"""Who withdraws the questions of a run that ended."""

_DECISIONS: Final = {
    ApprovalState.APPROVED: ApprovalDecision.APPROVED,
    ApprovalState.REJECTED: ApprovalDecision.REJECTED,
    ApprovalState.EXPIRED: ApprovalDecision.EXPIRED,
    ApprovalState.CANCELLED: ApprovalDecision.CANCELLED,
}


class ApprovalReader(Protocol):
    """Tells where approvals stand."""

    async def list_approvals(self, request: ListApprovalsRequest, call: CallContext) -> ListApprovalsResponse:
        """List one page of approvals, newest first.

        Raises:
            TaoError: The service could not do its job.
        """
        ...


def require_open(state: RunState, approval_id: str) -> None:
    """Check that a run waits for an approval.

    Raises:
        NotWaiting: It does not.
    """
    waiting = [] if state.has_ended else [approval.approval_id for approval in state.open_approvals]
    if approval_id not in waiting:
        waits = f"waits for {', '.join(waiting)}" if waiting else "waits for no approval"
        raise NotWaiting(
            f"Run {state.run_id} {waits}, not for {approval_id}.",
            metadata={"run_id": state.run_id, "approval_id": approval_id},
        )


def too_long(*given: tuple[str, str, int]) -> Iterator[FieldViolation]:
    """Yield what is longer than it may be of what somebody said: field, text and most characters of each."""
    for field, text, most in given:
        if len(text) > most:
            yield FieldViolation(field, f"must have at most {most} characters, not {len(text)}")


def require_short(request: LoopServiceDecideApprovalRequest) -> None:
    """Check that what was said with a decision may stand in logs and faults.

    Raises:
        InvalidRequest: It is too long.
    """
    violations = list(
        too_long(
            ("request_id", request.request_id, MAX_NAME_CHARACTERS),
            ("decided_by", request.decided_by, MAX_NAME_CHARACTERS),
            ("comment", request.comment, MAX_COMMENT_CHARACTERS),
        )
    )
    if violations:
        what = "; ".join(f"{each.field} {each.description}" for each in violations)
        raise InvalidRequest(f"The decision cannot be taken: {what}.", violations=violations)


def forwarded(request: LoopServiceDecideApprovalRequest) -> DecideApprovalRequest:
    """Return the decision as the executor takes it."""
    return DecideApprovalRequest(
        request_id=request.request_id,
        approval_id=request.approval_id,
        decision=request.decision,
        decided_by=request.decided_by,
        comment=request.comment,
    )


def decided(run_id: str, sequence: int, outcome: ApprovalOutcome) -> LoopServiceDecideApprovalResponse:
    """Return the reply to a decision: what holds, and where the run's next event is."""
    return LoopServiceDecideApprovalResponse(run_id=run_id, next_sequence=sequence, decision=outcome.decision)


async def word_of(action: ApprovalReader, approval: ApprovalRequired, call: CallContext) -> ApprovalOutcome | None:
    """Return what the executor says of an approval whose time is over; None while it takes it for open.

    Its word holds: somebody may have decided in the last moment. One that it does not know nobody will ever decide.

    Raises:
        TaoError: The executor does not answer.
    """
    known = (await action.list_approvals(ListApprovalsRequest(approval_id=approval.approval_id), call)).approvals
    if not known:
        return ApprovalOutcome(approval_id=approval.approval_id, decision=ApprovalDecision.EXPIRED)
    decision = _DECISIONS.get(known[0].state)
    if decision is None:
        return None
    return ApprovalOutcome(approval_id=approval.approval_id, decision=decision, decided_by=known[0].decided_by)


async def withdraw(action: ActionPort, state: RunState, call: CallContext) -> None:
    """Tell the executor that nobody wants leave for the steps of a run that ended.

    What it cannot be told lapses by itself: a question without a run harms nobody.
    """
    if not state.has_ended:
        return
    for approval in state.open_approvals:
        request = DecideApprovalRequest(
            approval_id=approval.approval_id,
            decision=ApprovalDecision.CANCELLED,
            decided_by=BY_THE_RUN,
            comment=f"Run {state.run_id} ended.",
        )
        try:
            await action.decide_approval(request, call)
        except TaoError as error:
            _log.warning("approval_not_withdrawn", approval_id=approval.approval_id, reason=error.reason)
