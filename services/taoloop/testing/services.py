"""Doubles of the three services that the loop drives: they answer as written and note what they were asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.errors import TaoError
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.observation.grounding.checking import check_answer
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, ServedBy, ToolSummary
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse
from taoloop.plan.effects import (
    ApprovalDecision,
    ApprovalRecord,
    ApprovalState,
    DecideApprovalRequest,
    DecideApprovalResponse,
    ListApprovalsRequest,
    ListApprovalsResponse,
)
from taoloop.plan.observing import ConfidenceLevel, ObservationResult, ObserveRequest
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.tools.signature import Trust

Answer = ActionResult | JsonValue | TaoError | Callable[[ExecuteRequest], Awaitable[ActionResult | JsonValue]]


class ScriptedThought:
    """A `ThoughtPort` that gives its responses in turn, filled in with run and iteration.

    Args:
        responses: What is thought, first to last; an error is raised. Whoever thinks on gets PLAN_FAILED: no way is
            left.
    """

    def __init__(self, *responses: ThinkResponse | TaoError) -> None:
        self.requests: list[ThinkRequest] = []
        self._responses = list(responses)

    async def think(self, request: ThinkRequest, call: CallContext) -> ThinkResponse:
        """See `ThoughtPort.think`."""
        self.requests.append(request)
        response = self._responses.pop(0) if self._responses else _NO_WAY
        if isinstance(response, TaoError):
            raise response
        thought_id = response.thought_id or f"{len(self.requests):032x}"
        return replace(response, thought_id=thought_id, run_id=request.run_id, iteration=request.iteration)


_NO_WAY: Final = ThinkResponse(outcome=Refusal(reason=RefusalReason.PLAN_FAILED, message="No way is left."))


@dataclass(frozen=True, slots=True)
class ListedTools:
    """A `ToolListing` with fixed content."""

    tools: tuple[ToolSummary, ...] = ()
    catalogue_digest: str = "d" * 64


class ScriptedAction:
    """An `ActionPort` that answers by tool.

    Args:
        answers: What each tool answers: a body, a whole result, an error to raise, or a coroutine function that gives
            a body or a result.
        listing: What `list_tools` gives.

    Attributes:
        requests: The calls so far.
        decisions: What was decided so far, in order.
        lapsed: The approvals whose time is over, unless they are decided.
    """

    def __init__(self, answers: Mapping[str, Answer], listing: ListedTools | None = None) -> None:
        self.requests: list[ExecuteRequest] = []
        self.decisions: list[DecideApprovalRequest] = []
        self.lapsed: set[str] = set()
        self._answers = dict(answers)
        self._listing = listing or ListedTools(tuple(ToolSummary(name=name, parameters={}) for name in answers))

    async def execute(self, request: ExecuteRequest, call: CallContext) -> ActionResult:
        """See `ActionPort.execute`."""
        self.requests.append(request)
        answer = self._answers[request.tool]
        if isinstance(answer, TaoError):
            raise answer
        if callable(answer):
            answer = await answer(request)
        if isinstance(answer, ActionResult):
            return replace(answer, run_id=request.run_id, step_id=request.step_id, tool=request.tool)
        return _succeeded(request, answer)

    async def decide_approval(self, request: DecideApprovalRequest, call: CallContext) -> DecideApprovalResponse:
        """Let the first decision about an approval stand; see `ActionPort.decide_approval`."""
        self.decisions.append(request)
        if self._first(request.approval_id) is request and request.approval_id in self.lapsed:
            self.decisions.remove(request)
            return DecideApprovalResponse(approval_id=request.approval_id, decision=ApprovalDecision.EXPIRED)
        first = self._first(request.approval_id) or request
        return DecideApprovalResponse(
            approval_id=request.approval_id, decision=first.decision, decided_by=first.decided_by
        )

    async def list_approvals(self, request: ListApprovalsRequest, call: CallContext) -> ListApprovalsResponse:
        """Tell where one approval stands: by its first decision, else whether it has lapsed."""
        first = self._first(request.approval_id)
        if first is not None:
            state = ApprovalState(first.decision.value)
        else:
            state = ApprovalState.EXPIRED if request.approval_id in self.lapsed else ApprovalState.OPEN
        by = first.decided_by if first is not None else ""
        record = ApprovalRecord(approval_id=request.approval_id, state=state, decided_by=by)
        return ListApprovalsResponse(approvals=(record,))

    def _first(self, approval_id: str) -> DecideApprovalRequest | None:
        return next((known for known in self.decisions if known.approval_id == approval_id), None)

    async def list_tools(self, call: CallContext) -> ListedTools:
        """See `ActionPort.list_tools`."""
        return self._listing


class GatedAction(ScriptedAction):
    """A `ScriptedAction` some of whose tools need leave; the approval of a step is named after it.

    Args:
        answers: See `ScriptedAction`.
        gated_tools: The tools that need leave.
        expires_at: When every question lapses.
    """

    def __init__(self, answers: Mapping[str, Answer], gated_tools: frozenset[str], expires_at: datetime) -> None:
        super().__init__(answers)
        self._gated_tools = gated_tools
        self._expires_at = expires_at

    async def execute(self, request: ExecuteRequest, call: CallContext) -> ActionResult:
        """Ask, refuse or let pass, by the first decision about the step."""
        approval_id = f"leave for {request.step_id}"
        first = self._first(approval_id)
        if request.tool not in self._gated_tools or (first and first.decision is ApprovalDecision.APPROVED):
            return await super().execute(request, call)
        self.requests.append(request)
        is_open = first is None and approval_id not in self.lapsed
        refused = FaultCode.APPROVAL_EXPIRED if first is None else FaultCode.APPROVAL_REJECTED
        code = FaultCode.APPROVAL_REQUIRED if is_open else refused
        return ActionResult(
            run_id=request.run_id,
            step_id=request.step_id,
            tool=request.tool,
            status=ActionStatus.APPROVAL_REQUIRED if is_open else ActionStatus.REJECTED,
            approval_id=approval_id,
            approval_expires_at=self._expires_at,
            fault=Fault(code=code, stage=FaultStage.ACTION, message="a person decides"),
        )


@dataclass(slots=True)
class ScriptedObservation:
    """An `ObservationPort` that takes the body as the data and finds fault only with the tools it is told of.

    Attributes:
        invalid_tools: Tools whose results are not valid.
        doubtful_tools: Tools whose results are valid and of low confidence.
        requests: What was asked so far.
        answers: The answers that were to be checked so far.
        answer_error: Raised instead of checking one.
    """

    invalid_tools: frozenset[str] = frozenset()
    doubtful_tools: frozenset[str] = frozenset()
    requests: list[ObserveRequest] = field(default_factory=list)
    answers: list[CheckAnswerRequest] = field(default_factory=list)
    answer_error: TaoError | None = None

    async def observe(self, request: ObserveRequest, call: CallContext) -> ObservationResult:
        """See `ObservationPort.observe`."""
        self.requests.append(request)
        result = request.result
        if result is None:
            raise ValueError("the request has no result")
        is_valid = result.status is ActionStatus.SUCCEEDED and result.tool not in self.invalid_tools
        is_doubtful = result.tool in self.doubtful_tools
        broken = Fault(code=FaultCode.SCHEMA_VIOLATION, stage=FaultStage.OBSERVATION, message="not as promised")
        data = result.parsed if result.parsed is not ABSENT else None
        return ObservationResult(
            step_id=result.step_id,
            tool=result.tool,
            valid=is_valid,
            data=data,
            exposed=data,
            confidence=0.0 if not is_valid else 0.4 if is_doubtful else 1.0,
            confidence_level=ConfidenceLevel.LOW if is_doubtful or not is_valid else ConfidenceLevel.HIGH,
            fault=None if is_valid else result.fault or broken,
            trust=result.trust,
        )

    async def check_answer(self, request: CheckAnswerRequest, call: CallContext) -> CheckAnswerResponse:
        """Compare the answer with its evidence as the service does; see `ObservationPort.check_answer`."""
        self.answers.append(request)
        if self.answer_error is not None:
            raise self.answer_error
        return check_answer(request)


def _succeeded(request: ExecuteRequest, body: JsonValue) -> ActionResult:
    return ActionResult(
        run_id=request.run_id,
        thought_id=request.thought_id,
        step_id=request.step_id,
        tool=request.tool,
        status=ActionStatus.SUCCEEDED,
        parsed=body,
        status_code=200,
        served_by=ServedBy.PRIMARY,
        trust=Trust.TRUSTED,
    )
