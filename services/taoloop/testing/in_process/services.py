"""A real thinker, executor and observer behind the ports of the loop."""

from __future__ import annotations

from taoloop.action.executor import Executor
from taoloop.action.ledger.approvals import DECISION_OF, Decision
from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.listing import summary
from taoloop.core.calls import CallContext
from taoloop.observation.grounding.checking import check_answer
from taoloop.observation.metering import MeteredObserver
from taoloop.observation.observer import Observer
from taoloop.plan.acting import ActionResult, ExecuteRequest
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse
from taoloop.plan.effects import DecideApprovalRequest, DecideApprovalResponse
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.plan.task import ToolAvailability
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.testing.services import ListedTools
from taoloop.thought.thinker import Thinker
from taoloop.tools.catalogue import Catalogue


class LocalThought:
    """A `ThoughtPort` without a queue.

    Args:
        thinker: Makes the thoughts.
    """

    def __init__(self, thinker: Thinker) -> None:
        self._thinker = thinker

    async def think(self, request: ThinkRequest, call: CallContext) -> ThinkResponse:
        """See `ThoughtPort.think`."""
        return await self._thinker.think(request, call.deadline, call.tenant)


class LocalAction:
    """An `ActionPort` on an executor.

    Args:
        catalogue: The tools.
        executor: Calls them.
        ledger: The executor's, where approvals are decided.
    """

    def __init__(self, catalogue: Catalogue, executor: Executor, ledger: EffectLedger) -> None:
        self._executor = executor
        self._ledger = ledger
        tools = [summary(tool, ToolAvailability(tool=tool.contract.name, available=True)) for tool in catalogue]
        self._listing = ListedTools(tuple(tools), catalogue.digest)

    async def execute(self, request: ExecuteRequest, call: CallContext) -> ActionResult:
        """See `ActionPort.execute`."""
        return await self._executor.execute(request, call)

    async def decide_approval(self, request: DecideApprovalRequest, call: CallContext) -> DecideApprovalResponse:
        """See `ActionPort.decide_approval`."""
        decision = Decision(
            approval_id=request.approval_id,
            decision=request.decision,
            decided_by=request.decided_by,
            comment=request.comment,
            request_id=request.request_id,
        )
        approval = await self._ledger.approvals.decide(call.tenant, decision)
        return DecideApprovalResponse(
            approval_id=approval.approval_id,
            decision=DECISION_OF[approval.state],
            decided_by=approval.decided_by,
        )

    async def list_tools(self, call: CallContext) -> ListedTools:
        """See `ActionPort.list_tools`."""
        return self._listing


class LocalObservation:
    """An `ObservationPort` on an observer.

    Args:
        observer: Judges results, with or without being counted.
    """

    def __init__(self, observer: Observer | MeteredObserver) -> None:
        self._observer = observer

    async def observe(self, request: ObserveRequest, call: CallContext) -> ObservationResult:
        """See `ObservationPort.observe`."""
        return self._observer.observe(request)

    async def check_answer(self, request: CheckAnswerRequest, call: CallContext) -> CheckAnswerResponse:
        """See `ObservationPort.check_answer`."""
        return check_answer(request)
