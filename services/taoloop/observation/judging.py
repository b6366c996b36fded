"""The pipeline of one observation: status, parse, success, empty, schema, normalise, rules, latency, consistency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.observation.compiled import ContractChecks
from taoloop.observation.confidence import SourceWeights, source_weight
from taoloop.observation.stages.checks import check_empty, check_latency, check_rules, check_schema, check_success
from taoloop.observation.stages.consistency import Expectations, check_consistency
from taoloop.observation.stages.model import Flaw
from taoloop.observation.stages.normalisers import normalise
from taoloop.observation.stages.status import check_status, has_own_response_time, is_pending, read_body
from taoloop.observation.verdict import Source, Trail, pending, verdict
from taoloop.plan.acting import ActionResult
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.tools.contract import UNTRUSTED_WEIGHT
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationPolicy:
    """What holds for every tool.

    Attributes:
        max_body_bytes: Largest body that is judged; a larger one is a failure and no work.
        weights: How much results count that the tool itself did not give now.
    """

    max_body_bytes: int = 1024 * 1024
    weights: SourceWeights = field(default_factory=SourceWeights)


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
    source = _source(judgement)
    if is_pending(judgement.result):
        return pending(judgement.result, source.trust)
    trail = Trail()
    _judge_body(judgement, trail)
    return verdict(judgement.result, trail, source)


def _judge_body(judgement: Judgement, trail: Trail) -> None:
    """Run the stages in order; each runs only on what the ones before accepted."""
    result, checks = judgement.result, judgement.checks
    if not trail.add(check_status(result)):
        return
    judgeable, read = read_body(result, judgement.policy.max_body_bytes)
    if not trail.add(read) or judgeable is None:
        return
    body = judgeable.value
    scope = _scope(judgement, body)
    if not trail.add(check_success(checks.success, scope)):
        return
    if not trail.add(check_empty(body, accepts_empty=checks.accepts_empty, allows_null=checks.allows_null)):
        return
    is_accepted_null = body is None and checks.accepts_empty
    if not is_accepted_null and not trail.add(check_schema(checks.schema, body)):
        return
    data, normalised = normalise(body, checks.normalisers)
    if not trail.add(normalised) or data is ABSENT:
        return
    trail.data = data
    _judge_data(judgement, trail, data, scope)


def _judge_data(judgement: Judgement, trail: Trail, data: JsonValue, scope: dict[str, JsonValue]) -> None:
    """Run the checks that do not depend on one another, so that the verdict lists every failure."""
    request, checks = judgement.request, judgement.checks
    expect = None if request.expect is ABSENT else request.expect
    rules = check_rules(checks.rules, {**scope, "data": data, "expect": expect})
    trail.add(rules.outcome)
    soft_passed, soft_total = rules.soft_passed, rules.soft_total
    if checks.max_latency_seconds is not None and has_own_response_time(judgement.result):
        is_fast = trail.add(check_latency(checks.max_latency_seconds, judgement.result.response_time_seconds))
        soft_passed, soft_total = soft_passed + is_fast, soft_total + 1
    trail.soft = (soft_passed, soft_total)
    expectations = Expectations(
        expect=request.expect, known=checks.known, schemas=judgement.schemas, refused=judgement.refused
    )
    trail.consistency, outcome = check_consistency(data, expectations)
    trail.add(outcome)


def _source(judgement: Judgement) -> Source:
    result, checks = judgement.result, judgement.checks
    is_trusted = result.trust is Trust.TRUSTED and checks.trust is Trust.TRUSTED
    trust = Trust.TRUSTED if is_trusted else Trust.UNTRUSTED
    # The contract's weight is that of its own trust; a result of less trust cannot count for more than the default.
    stated = checks.weight if trust is checks.trust else min(checks.weight, UNTRUSTED_WEIGHT)
    weight = source_weight(judgement.policy.weights, stated=stated, served_by=result.served_by)
    return Source(weight=weight, trust=trust, is_write=checks.is_write, exposed=checks.exposed)


def _scope(judgement: Judgement, body: JsonValue) -> dict[str, JsonValue]:
    arguments = judgement.request.arguments
    return {
        "status_code": judgement.result.status_code,
        "response_time_seconds": judgement.result.response_time_seconds,
        "body": body,
        "arguments": None if arguments is ABSENT else arguments,
    }
