"""Makes thoughts: guards the catalogue, runs the pipeline, and gives what leaves it an id, a span and a duration."""

from __future__ import annotations

from dataclasses import replace

from taoloop.core.calls import DEFAULT_TENANT
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import CatalogueMismatch
from taoloop.core.ids import new_id
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.tracing import AttributeValue
from taoloop.plan.model import Reasoning, ThoughtPlan
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, ThinkRequest, ThinkResponse
from taoloop.thought.pipeline.climbing import Outcome, Thought
from taoloop.thought.pipeline.pipeline import Pipeline
from taoloop.tools.catalogue import Catalogue


class Thinker:
    """Makes one thought after the other, or several at once.

    Args:
        catalogue: The tools that this process knows.
        pipeline: Decides; made for the same catalogue.
        clock: For thought ids, the time of a plan and the duration metric.
        telemetry: Gets one span and one duration per thought.
    """

    def __init__(self, catalogue: Catalogue, pipeline: Pipeline, clock: Clock, telemetry: Telemetry) -> None:
        self._catalogue = catalogue
        self._pipeline = pipeline
        self._clock = clock
        self._telemetry = telemetry

    def __repr__(self) -> str:
        return f"<Thinker {self._pipeline!r} {self._catalogue!r}>"

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str = DEFAULT_TENANT) -> ThinkResponse:
        """Make one thought. Without a language model the same request gives the same one under another thought id.

        Args:
            request: What is to be thought about.
            deadline: When nobody waits for the thought any more.
            tenant: Who asks, and pays for models.

        Raises:
            CatalogueMismatch: The run is pinned to another catalogue.
            BudgetExhausted: See `Pipeline.think`.
        """
        if request.catalogue_digest not in {"", self._catalogue.digest}:
            raise CatalogueMismatch.of(request.catalogue_digest, self._catalogue.digest)
        thought_id = new_id(self._clock)
        started = self._clock.monotonic()
        first = _family(self._pipeline.name)
        with self._telemetry.tracing.span(names.plan_span(first), self._attributes(request, thought_id)) as span:
            thought = await self._pipeline.think(request, deadline, tenant)
            family = _family(thought.planner)
            if family != first:
                span.update_name(names.plan_span(family))
            told = {str(key): value for key, value in _told(thought).items() if value is not None}
            span.set_attributes(told)
        duration = self._telemetry.metrics.histogram(names.THOUGHT_DURATION)
        duration.labels(planner=family, outcome=_word(thought.outcome)).observe(self._clock.monotonic() - started)
        return self._response(thought, request, thought_id)

    def _response(self, thought: Thought, request: ThinkRequest, thought_id: str) -> ThinkResponse:
        usage = replace(thought.usage, iterations=1)
        outcome = thought.outcome
        if isinstance(outcome, ThoughtPlan):
            outcome = replace(outcome, thought_id=thought_id, created_at=self._clock.now(), usage=usage)
        return ThinkResponse(
            outcome=outcome,
            thought_id=thought_id,
            run_id=request.run_id,
            iteration=request.iteration,
            usage=usage,
            planner=thought.planner,
            decision=thought.decision,
            seed=thought.seed,
        )

    def _attributes(self, request: ThinkRequest, thought_id: str) -> dict[names.Attribute, AttributeValue]:
        return {
            names.Attribute.OPERATION_NAME: names.Operation.PLAN,
            names.Attribute.THOUGHT_ID: thought_id,
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


def _family(planner: str) -> str:
    return planner.partition("/")[0]


def _told(thought: Thought) -> dict[names.Attribute, AttributeValue]:
    """Return what the span of a thought says about it; what a model did not say is left out."""
    usage, is_asked = thought.usage, bool(thought.usage.model_calls)
    return {
        **_reasoning(thought.reasoning),
        names.Attribute.THOUGHT_PLANNER: thought.planner,
        names.Attribute.THOUGHT_OUTCOME: _word(thought.outcome),
        names.Attribute.PLAN_STEPS: len(thought.outcome.steps) if isinstance(thought.outcome, ThoughtPlan) else None,
        names.Attribute.REQUEST_MODEL: thought.model or None,
        names.Attribute.REQUEST_SEED: thought.seed or None,
        names.Attribute.INPUT_TOKENS: usage.input_tokens if is_asked else None,
        names.Attribute.CACHED_INPUT_TOKENS: usage.cached_input_tokens if is_asked else None,
        names.Attribute.OUTPUT_TOKENS: usage.output_tokens if is_asked else None,
    }


def _reasoning(reasoning: Reasoning) -> dict[names.Attribute, AttributeValue]:
    return {
        names.Attribute.REASONING_KNOWN: reasoning.known,
        names.Attribute.REASONING_GAP: reasoning.gap,
        names.Attribute.REASONING_TOOL: reasoning.tool,
        names.Attribute.REASONING_WHY: reasoning.why,
        names.Attribute.REASONING_EXPECTED: reasoning.expected,
    }
