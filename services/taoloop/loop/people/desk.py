"""Takes what people say to a run that waits for values or for leave."""

from __future__ import annotations

import asyncio

from taoloop.core.calls import CallContext
from taoloop.core.errors import RunConflict
from taoloop.loop.people.approvals import decided, forwarded, require_open, require_short
from taoloop.loop.people.expiry import Lapses
from taoloop.loop.people.inputs import accept_input, find_repeat
from taoloop.loop.people.resting import RestingRuns
from taoloop.loop.ports import ActionPort
from taoloop.loop.state import RunState
from taoloop.plan.running import (
    ApprovalOutcome,
    LoopServiceDecideApprovalRequest,
    LoopServiceDecideApprovalResponse,
    ProvideInputRequest,
    ProvideInputResponse,
    RunResumed,
)


class PeopleDesk:
    """Where answers and decisions come in. The first one stands; a repeat of it gets the same reply.

    Args:
        runs: The runs that wait.
        action: Keeps what persons decide.
        lapses: What becomes of a step about which it is too late to decide.
    """

    def __init__(self, runs: RestingRuns, action: ActionPort, lapses: Lapses) -> None:
        self._runs = runs
        self._action = action
        self._lapses = lapses

    def __repr__(self) -> str:
        return f"<PeopleDesk of {self._runs!r}>"

    async def provide_input(self, request: ProvideInputRequest, call: CallContext) -> ProvideInputResponse:
        """Take the answer to a run's question; the run goes on without the caller, and its other questions stay open.

        Raises:
            UnknownRun: No such run for this tenant.
            NotWaiting: The run waits for no such answer.
            InvalidRequest: The values do not fit what was asked for.
            RunConflict: A different answer came at the same time.
        """
        state = await self._runs.read(request.run_id, call)
        sequence = find_repeat(state, request)
        if sequence is None:
            resumed = RunResumed(reason="input", input=accept_input(state, request))
            try:
                sequence = await self._runs.take_on(state, call, resumed)
            except RunConflict:  # another answer was faster; it may have been this one, sent twice
                sequence = find_repeat(await self._runs.read(request.run_id, call), request)
                if sequence is None:
                    raise
        return ProvideInputResponse(run_id=state.run_id, next_sequence=sequence)

    async def decide_approval(
        self, request: LoopServiceDecideApprovalRequest, call: CallContext
    ) -> LoopServiceDecideApprovalResponse:
        """Take a decision about a step; the run goes on without the caller, and others of its questions stay open.

        A run that is being driven is waited for. The executor keeps the decision: its word holds, whoever says
        something else later.

        Raises:
            UnknownRun: No such run for this tenant.
            NotWaiting: The run waits for no such approval.
            InvalidRequest: What was said with the decision is too long.
            DeadlineExceeded: The run did not come to rest in time.
        """
        require_short(request)
        while True:
            state = await self._runs.at_rest(request.run_id, call)
            earlier = next((known for known in state.decisions if known.approval_id == request.approval_id), None)
            if earlier is not None:
                return decided(state.run_id, state.waits.said_at[request.approval_id], earlier)
            require_open(state, request.approval_id)
            try:
                # Who is cut off after the executor has heard the decision has decided: the run hears of it as well.
                return await asyncio.shield(self._decide(state, request, call))
            except RunConflict:  # another decision was faster; the run goes on, and this one has its turn later
                continue

    async def _decide(
        self, state: RunState, request: LoopServiceDecideApprovalRequest, call: CallContext
    ) -> LoopServiceDecideApprovalResponse:
        reply = await self._action.decide_approval(forwarded(request), call)
        # Somebody else may have decided before; an executor of an earlier version does not say who.
        unnamed = request.decided_by if reply.decision is request.decision else ""
        outcome = ApprovalOutcome(
            approval_id=request.approval_id,
            decision=reply.decision,
            decided_by=reply.decided_by or unnamed,
        )
        return decided(state.run_id, await self._lapses.settle(state, [outcome], call), outcome)
