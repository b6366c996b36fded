"""Who plans a request: the graph planner or a language model, and why, in one word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from taoloop.core.exact_json import Absent, dumps
from taoloop.plan.check_context import estimate_tokens
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, RefusalReason, ThinkRequest
from taoloop.thought.pipeline.rungs import EmptyPlanPolicy
from taoloop.thought.pipeline.urgency import UrgentWords
from taoloop.thought.planners.graph.planner import PlannerReply
from taoloop.thought.planners.graph.view import last_user_turn
from taoloop.thought.planners.model.prompts.building import MAX_EARLIER_TURNS

TokenCount = Callable[[str], int]


class PlannedBy(StrEnum):
    """Which planner makes a thought."""

    GRAPH = "graph"
    MODEL = "model"


class RouteReason(StrEnum):
    """Why a planner makes a thought; the word goes to the span and to the metric."""

    UNSURE = "unsure"
    """The graph planner's numbers are below the thresholds: a model plans."""
    CONFIDENT = "confident"
    """The graph planner is sure."""
    SETTLED = "settled"
    """Nothing that a model says could change the reply: no words, a tool that is forbidden, a call that failed."""
    URGENT_WORDS = "urgent_words"
    """The user wants an answer without delay."""
    OVERSIZED_INPUT = "oversized_input"
    """The input is longer than a model is given."""
    SWITCHED_OFF = "switched_off"
    """Routing to a model is switched off."""
    NO_MODEL = "no_model"
    """None is configured."""
    REPEATED_FAILURES = "repeated_failures"
    """A model was wanted, and has failed too often in a row."""
    MODEL_AWAY = "model_away"
    """A model was wanted, and does not answer its probe."""
    BUDGET = "budget"
    """A model was wanted, and the budget refuses it."""


class ModelStanding(StrEnum):
    """Whether a language model can be asked now."""

    READY = "ready"
    AWAY = "away"
    """It is configured and failed its last probe, or its slots are taken."""
    ABSENT = "absent"
    """None is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From which of its three calibrated numbers on the graph planner's reply is taken, each 0 to 1.

    The defaults are read off `taoloop evaluate routing` (docs/thought.md): a plan is right about nine times in ten from
    0.8 on, a refusal up to 0.1; of its questions the number tells nothing yet, so none is taken on it.

    Attributes:
        fit: That the tool is what the request asks for; for plans, questions and answers.
        arguments: That all arguments of a plan are right.
        missing: That the value which is asked for is not in the request.
        none: That no tool fits: above this probability of fit a refusal is not believed.
    """

    fit: float = 0.5
    arguments: float = 0.8
    missing: float = 1.0
    none: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingRules:
    """When a language model is asked.

    Attributes:
        is_on: Whether a model is asked at all.
        max_input_tokens: Above this a model is not given the input; 0 for no such bound.
        urgent: Words that want an answer without delay.
        max_failures: After more failures than this in a row the next rung plans, 0 to 100.
        empty_plan: What becomes of a plan without a step.
        thresholds: When the graph planner's own reply is taken.
    """

    is_on: bool = True
    max_input_tokens: int = 8000
    urgent: UrgentWords = field(default_factory=UrgentWords)
    max_failures: int = 2
    empty_plan: EmptyPlanPolicy = EmptyPlanPolicy.FAIL
    thresholds: Thresholds = field(default_factory=Thresholds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known about the model at the moment of routing.

    Attributes:
        model: Whether it can be asked.
        has_budget: Whether the budget allows another call of a model.
        failures: Thoughts in a row of this process for which the model made no plan that passes the check; see
            `FailureStreak`.
    """

    model: ModelStanding = ModelStanding.READY
    has_budget: bool = True
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Route:
    """Who plans, and why.

    Attributes:
        planner: Who plans.
        reason: Why.
        word: The urgent word that decided, as the user wrote it; empty for other reasons.
        input_tokens: Tokens of the input, as far as they were counted; 0 where they were not.
    """

    planner: PlannedBy
    reason: RouteReason
    word: str = ""
    input_tokens: int = 0

    @property
    def is_degraded(self) -> bool:
        """Whether a model was wanted and cannot be had."""
        return self.reason in _DEGRADED


_DEGRADED: Final = {RouteReason.REPEATED_FAILURES, RouteReason.MODEL_AWAY, RouteReason.BUDGET}


def route(
    request: ThinkRequest,
    graph: PlannerReply,
    rules: RoutingRules,
    standing: Standing,
    count_tokens: TokenCount = estimate_tokens,
) -> Route:
    """Say who plans. It skips the language model alone: every plan is checked, and no policy is widened.

    Args:
        request: What is to be thought about.
        graph: What the graph planner says to it.
        rules: When a model is asked.
        standing: What is known about the model.
        count_tokens: Counts the tokens of a text.
    """
    if not rules.is_on:
        return Route(PlannedBy.GRAPH, RouteReason.SWITCHED_OFF)
    if standing.model is ModelStanding.ABSENT:
        return Route(PlannedBy.GRAPH, RouteReason.NO_MODEL)
    tokens = input_tokens(request, count_tokens, rules.max_input_tokens) if rules.max_input_tokens else 0
    if tokens > rules.max_input_tokens:
        return Route(PlannedBy.GRAPH, RouteReason.OVERSIZED_INPUT, input_tokens=tokens)
    word = _urgent_word(request, rules.urgent)
    if word:
        return Route(PlannedBy.GRAPH, RouteReason.URGENT_WORDS, word, tokens)
    reason = _by_confidence(graph, rules.thresholds)
    if reason is RouteReason.UNSURE:
        reason = _by_standing(standing, rules)
    planner = PlannedBy.MODEL if reason is RouteReason.UNSURE else PlannedBy.GRAPH
    return Route(planner, reason, input_tokens=tokens)


def input_tokens(request: ThinkRequest, count_tokens: TokenCount, enough: int) -> int:
    """Count the tokens of what people and tools said, stopping once there are more than `enough`.

    These are the turns that a prompt shows and the results of earlier steps, whole: a model that is shown parts of
    them would plan on what it has not read. Of the session's state a prompt names places alone, so it does not count.
    """
    total = 0
    for turn in reversed(request.turns[-(MAX_EARLIER_TURNS + 1) :]):
        total += count_tokens(turn.text)
        if total > enough:
            return total
    for step in request.completed:
        if not isinstance(step.exposed, Absent):
            total += count_tokens(dumps(step.exposed))
        if total > enough:
            break
    return total


def _urgent_word(request: ThinkRequest, urgent: UrgentWords) -> str:
    turn = last_user_turn(request)
    return "" if turn is None else urgent.find(request.turns[turn].text)


def _by_confidence(graph: PlannerReply, thresholds: Thresholds) -> RouteReason:
    """Say whether the graph planner's reply is taken, by its own numbers."""
    fits = graph.decision.fit >= thresholds.fit
    match graph.outcome:
        case ThoughtPlan():
            return _sure_if(fits and graph.arguments >= thresholds.arguments)
        case NeedInput():
            return _sure_if(fits and graph.missing >= thresholds.missing)
        case Answer():
            return _sure_if(fits)
        case Refusal(reason=RefusalReason.NO_TOOL):
            return _sure_if(graph.decision.fit <= thresholds.none)
        case Refusal(reason=RefusalReason.PLAN_FAILED, faults=()):
            return RouteReason.UNSURE  # more calls than one plan may have: a model may find a shorter way
        case Refusal() | Escalation():
            return RouteReason.SETTLED


def _sure_if(is_sure: bool) -> RouteReason:
    return RouteReason.CONFIDENT if is_sure else RouteReason.UNSURE


def _by_standing(standing: Standing, rules: RoutingRules) -> RouteReason:
    """Say what keeps a model that is wanted from planning; `UNSURE` when nothing does."""
    if standing.model is ModelStanding.AWAY:
        return RouteReason.MODEL_AWAY
    if not standing.has_budget:
        return RouteReason.BUDGET
    if standing.failures > rules.max_failures:
        return RouteReason.REPEATED_FAILURES
    return RouteReason.UNSURE
