"""Makes thoughts: guards the catalogue, asks the planner, and lets no plan out that the check refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from taoloop.core.clock import Clock
from taoloop.core.errors import CatalogueMismatch
from taoloop.core.ids import new_id
from taoloop.core.telemetry import Telemetry, names
from taoloop.plan.check import CheckContext, PlanLimits, check_plan
from taoloop.plan.check_context import DEFAULT_LIMITS
from taoloop.plan.model import Decision, DecisionKind, Reasoning, ThoughtPlan
from taoloop.plan.task import Permissions, Usage
from taoloop.plan.thinking import (
    Answer,
    Escalation,
    NeedInput,
    Refusal,
    RefusalReason,
    ThinkRequest,
    ThinkResponse,
)
from taoloop.thought.plan_metering import count_too_large
from taoloop.tools.catalogue import Catalogue

Outcome = ThoughtPlan | Answer | NeedInput | Refusal | Escalation


class PlannerReply(Protocol):
    """What a planner says to one request."""

    @property
    def outcome(self) -> Outcome:
        """Return what to do; a plan lacks its thought id and time."""
        ...

    @property
    def decision(self) -> Decision:
        """Return how sure the planner is."""
        ...

    @property
    def reasoning(self) -> Reasoning:
        """Return the auditable part."""
        ...


class Planner(Protocol):
    """Decides on requests against one catalogue."""

    @property
    def name(self) -> str:
        """Return name and version, such as `graph/1`."""
        ...

    def plan(self, request: ThinkRequest) -> PlannerReply:
        """Decide on one request; every text gives a reply."""
        ...


class Thinker:
    """Makes one thought after the other; safe to share between threads.

    Args:
        catalogue: The tools that this process knows.
        planner: Decides; made for the same catalogue.
        clock: For thought ids, the time of a plan and the duration metric.
        telemetry: Gets one span and one duration per thought.
        limits: How large a plan may be; the defaults when left out.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        planner: Planner,
        clock: Clock,
        telemetry: Telemetry,
        limits: PlanLimits = DEFAULT_LIMITS,
    ) -> None:
        self._catalogue = catalogue
        self._planner = planner
        self._clock = clock
        self._telemetry = telemetry
        self._limits = limits
        self._tools = {signature.name: signature for signature in catalogue.signatures()}

    def __repr__(self) -> str:
        return f"<Thinker {self._planner.name} {self._catalogue!r}>"

    def think(self, request: ThinkRequest) -> ThinkResponse:
        """Make one thought. The same request gives the same thought under another thought id.

        Raises:
            CatalogueMismatch: The run is pinned to another catalogue.
        """
        if request.catalogue_digest not in {"", self._catalogue.digest}:
            raise CatalogueMismatch.of(request.catalogue_digest, self._catalogue.digest)
        thought_id = new_id(self._clock)
        started = self._clock.monotonic()
        family = self._planner.name.partition("/")[0]
        with self._telemetry.tracing.span(names.plan_span(family), self._attributes(request, thought_id)) as span:
            reply = self._planner.plan(request)
            outcome, decision = self._let_out(reply, request, thought_id)
            attributes = {**_reasoning(reply.reasoning), names.Attribute.THOUGHT_OUTCOME: _word(outcome)}
            if isinstance(outcome, ThoughtPlan):
                attributes[names.Attribute.PLAN_STEPS] = len(outcome.steps)
            span.set_attributes({str(key): value for key, value in attributes.items()})
        duration = self._telemetry.metrics.histogram(names.THOUGHT_DURATION)
        duration.labels(planner=family, outcome=_word(outcome)).observe(self._clock.monotonic() - started)
        return ThinkResponse(
            outcome=outcome,
            thought_id=thought_id,
            run_id=request.run_id,
            iteration=request.iteration,
            usage=Usage(iterations=1),
            planner=self._planner.name,
            decision=decision,
        )

    def _let_out(self, reply: PlannerReply, request: ThinkRequest, thought_id: str) -> tuple[Outcome, Decision]:
        """Return the outcome; a plan that the check refuses becomes a refusal with the check's faults."""
        plan = reply.outcome
        if not isinstance(plan, ThoughtPlan):
            return plan, reply.decision
        verdict = check_plan(plan, self._context(request))
        count_too_large(verdict.faults, self._telemetry.metrics)
        if verdict.is_valid:
            stamped = replace(plan, thought_id=thought_id, created_at=self._clock.now(), usage=Usage(iterations=1))
            return stamped, reply.decision
        refusal = Refusal(
            reason=RefusalReason.PLAN_FAILED,
            message="The planner made no plan that passes the check.",
            faults=verdict.faults,
        )
        return refusal, replace(reply.decision, kind=DecisionKind.NONE)

    def _context(self, request: ThinkRequest) -> CheckContext:
        return CheckContext(
            tools=self._tools,
            catalogue_digest=self._catalogue.digest,
            permissions=request.permissions or Permissions(),
            availability=request.availability,
            turns=request.turns,
            state=request.state,
            completed=request.completed,
            inputs=request.inputs,
            limits=self._limits,
            tainted_context=request.tainted_context,
        )

    def _attributes(self, request: ThinkRequest, thought_id: str) -> dict[names.Attribute, str | int]:
        return {
            names.Attribute.OPERATION_NAME: names.Operation.PLAN,
            names.Attribute.THOUGHT_ID: thought_id,
            names.Attribute.THOUGHT_PLANNER: self._planner.name,
            names.Attribute.RUN_ID: request.run_id,
            names.Attribute.RUN_ITERATION: request.iteration,
            names.Attribute.CATALOGUE_DIGEST: self._catalogue.digest,
        }


_OUTCOME_WORDS = {
    ThoughtPlan: "plan",
    Answer: "answer",
    NeedInput: "need_input",
    Refusal: "refusal",
    Escalation: "escalation",
}


def _word(outcome: Outcome) -> str:
    return _OUTCOME_WORDS[type(outcome)]


def _reasoning(reasoning: Reasoning) -> dict[names.Attribute, str | int | tuple[str, ...]]:
    return {
        names.Attribute.REASONING_KNOWN: reasoning.known,
        names.Attribute.REASONING_GAP: reasoning.gap,
        names.Attribute.REASONING_TOOL: reasoning.tool,
        names.Attribute.REASONING_WHY: reasoning.why,
        names.Attribute.REASONING_EXPECTED: reasoning.expected,
    }
