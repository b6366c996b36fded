"""The graph planner: one request in, one decision out, by the stages beside this module."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.model import Decision, DecisionKind, Reasoning, ThoughtPlan
from taoloop.plan.rules.snapshot import USER_INTENT
from taoloop.plan.task import InputReason, Permissions
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, RefusalReason, ThinkRequest
from taoloop.thought.planners.graph import records
from taoloop.thought.planners.graph.calibration.model import Calibration, fitted
from taoloop.thought.planners.graph.calls import wording
from taoloop.thought.planners.graph.calls.done import done_before
from taoloop.thought.planners.graph.calls.model import Missing, Step
from taoloop.thought.planners.graph.chain import Chaining
from taoloop.thought.planners.graph.decide import Ask, Block, Call, Forbidden, Nothing, TooMuch, decide
from taoloop.thought.planners.graph.index import PlannerIndex, ToolView
from taoloop.thought.planners.graph.view import RequestView, read_request
from taoloop.thought.planners.known import answer_of
from taoloop.tools.catalogue import Catalogue

PLAN_VERSION: Final = "1.0"

Outcome = ThoughtPlan | Answer | NeedInput | Refusal | Escalation

_ASKABLE_FAULTS: Final = frozenset({FaultCode.NOT_FOUND, FaultCode.INVALID_PARAMETER, FaultCode.EMPTY_RESULT})
"""Faults that another value of the user's may mend."""

_BLOCK_CODES: Final = {
    Block.EFFECT: FaultCode.EFFECT_NOT_ALLOWED,
    Block.NOT_LISTED: FaultCode.TOOL_NOT_ALLOWED,
    Block.UNAVAILABLE: FaultCode.TOOL_UNAVAILABLE,
}


@dataclass(frozen=True, slots=True)
class PlannerReply:
    """What a planner says to one request.

    Attributes:
        outcome: What to do. A plan lacks its thought id and time: who asked the planner fills them in.
        decision: How sure the planner is.
        reasoning: The auditable part, for plans and for everything else.
        arguments: Probability that all arguments of a plan are right; 0 for everything else.
        missing: Probability that the request lacks a value.
    """

    outcome: Outcome
    decision: Decision
    reasoning: Reasoning
    arguments: float = 0.0
    missing: float = 0.0


class GraphPlanner:
    """Ranks the tools of one catalogue by the words of a request and fills their parameters from its spans.

    It calls nothing, reads no clock and keeps no state: the same request gives the same reply.

    Args:
        catalogue: The tools; compiled once, here.
        calibration: Where the decision lies; the fitted one when left out.
    """

    name: Final = "graph/1"

    def __init__(self, catalogue: Catalogue, calibration: Calibration | None = None) -> None:
        self._calibration = calibration or fitted()
        self._catalogue_digest = catalogue.digest
        self._index = PlannerIndex(catalogue.signatures())

    def plan(self, request: ThinkRequest) -> PlannerReply:
        """Decide on one request; every text gives a reply."""
        view = read_request(request)
        if view is None:
            message = wording.no_words(is_chinese=request.locale.lower().startswith("zh"))
            return _reply(Refusal(reason=RefusalReason.MISSING_USER_QUERY, message=message), DecisionKind.NONE)
        blocks = self._blocks(request)
        permitted = frozenset(tool.name for tool in self._index.tools) - blocks.keys()
        verdict = decide(Chaining(self._index, view, request.iteration, permitted), blocks, self._calibration)
        intended = self._intended(view) if isinstance(verdict, Nothing) else None
        if intended is not None:
            continued = view.continuing(intended.named | intended.described)
            meant = decide(Chaining(self._index, continued, request.iteration, permitted), blocks, self._calibration)
            if isinstance(meant, Call):  # a question about what was left unsaid would be about a guess
                view, verdict = continued, meant
        match verdict:
            case Call():
                return self._called(verdict, request, view)
            case Ask(missing=missing):
                return replace(_asked(missing, verdict.fit, verdict.margin, request, view), missing=verdict.gap)
            case Forbidden():
                return _forbidden(verdict, view)
            case TooMuch(fit=fit):
                message = wording.too_much(is_chinese=view.is_chinese)
                return _reply(Refusal(reason=RefusalReason.PLAN_FAILED, message=message), DecisionKind.NONE, fit)
            case Nothing(fit=fit):
                message = wording.no_tool(is_chinese=view.is_chinese)
                return _reply(Refusal(reason=RefusalReason.NO_TOOL, message=message), DecisionKind.NONE, fit)

    def _intended(self, view: RequestView) -> ToolView | None:
        """Return the reading tool that a follow-up leaves unsaid: that of the plan before, as the state tells it."""
        name = view.state.get(USER_INTENT)
        tool = self._index.get(name) if view.is_follow_up and isinstance(name, str) else None
        return tool if tool is not None and not tool.is_writing else None

    def _blocks(self, request: ThinkRequest) -> dict[str, Block]:
        permissions = request.permissions or Permissions()
        switched_off = {entry.tool for entry in request.availability if not entry.available}
        blocks: dict[str, Block] = {}
        for tool in self._index.tools:
            if not tool.signature.effect.is_within(permissions.max_effect):
                blocks[tool.name] = Block.EFFECT
            elif permissions.allowed_tools and tool.name not in permissions.allowed_tools:
                blocks[tool.name] = Block.NOT_LISTED
            elif tool.name in switched_off:
                blocks[tool.name] = Block.UNAVAILABLE
        return blocks

    def _called(self, call: Call, request: ThinkRequest, view: RequestView) -> PlannerReply:
        new = tuple(step for step in call.steps if not step.is_completed)
        if not new:
            return _answered(call, request)
        for step in new:
            done = done_before(step, request.completed)
            if done is not None and done.fault is not None and not done.fault.retriable:
                return _stuck(step, done.fault, call, request, view)
        decision = Decision(kind=DecisionKind.PLAN, fit=call.fit, margin=call.margin)
        reasoning = records.reasoning(call.steps, None, new[0].tool.name, call.fit)
        plan = ThoughtPlan(
            version=PLAN_VERSION,
            run_id=request.run_id,
            iteration=request.iteration,
            catalogue_digest=self._catalogue_digest,
            planner=self.name,
            reasoning=reasoning,
            steps=records.plan_steps(call.steps),
            state_snapshot=records.state_snapshot(call.steps),
            final_output_schema=request.output_schema,
            tainted_context=request.tainted_context,
            decision=decision,
        )
        return PlannerReply(plan, decision, reasoning, call.arguments, call.missing)


def _reply(outcome: Outcome, kind: DecisionKind, fit: float = 0.0, margin: float = 0.0) -> PlannerReply:
    return PlannerReply(outcome, Decision(kind=kind, fit=fit, margin=margin), records.reasoning((), None, "", fit))


def _asked(missing: Missing, fit: float, margin: float, request: ThinkRequest, view: RequestView) -> PlannerReply:
    return PlannerReply(
        records.need_input(missing, request, is_chinese=view.is_chinese),
        Decision(kind=DecisionKind.ASK, fit=fit, margin=margin),
        records.reasoning((), missing, missing.tool.name, fit),
    )


def _forbidden(verdict: Forbidden, view: RequestView) -> PlannerReply:
    message = wording.forbidden(verdict.tool, verdict.block, is_chinese=view.is_chinese)
    code = _BLOCK_CODES[verdict.block]
    fault = Fault(
        code=code,
        stage=FaultStage.PLAN,
        message=message,
        actual=verdict.tool.name,
        retriable=verdict.block is Block.UNAVAILABLE,
        suggestion=code.remedy,
    )
    is_denied = verdict.block is not Block.UNAVAILABLE
    reason = RefusalReason.NOT_ALLOWED if is_denied else RefusalReason.PLAN_FAILED
    return _reply(Refusal(reason=reason, message=message, faults=(fault,)), DecisionKind.NONE, verdict.fit)


def _stuck(step: Step, fault: Fault, call: Call, request: ThinkRequest, view: RequestView) -> PlannerReply:
    """Answer a call that would fail again: ask for another value where the user gave just one, else hand over."""
    given = [item for item in step.bound.values() if item.origin in {"request", "input"}]
    if fault.code in _ASKABLE_FAULTS and len(given) == 1:
        missing = Missing(step.tool, given[0].slot, InputReason.INVALID, fault.candidates)
        return _asked(missing, call.fit, call.margin, request, view)
    return _reply(Escalation(message=fault.message, faults=(fault,)), DecisionKind.NONE, call.fit)


def _answered(call: Call, request: ThinkRequest) -> PlannerReply:
    """Answer with the calls that were made already; the loop words what they brought."""
    done = {step.step_id for step in call.steps}
    results = [step for step in request.completed if step.step_id in done]
    return _reply(answer_of(results), DecisionKind.ANSWER, call.fit, call.margin)
