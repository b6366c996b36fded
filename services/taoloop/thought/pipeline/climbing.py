"""The rungs that are language models: tools are selected, a model is asked, and after its failures the next one."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from taoloop.core.calls import DEFAULT_TENANT
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.faults import Fault
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.models.ports import ModelFailureKind
from taoloop.plan.check_context import CheckContext
from taoloop.plan.model import Decision, DecisionKind, Reasoning, ThoughtPlan
from taoloop.plan.task import Usage
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, RefusalReason, ThinkRequest
from taoloop.thought.pipeline.ports import FirstModel, ModelChoice, PlanningModel
from taoloop.thought.pipeline.repairing import Repairing, Tried
from taoloop.thought.pipeline.routing import ModelStanding, Standing
from taoloop.thought.pipeline.rungs import FailureStreak, Rung, next_rung
from taoloop.thought.pipeline.selecting import Selection, Selector
from taoloop.thought.pipeline.stages import OK, Stage, Stages
from taoloop.thought.planners.graph.calls import wording
from taoloop.thought.planners.graph.language.text import is_chinese
from taoloop.thought.planners.graph.view import last_user_turn
from taoloop.thought.planners.model.questions import Question, Questions

Outcome = ThoughtPlan | Answer | NeedInput | Refusal | Escalation

NO_TOOLS: Final = "no_tools"
"""Nothing may be offered to a model for this request."""
AWAY: Final = "away"
"""No model can be asked now."""
NO_MODEL_FITS: Final = "no_model_fits"
"""No model's context holds the prompt."""
NO_TIME: Final = "insufficient_deadline"
"""Too little time is left for a model."""

_SEED_BITS: Final = 31
_KINDS: Final = {ThoughtPlan: DecisionKind.PLAN, NeedInput: DecisionKind.ASK, Answer: DecisionKind.ANSWER}
_log: Final = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What the pipeline comes to.

    Attributes:
        outcome: What to do; a plan lacks its thought id, its time and its usage.
        decision: How sure the planner is.
        reasoning: The auditable part.
        planner: Name and version of the planner.
        model: Name of the language model; empty when it decided nothing.
        usage: What models consumed, those that decided nothing among them.
        seed: What the models sampled with; 0 when none was asked, or they take none.
    """

    outcome: Outcome
    decision: Decision
    reasoning: Reasoning
    planner: str
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Climb:
    """What asking models came to.

    Attributes:
        thought: A thought that may leave; None when no model made one.
        faults: Those of the last plan that a model wrote; empty when none wrote one.
        usage: What the models consumed.
        seed: What they sampled with.
    """

    thought: Thought | None = None
    faults: tuple[Fault, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seed: int = 0


def draw_seed() -> int:
    """Return a seed by chance, never 0, of the bits that every server takes."""
    return random.getrandbits(_SEED_BITS) or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderParts:
    """What a ladder is made of.

    Attributes:
        models: In order, each on a rung of its own.
        questions: Makes a request ready for them.
        selector: Chooses the tools that are offered.
        repairing: Asks one of them.
        choice: Where a request begins.
        draw_seed: Gives a seed to a request that brings none, never 0.
    """

    models: tuple[PlanningModel, ...]
    questions: Questions
    selector: Selector
    repairing: Repairing
    choice: ModelChoice = field(default_factory=FirstModel)
    draw_seed: Callable[[], int] = draw_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderRules:
    """How models follow one another.

    Attributes:
        max_failures: After more failures in a row than this a model is left alone.
        forget_seconds: For how long.
        reserve_seconds: Time before the caller's deadline that models do not get.
        is_stall_refused: Whether a thought that repeats the one before it is a failure.
    """

    max_failures: int = 2
    forget_seconds: float = 60.0
    reserve_seconds: float = 0.25
    is_stall_refused: bool = True


class ModelLadder:
    """Asks the models of a deployment in their order until one makes a thought that may leave.

    Args:
        parts: What it is made of.
        stages: Tell of it.
        clock: For time left and failures forgotten.
        rules: How models follow one another.
    """

    def __init__(self, parts: LadderParts, stages: Stages, clock: Clock, rules: LadderRules | None = None) -> None:
        self._models = parts.models
        self._parts = parts
        self._repairing = parts.repairing
        self._stages = stages
        self._rules = rules or LadderRules()
        self._streaks = {each.rung: FailureStreak(clock, self._rules.forget_seconds) for each in parts.models}
        self._fallbacks = stages.metrics.counter(names.THOUGHT_FALLBACKS)
        self._left_out = stages.metrics.counter(names.TOOLS_LEFT_OUT)

    def __repr__(self) -> str:
        return f"<ModelLadder {', '.join(f'{each.rung} {self._streaks[each.rung]!r}' for each in self._models)}>"

    def standing(self) -> Standing:
        """Return whether a model can be asked now, and how often in a row the most reliable of them failed."""
        ready = [each for each in self._models if each.is_ready()]
        if not ready:
            return Standing(model=ModelStanding.AWAY if self._models else ModelStanding.ABSENT)
        return Standing(failures=min(self._streaks[each.rung].count for each in ready))

    async def climb(
        self, request: ThinkRequest, context: CheckContext, deadline: Deadline, tenant: str = DEFAULT_TENANT
    ) -> Climb:
        """Ask the models that can be asked now.

        Args:
            request: What is to be thought about.
            context: What plans are checked against.
            deadline: When nobody waits for the thought any more.
            tenant: Who pays for the models.

        Raises:
            BudgetExhausted: The tenant has spent its budget, and such thoughts are refused.
        """
        deadline = self._shortened(deadline)
        if deadline.is_expired:
            return self._fell(Rung.MODEL, NO_TIME)
        ready = [each for each in self._models if each.is_ready() and not self._is_resting(each)]
        if not ready:
            return self._fell(Rung.MODEL, AWAY)
        room = min(each.model.profile.context for each in ready)
        selection, question = await self._prepared(request, context, room)
        if question is None:
            return self._fell(Rung.MODEL, NO_TOOLS)
        question = replace(question, tenant=tenant)
        first = self._parts.choice.choose(ready, selection, request, question.prompt.estimated_tokens)
        if first is None:
            return self._fell(Rung.MODEL, NO_MODEL_FITS)
        rungs = [each.rung for each in ready]
        return await self._asked(ready[rungs.index(first) :], question, deadline)

    async def _asked(self, models: Sequence[PlanningModel], question: Question, deadline: Deadline) -> Climb:
        climb = Climb()
        for number, planning in enumerate(models):
            if number and not self._repairing.rules.has_time(deadline, planning.timeout_seconds):
                self._repairing.skip_for_time(planning, deadline)
                self._fell(planning.rung, NO_TIME)
                break
            tried = await self._repairing.plan(planning, question, deadline)
            thought, faults = self._settled(tried, planning, question)
            seed = tried.last.seed or climb.seed
            climb = Climb(
                thought=thought, faults=faults or climb.faults, usage=climb.usage.plus(tried.usage), seed=seed
            )
            if thought is not None:
                self._streaks[planning.rung].succeeded()
                return climb
            self._failed(planning, tried, deadline)
            if tried.last.is_over_budget:
                break  # the next model is no cheaper
        return climb

    def _settled(
        self, tried: Tried, planning: PlanningModel, question: Question
    ) -> tuple[Thought | None, tuple[Fault, ...]]:
        expansion = tried.last.expansion
        if expansion is None:
            return None, tried.faults
        stall = self._stages.stall(expansion.outcome, question.request) if self._rules.is_stall_refused else None
        if stall is not None:
            return None, (stall,)
        planner = f"model/{question.prompt.version}"
        decision = Decision(kind=_KINDS.get(type(expansion.outcome), DecisionKind.NONE))
        outcome: Outcome = expansion.outcome
        if isinstance(outcome, ThoughtPlan):
            outcome = replace(outcome, planner=planner, model=planning.model.name, decision=decision)
        elif isinstance(outcome, Refusal) and not outcome.message:
            message = wording.no_tool(is_chinese=is_in_chinese(question.request))
            outcome = Refusal(reason=RefusalReason.NO_TOOL, message=message)
        thought = Thought(
            outcome=outcome,
            decision=decision,
            reasoning=expansion.reasoning,
            planner=planner,
            model=planning.model.name,
        )
        return thought, ()

    def _failed(self, planning: PlanningModel, tried: Tried, deadline: Deadline) -> None:
        reason = tried.last.reason or "stalled"
        is_ours = tried.last.failure is ModelFailureKind.TIMEOUT and deadline.is_expired
        # A model that got no time of its own to speak of, or was not asked, has failed nobody.
        if not is_ours and not tried.last.is_over_budget:
            self._streaks[planning.rung].failed()
        self._fell(planning.rung, reason)

    def _fell(self, rung: Rung, reason: str) -> Climb:
        self._fallbacks.labels(rung.value, reason).inc()
        _log.info("planner_fell_back", rung=rung.value, reason=reason)
        return Climb()

    def _is_resting(self, planning: PlanningModel) -> bool:
        rung, failures = planning.rung, self._streaks[planning.rung].count
        return next_rung([each.rung for each in self._models], rung, failures, self._rules.max_failures) is not rung

    def _shortened(self, deadline: Deadline) -> Deadline:
        return Deadline.at(deadline.monotonic_seconds - self._rules.reserve_seconds, deadline.clock)

    async def _prepared(
        self, request: ThinkRequest, context: CheckContext, room_tokens: int
    ) -> tuple[Selection, Question | None]:
        """Select tools and make the question of them; both compute for milliseconds."""
        with self._stages.of(Stage.SELECT) as run:
            selection, question = await asyncio.to_thread(self._prepare, request, context, room_tokens)
            run.outcome = OK if question is not None else NO_TOOLS
            run.span.set_attribute(names.Attribute.THOUGHT_TOOLS_OFFERED, len(selection.tools))
        for reason, count in Counter(selection.left_out.values()).items():
            self._left_out.labels(reason.value).inc(count)
        return selection, question

    def _prepare(
        self, request: ThinkRequest, context: CheckContext, room_tokens: int
    ) -> tuple[Selection, Question | None]:
        """Return the tools whose prompt leaves room for a reply in every model's context, one tool at least."""
        seed = request.seed or self._parts.draw_seed()
        selection = self._parts.selector.select(request)
        question = None
        while selection.tools:
            question = self._parts.questions.about(request, selection.tools, context, seed)
            count = len(selection.tools)
            if count == 1 or question.estimated_tokens <= room_tokens:
                break
            fewer = self._parts.selector.select(request, max(1, count * 3 // 4))
            if not fewer.tools:
                break
            selection = fewer
        return selection, question


def is_in_chinese(request: ThinkRequest) -> bool:
    """Tell whether sentences for the user are put in Chinese."""
    if request.locale:
        return request.locale.lower().startswith("zh")
    turn = last_user_turn(request)
    return turn is not None and is_chinese(request.turns[turn].text[:1000])
