"""One thought: the graph planner looks first, models are asked where it is unsure, and a person stands at the end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from taoloop.core.calls import DEFAULT_TENANT
from taoloop.core.deadlines import Deadline
from taoloop.core.faults import Fault, FaultCode
from taoloop.core.telemetry import names
from taoloop.plan.check_context import DEFAULT_LIMITS, CheckContext, PlanLimits
from taoloop.plan.model import Decision, DecisionKind, ThoughtPlan
from taoloop.plan.task import Permissions
from taoloop.plan.thinking import Escalation, Refusal, RefusalReason, ThinkRequest
from taoloop.thought.pipeline.authorising import Authorisation
from taoloop.thought.pipeline.climbing import Climb, ModelLadder, Thought, is_in_chinese
from taoloop.thought.pipeline.ports import GraphRunner
from taoloop.thought.pipeline.routing import ModelStanding, PlannedBy, Route, RouteReason, RoutingRules, Standing, route
from taoloop.thought.pipeline.rungs import EmptyPlanPolicy, Rung, single_step
from taoloop.thought.pipeline.stages import Stage, Stages
from taoloop.thought.planners.graph import PlannerReply
from taoloop.thought.planners.known import SummaryRules, answer_of
from taoloop.tools.catalogue import Catalogue

_HELD_BACK: Final = {
    False: "No planner made a plan that may run. A person has to decide.",
    True: "没有规划器给出可以执行的计划，需要人工处理。",
}
_FAILED: Final = "The planner made no plan that passes the check."


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRules:
    """What holds for every thought.

    Attributes:
        routing: When a model is asked.
        authorisation: What a thought may come to, and with which tools.
        limits: How large a plan may be.
        summary: When a thought plans no more calls and answers with what is known.
        is_stall_refused: Whether a thought that repeats the one before it is a failure.
    """

    routing: RoutingRules = field(default_factory=RoutingRules)
    authorisation: Authorisation = field(default_factory=Authorisation)
    limits: PlanLimits = DEFAULT_LIMITS
    summary: SummaryRules = field(default_factory=SummaryRules)
    is_stall_refused: bool = True


@dataclass(frozen=True, slots=True)
class _Look:
    """What the graph planner says, and why it may not leave."""

    reply: PlannerReply
    faults: tuple[Fault, ...]


class Pipeline:
    """Makes thoughts by the stages route, select, plan, check, repair and expand; safe for concurrent use.

    Every plan is checked, whoever made it. What a model does, or fails to do, is data that leads to the next rung.

    Args:
        catalogue: The tools that this process knows.
        graph: The planner that needs no model.
        stages: Tell what happens.
        ladder: The language models; None for a deployment without.
        rules: What holds for every thought.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        graph: GraphRunner,
        stages: Stages,
        ladder: ModelLadder | None = None,
        rules: PipelineRules | None = None,
    ) -> None:
        self._catalogue_digest = catalogue.digest
        self._tools = {signature.name: signature for signature in catalogue.signatures()}
        self._graph = graph
        self._stages = stages
        self._ladder = ladder
        self._rules = rules or PipelineRules()
        self._routes = stages.metrics.counter(names.THOUGHT_ROUTES)
        self._fallbacks = stages.metrics.counter(names.THOUGHT_FALLBACKS)
        self._modes = stages.metrics.counter(names.THOUGHT_MODES_REFUSED)
        self._summaries = stages.metrics.counter(names.THOUGHT_SUMMARIES)

    @property
    def name(self) -> str:
        """Name and version of the planner that looks first."""
        return self._graph.name

    def __repr__(self) -> str:
        return f"<Pipeline {self._graph.name}, {self._ladder!r}>"

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str = DEFAULT_TENANT) -> Thought:
        """Make one thought; every request gets one.

        Args:
            request: What is to be thought about.
            deadline: When nobody waits for it any more; models get less.
            tenant: Who asks, and pays for models.

        Raises:
            BudgetExhausted: Only a model could help, the tenant has spent its budget, and such thoughts are refused.
        """
        request = self._rules.authorisation.narrowed(request)
        context = self._context(request)
        if self._rules.summary.apply_to(request):
            self._summaries.inc()
        look = await self._look(request, context)
        chosen = self._route(request, look)
        climb = Climb()
        if self._ladder is not None and _is_model_asked(chosen, look):
            climb = await self._ladder.climb(request, context, deadline, tenant)
        thought = climb.thought or self._by_graph(look, climb, context, request)
        refusal = self._rules.authorisation.refusal_of(thought.outcome)
        if refusal is not None:
            self._modes.labels(str(refusal.faults[0].actual)).inc()
            thought = replace(thought, outcome=refusal, decision=replace(thought.decision, kind=DecisionKind.NONE))
        return replace(thought, usage=climb.usage, seed=climb.seed)

    async def _look(self, request: ThinkRequest, context: CheckContext) -> _Look:
        with self._stages.of(Stage.GRAPH) as run:
            reply = self._summed_up(await self._graph.plan(request), request)
            run.outcome = reply.decision.kind.value
        return _Look(reply, self._faults(reply, request, context))

    def _summed_up(self, reply: PlannerReply, request: ThinkRequest) -> PlannerReply:
        """Return the reply, or where the run has made calls enough the results in the place of a plan."""
        if not isinstance(reply.outcome, ThoughtPlan) or not self._rules.summary.apply_to(request):
            return reply
        answer = answer_of([step for step in request.completed if step.fault is None])
        return replace(reply, outcome=answer, decision=replace(reply.decision, kind=DecisionKind.ANSWER))

    def _faults(self, reply: PlannerReply, request: ThinkRequest, context: CheckContext) -> tuple[Fault, ...]:
        if isinstance(reply.outcome, ThoughtPlan):
            verdict = self._stages.check(reply.outcome, context)
            if not verdict.is_valid:
                return verdict.faults
        stall = self._stages.stall(reply.outcome, request) if self._rules.is_stall_refused else None
        return () if stall is None else (stall,)

    def _route(self, request: ThinkRequest, look: _Look) -> Route:
        rules = self._rules.routing
        if self._ladder is None:  # there is nothing to choose, and no stage that takes time
            chosen = route(request, look.reply, rules, Standing(model=ModelStanding.ABSENT))
        else:
            with self._stages.of(Stage.ROUTE) as run:
                chosen = route(request, look.reply, rules, self._ladder.standing())
                run.outcome = chosen.planner.value
                run.span.set_attribute(names.Attribute.THOUGHT_ROUTE_REASON, chosen.reason.value)
        self._routes.labels(chosen.planner.value, chosen.reason.value).inc()
        return chosen

    def _by_graph(self, look: _Look, climb: Climb, context: CheckContext, request: ThinkRequest) -> Thought:
        """Return the graph planner's own reply, or hand over to a person where it has none that may leave."""
        reply = look.reply
        thought = Thought(
            outcome=reply.outcome, decision=reply.decision, reasoning=reply.reasoning, planner=self._graph.name
        )
        first = self._single_step(look, climb, context, request)
        if first is not None:
            return replace(thought, outcome=first)
        if not look.faults and not _is_unsolved(reply, climb):
            return thought
        return replace(
            thought,
            outcome=self._held_back(climb.faults or look.faults, climb, request),
            decision=Decision(kind=DecisionKind.NONE, fit=reply.decision.fit, margin=reply.decision.margin),
        )

    def _held_back(self, faults: tuple[Fault, ...], climb: Climb, request: ThinkRequest) -> Refusal | Escalation:
        """Return a refusal where the graph planner is alone, and a person where models have tried as well."""
        if not climb.usage.model_calls:
            return Refusal(reason=RefusalReason.PLAN_FAILED, message=_FAILED, faults=faults)
        reason = str(faults[0].code) if faults else RefusalReason.PLAN_FAILED.value
        self._fallbacks.labels(Rung.GRAPH.value, reason).inc()
        return Escalation(message=_HELD_BACK[is_in_chinese(request)], faults=faults)

    def _single_step(
        self, look: _Look, climb: Climb, context: CheckContext, request: ThinkRequest
    ) -> ThoughtPlan | None:
        """Return what takes the place of a model's plan without a step, where the policy has it so."""
        is_empty = any(fault.code == FaultCode.EMPTY_PLAN for fault in climb.faults)
        if not is_empty or self._rules.routing.empty_plan is not EmptyPlanPolicy.SINGLE_STEP:
            return None
        first = single_step(look.reply)
        if first is None or not self._stages.check(first, context).is_valid:
            return None
        if self._rules.is_stall_refused and self._stages.stall(first, request) is not None:
            return None
        return first

    def _context(self, request: ThinkRequest) -> CheckContext:
        return CheckContext(
            tools=self._tools,
            catalogue_digest=self._catalogue_digest,
            permissions=request.permissions or Permissions(),
            availability=request.availability,
            turns=request.turns,
            state=request.state,
            completed=request.completed,
            inputs=request.inputs,
            limits=self._rules.limits,
            tainted_context=request.tainted_context,
        )


def _is_model_asked(chosen: Route, look: _Look) -> bool:
    """Tell whether models are asked: where the route says so, and where the graph planner was sure of a bad plan."""
    return chosen.planner is PlannedBy.MODEL or (bool(look.faults) and chosen.reason is RouteReason.CONFIDENT)


def _is_unsolved(reply: PlannerReply, climb: Climb) -> bool:
    """Tell whether a refusal of the graph planner is not the last word, since models have tried as well.

    A model that wrote a plan, however faulty, saw work for a tool where the graph planner saw none; one that wrote what
    nobody can read saw nothing.
    """
    refusal = reply.outcome
    if not isinstance(refusal, Refusal) or not climb.usage.model_calls:
        return False
    if refusal.reason is RefusalReason.PLAN_FAILED:
        return True
    has_seen_work = any(fault.code != FaultCode.PARSE_FAILED for fault in climb.faults)
    return refusal.reason is RefusalReason.NO_TOOL and has_seen_work
