"""The pipeline of one observation, from its status to whether it is what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.records import quickly_made
from taoloop.observation.compiled import ContractChecks
from taoloop.observation.confidence import ConfidenceLevels, SourceWeights
from taoloop.observation.drift.detecting import drift_of, together
from taoloop.observation.exposing import DEFAULT_MAX_EXPOSED_BYTES
from taoloop.observation.soft.checking import SoftCheck, with_words
from taoloop.observation.soft.delay import check_delay
from taoloop.observation.soft.lexicon_classifier import LexiconClassifier
from taoloop.observation.soft.partial import partial_answer
from taoloop.observation.soft.ports import MIN_CERTAINTY
from taoloop.observation.soft.texts import failure_texts
from taoloop.observation.stages.checks import check_empty, check_rules, check_schema, check_success
from taoloop.observation.stages.consistency import Expectations, check_consistency
from taoloop.observation.stages.model import Flaw, Outcome
from taoloop.observation.stages.status import check_status, has_own_response_time, is_pending, read_body
from taoloop.observation.verdict import Presentation, Trail, pending, verdict
from taoloop.plan.acting import ActionResult
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.tools.rules import RuleScope
from taoloop.tools.schemas import CompiledSchema

_UNCHANGED: Final = Outcome()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationPolicy:
    """What holds for every tool.

    Attributes:
        max_body_bytes: Largest body that is judged; a larger one is a failure and no work.
        max_exposed_bytes: Longest JSON text that is exposed of one result; what is more is cut.
        weights: How much results count that the tool itself did not give now.
        levels: Where the levels of the confidence begin.
        soft: What listens to the words of a tool, and how sure it must be.
        presentation: What verdicts need of it, made once.
    """

    max_body_bytes: int = 1024 * 1024
    max_exposed_bytes: int = DEFAULT_MAX_EXPOSED_BYTES
    weights: SourceWeights = field(default_factory=SourceWeights)
    levels: ConfidenceLevels = field(default_factory=ConfidenceLevels)
    soft: SoftCheck = field(default_factory=lambda: SoftCheck(LexiconClassifier(), MIN_CERTAINTY))
    presentation: Presentation = field(init=False, repr=False)

    def __post_init__(self) -> None:
        presentation = Presentation(levels=self.levels, max_exposed_bytes=self.max_exposed_bytes)
        object.__setattr__(self, "presentation", presentation)


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One result and all that it is judged by.

    Attributes:
        request: The request; its result is `result`.
        result: What the action service returned.
        checks: The checks of the tool that answered.
        policy: What holds for every tool.
        schemas: What the data must fit besides the contract: the step's schema, or that of the tool stood in for.
        refused: Expectations of the plan that cannot be read.
    """

    request: ObserveRequest
    result: ActionResult
    checks: ContractChecks
    policy: ObservationPolicy
    schemas: Sequence[CompiledSchema] = ()
    refused: Sequence[Flaw] = ()


def judge(judgement: Judgement) -> ObservationResult:
    """Return the verdict; the same judgement always gives the same one, and no body makes it raise."""
    result = judgement.result
    source = judgement.checks.sources[result.trust, result.served_by]
    if is_pending(result):
        return pending(result, source.trust)
    trail = Trail()
    _judge_body(judgement, trail)
    return verdict(result, trail, source, judgement.policy.presentation, judgement.request.projection)


def _judge_body(judgement: Judgement, trail: Trail) -> None:
    """Run the stages in order; each runs only on what the ones before accepted."""
    result, checks = judgement.result, judgement.checks
    if not trail.add(check_status(result)):
        return _listen(judgement, trail, result.parsed)
    judgeable, read = read_body(result, judgement.policy.max_body_bytes)
    if not trail.add(read) or judgeable is None:
        return None
    body = judgeable.value
    scope = _scope(judgement, body)
    if not trail.add(check_success(checks.success, scope)):
        return _listen(judgement, trail, body)
    if not trail.add(check_empty(body, accepts_empty=checks.accepts_empty, allows_null=checks.allows_null)):
        return None
    if has_own_response_time(result):
        trail.drift = drift_of(checks.seen, body)
    is_accepted_null = body is None and checks.accepts_empty
    if not is_accepted_null and not trail.add(check_schema(checks.schema, body)):
        return None
    relevant, kept = _relevant(judgement, trail, body)
    if relevant is ABSENT:
        return None
    data, normalised = (relevant, _UNCHANGED) if checks.normaliser is None else checks.normaliser.apply(relevant)
    if kept and normalised.flaws and checks.relevance is not None:
        normalised = checks.relevance.in_body(normalised, kept)
    if not trail.add(normalised) or data is ABSENT:
        return None
    trail.data = data
    return _judge_data(judgement, trail, data, scope)


def _relevant(judgement: Judgement, trail: Trail, body: JsonValue) -> tuple[Json, tuple[int, ...]]:
    """Return the body with the hits that count, absent when it should have some and has none, and where they stood."""
    relevance = judgement.checks.relevance
    if relevance is None or body is None:
        return body, ()
    relevant = relevance.check(body)
    trail.note = relevant.note
    return (relevant.body if trail.add(relevant.outcome) else ABSENT), relevant.kept


def _judge_data(judgement: Judgement, trail: Trail, data: JsonValue, scope: RuleScope) -> None:
    """Run the checks that do not depend on one another, so that the verdict lists every failure."""
    request, checks = judgement.request, judgement.checks
    expect = None if request.expect is ABSENT else request.expect
    scope.add("data", data)
    scope.add("expect", expect)
    rules = check_rules(checks.rules, scope)
    trail.add(rules.outcome)
    trail.count_soft(rules.soft_passed, rules.soft_total)
    if checks.max_latency_seconds is not None and has_own_response_time(judgement.result):
        delay = check_delay(checks.max_latency_seconds, judgement.result.response_time_seconds)
        trail.add(delay.outcome)
        trail.count_soft(delay.credit, 1)
    _listen(judgement, trail, scope.values["body"])
    expectations = Expectations(
        expect=request.expect,
        snapshot=request.state_snapshot,
        arguments=request.arguments,
        known=checks.known,
        schemas=judgement.schemas,
        refused=judgement.refused,
    )
    consistency = check_consistency(data, expectations)
    trail.consistency = consistency.consistency
    if consistency.drift:
        trail.drift = together(trail.drift, consistency.drift)
    trail.add(consistency.outcome)


def _listen(judgement: Judgement, trail: Trail, body: Json) -> None:
    """Hear what the tool says of itself: its words make no result valid, and lower the soft score when they are sure.

    Words that are not sure count for nothing, neither for the result nor against it; a form that says so counts.
    """
    texts = failure_texts(body)
    if not texts:
        return
    if trail.flaws and trail.flaws[0].failure.hard and trail.data is ABSENT:
        trail.flaws[0] = with_words(trail.flaws[0], texts)
    said = judgement.policy.soft.look_at(texts)
    if said is not None:
        trail.label = said.label
        doubt: Flaw | None = said.flaw
    else:
        doubt = None if trail.data is ABSENT else partial_answer(body)
    if doubt is not None:
        trail.flaws.append(doubt)
        trail.count_soft(0.0, 1)


def _scope(judgement: Judgement, body: JsonValue) -> RuleScope:
    arguments = judgement.request.arguments
    return RuleScope(
        {
            "status_code": judgement.result.status_code,
            "response_time_seconds": judgement.result.response_time_seconds,
            "body": body,
            "arguments": None if arguments is ABSENT else arguments,
        }
    )
