"""Judges at once the results of one contract that pass every check, and leaves all others to the careful way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.observation.compiled import ContractChecks
from taoloop.observation.judging import Judgement, ObservationPolicy, judge
from taoloop.observation.normalising import Normaliser
from taoloop.observation.quick.member_source import written_changes
from taoloop.observation.quick.repeating import repeating
from taoloop.observation.quick.rules import Rules
from taoloop.observation.soft.partial import partial_answer
from taoloop.observation.soft.texts import failure_texts, is_saying
from taoloop.observation.stages.consistency import Expectations, check_consistency
from taoloop.observation.stages.model import Flaw
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.plan.observing import Consistency, ObservationResult, ObserveRequest
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Trust
from taoloop.values.refusals import ValueRefused

MAX_BYTES: Final = 64 * 1024
"""Largest body that is judged here, since what turns out not to pass is judged once more."""

_SUCCEEDED: Final = ActionStatus.SUCCEEDED
_WITHOUT_OWN_TIME: Final = frozenset({ServedBy.CACHE, ServedBy.DUPLICATE})


class ContractJudge:
    """Judges the results of one tool; shared by threads.

    Args:
        checks: The checks of its contract.
        policy: What holds for every tool.
    """

    def __init__(self, checks: ContractChecks, policy: ObservationPolicy) -> None:
        self.checks: Final = checks
        self._policy: Final = policy
        self._quick: Final = None if checks.relevance is not None else QuickJudge(checks, policy, self._carefully)

    def judge(
        self,
        request: ObserveRequest,
        result: ActionResult,
        schemas: Sequence[CompiledSchema] = (),
        refused: Sequence[Flaw] = (),
    ) -> ObservationResult:
        """Return the verdict on a result.

        Args:
            request: Its projection, if any, is one that the contract knows.
            result: The request's result, of this tool.
            schemas: What the data must fit besides the contract.
            refused: Expectations of the plan that cannot be read.
        """
        quick = None if self._quick is None or refused else self._quick.judge(request, result, schemas)
        return self._carefully(request, result, schemas, refused) if quick is None else quick

    def _carefully(
        self,
        request: ObserveRequest,
        result: ActionResult,
        schemas: Sequence[CompiledSchema],
        refused: Sequence[Flaw] = (),
    ) -> ObservationResult:
        judgement = Judgement(
            request=request,
            result=result,
            checks=self.checks,
            policy=self._policy,
            schemas=schemas,
            refused=refused,
        )
        return judge(judgement)


_OWN_FIELDS: Final = (
    *("step_id", "tool", "data"),
    *("exposed", "omitted", "omitted_count", "redacted", "exposed_is_cut"),
)
"""What the verdicts on sound results differ in."""

_Kind = tuple[Trust, ServedBy | None, bool, Consistency | None, bool]
Careful = Callable[[ObserveRequest, ActionResult, Sequence[CompiledSchema]], ObservationResult]


class QuickJudge:
    """The checks of one contract in the order of their cost, until one does not surely pass; threads may share it.

    A verdict with nothing but passed checks says the same of every such result, save its data. The first one is
    made by the careful way; those that follow repeat its words.

    Args:
        checks: The contract's checks, which set no lowest score.
        policy: What holds for every tool.
        careful: Judges any result of the tool.
    """

    def __init__(self, checks: ContractChecks, policy: ObservationPolicy, careful: Careful) -> None:
        self._careful: Final = careful
        self._max_bytes: Final = min(MAX_BYTES, policy.max_body_bytes)
        self._max_exposed_bytes: Final = policy.max_exposed_bytes
        self._has_schema: Final = checks.schema.is_valid
        self._novelties: Final = checks.seen.novelties
        self._max_latency_seconds: Final = checks.max_latency_seconds
        self._data_of: Final = None if checks.normaliser is None else _data_of(checks.normaliser)
        self._rules: Final = Rules(checks.success, [check.rule for check in checks.rules.rules])
        self._surely_pass: Final = self._rules.surely_pass
        self._silent: Final = _silent_names(checks.schema.schema)
        self._soft: Final = policy.soft
        self._known: Final = checks.known
        self._exposer: Final = checks.exposer
        self._words: dict[_Kind, Callable[..., ObservationResult]] = {}

    def judge(
        self, request: ObserveRequest, result: ActionResult, schemas: Sequence[CompiledSchema]
    ) -> ObservationResult | None:
        """Return the verdict on a result that passes every check, None on any other one; see `ContractJudge.judge`."""
        body = result.parsed
        if body is ABSENT or body is None or not self._has_right_envelope(result) or not self._has_schema(body):
            return None
        if result.served_by not in _WITHOUT_OWN_TIME and not self._is_in_time_and_familiar(result, body):
            return None
        data = self._sound_data(request, result, body)
        if data is ABSENT:
            return None
        consistency = None
        has_snapshot = request.state_snapshot is not ABSENT
        if self._known or schemas or has_snapshot or request.expect is not ABSENT:
            expectations = Expectations(
                expect=request.expect,
                snapshot=request.state_snapshot,
                arguments=request.arguments,
                known=self._known,
                schemas=schemas,
            )
            consistency = check_consistency(data, expectations).consistency
        if consistency is Consistency.BROKEN:
            return None
        kind = (result.trust, result.served_by, result.status_code == 0, consistency, has_snapshot)
        words = self._words.get(kind)
        if words is None:
            return self._learn(kind, request, result, schemas)
        return self._verdict(words, result, data, request.projection)

    def _sound_data(self, request: ObserveRequest, result: ActionResult, body: JsonValue) -> Json:
        """Return the data, absent where a value is refused, a rule may not pass, or the tool speaks of a failure."""
        data: Json = body
        if self._data_of is not None:
            try:
                data = self._data_of(body)
            except ValueRefused:
                return ABSENT
        code, time = result.status_code, result.response_time_seconds
        if data is ABSENT or not self._surely_pass(body, data, request.arguments, request.expect, code, time):
            return ABSENT
        if self._rules.has_others and not self._rules.others_pass(request, result, body, data):
            return ABSENT
        is_silent = isinstance(body, dict) and body.keys() <= self._silent
        return data if is_silent or not self._says_of_failure(body) else ABSENT

    def _has_right_envelope(self, result: ActionResult) -> bool:
        code, body = result.status_code, result.body
        if result.status is not _SUCCEEDED or result.fault is not None or code == 202:
            return False
        if body is None:
            if result.raw:  # the beginning of what is no JSON, beside JSON
                return False
        elif body.truncated or body.size_bytes > self._max_bytes:
            return False
        return 200 <= code < 300 or code == 0

    def _is_in_time_and_familiar(self, result: ActionResult, body: JsonValue) -> bool:
        limit, time = self._max_latency_seconds, result.response_time_seconds
        return (limit is None or (time is not None and time <= limit)) and not self._novelties(body)

    def _says_of_failure(self, body: JsonValue) -> bool:
        texts = failure_texts(body)
        return bool(texts) and (self._soft.look_at(texts) is not None or partial_answer(body) is not None)

    def _learn(
        self, kind: _Kind, request: ObserveRequest, result: ActionResult, schemas: Sequence[CompiledSchema]
    ) -> ObservationResult:
        verdict = self._careful(request, result, schemas)
        if verdict.valid and not verdict.failures and not verdict.drift:
            self._words[kind] = repeating(verdict, *_OWN_FIELDS)  # nothing of this result is kept
        return verdict

    def _verdict(
        self, words: Callable[..., ObservationResult], result: ActionResult, data: JsonValue, projection: str
    ) -> ObservationResult:
        at_once = None if projection else self._exposer.at_once(data, self._max_exposed_bytes)
        if at_once is not None:
            exposed, omitted = at_once
            return words(result.step_id, result.tool, data, exposed, omitted, len(omitted), (), False)
        shown = self._exposer.expose(data, projection, max_bytes=self._max_exposed_bytes)
        left_out = shown.omitted, shown.omitted_count
        return words(result.step_id, result.tool, data, shown.exposed, *left_out, shown.redacted, shown.is_cut)


def _data_of(normaliser: Normaliser) -> Callable[[JsonValue], Json]:
    """Return what makes the data, absent where a value is refused unless `ValueRefused` says so."""
    if normaliser.only is not None:
        return written_changes(normaliser.only)
    return lambda body: normaliser.apply(body)[0]


def _silent_names(schema: JsonValue) -> frozenset[str]:
    """Return the names of a body's members that the contract declares and under which no tool says what went wrong."""
    declared = schema.get("properties") if isinstance(schema, dict) else None
    return frozenset(name for name in declared if not is_saying(name)) if isinstance(declared, dict) else frozenset()
