"""Looks unknown outcomes up by the tool that the contract names for it; it reads and never writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from taoloop.action.errors import EffectSettled, NoLookUp
from taoloop.action.ledger.effects import LedgerEntry, Resolution
from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.policies import argument_templates
from taoloop.action.result_text import result_from_text
from taoloop.core import exact_json
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError
from taoloop.core.exact_json import Absent, JsonEncodeError, JsonValue
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, Provenance, ServedBy
from taoloop.plan.effects import EffectRecord, EffectState
from taoloop.plan.task import Permissions
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import Reconcile
from taoloop.tools.rules import CompiledRule, RuleData, Verdict
from taoloop.tools.signature import Effect, Trust

_log = EventLog(__name__)

LOOK_UP_STEP: Final = "look-up"
"""The step id of a look-up's call; no planner gives one without a dot."""

_NOT_NOW: Final = frozenset({408, 425, 429})
"""Statuses of 4xx by which a server puts off and says nothing."""

Execute = Callable[[ExecuteRequest, CallContext], Awaitable[ActionResult]]
"""Makes a call as the executor does, with its policies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often unknown effects are looked up.

    Attributes:
        settle_seconds: An effect younger than this, or whose tool's own timeout is not over yet, is not looked up: its
            call may still be under way, and what is not there yet may come.
        again_after_seconds: How long until the same effect is looked up again.
        timeout_seconds: How long one look-up may take.
        batch: Most look-ups of one round.
    """

    settle_seconds: float = 30.0
    again_after_seconds: float = 300.0
    timeout_seconds: float = 10.0
    batch: int = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look-up showed.

    Attributes:
        took_place: None when it did not tell.
        words: What was seen, for a person.
    """

    took_place: bool | None
    words: str


class Reconciler:
    """Settles unknown effects whose contract says how their outcome is looked up.

    Args:
        catalogue: The tools.
        ledger: Where the effects are.
        execute: Makes the look-up's call.
        clock: Tells the effects' age.
        metrics: Counts look-ups.
        pace: How often.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        ledger: EffectLedger,
        execute: Execute,
        clock: Clock,
        metrics: Metrics,
        pace: Pace,
    ) -> None:
        self._catalogue = catalogue
        self._ledger = ledger
        self._execute = execute
        self._clock = clock
        self._pace = pace
        self._count = metrics.counter(names.EFFECTS_LOOKED_UP)
        self._tools = frozenset(tool.contract.name for tool in catalogue if tool.took_place is not None)

    async def round(self) -> int:
        """Look up the effects whose turn it is, one after the other, and return how many were settled.

        Raises:
            BackendUnavailable: The ledger does not answer.
        """
        settled = 0
        if not self._tools:
            return settled
        for _ in range(self._pace.batch):
            not_after = self._clock.now() - timedelta(seconds=self._pace.again_after_seconds)
            entry = await self._ledger.next_look_up(self._tools, not_after)
            if entry is None:
                break
            effect, _ = await self._looked_up(entry)
            settled += effect.state is not EffectState.UNKNOWN
        return settled

    async def reconcile(self, tenant: str, effect_id: str) -> tuple[EffectRecord, Finding]:
        """Look one effect up now and return where it stands afterwards, and what was seen.

        Raises:
            UnknownEffect: The tenant has no such effect.
            EffectSettled: Its outcome is known, or its call is still being made.
            NoLookUp: Its tool's contract says nothing about a look-up.
        """
        entry = await self._ledger.get(tenant, effect_id)
        if entry.effect.state is not EffectState.UNKNOWN:
            raise EffectSettled.of(effect_id, entry.effect.state)
        if entry.effect.tool not in self._tools or not entry.arguments_text:
            raise NoLookUp.of(effect_id, entry.effect.tool)
        return await self._looked_up(entry)

    async def _looked_up(self, entry: LedgerEntry) -> tuple[EffectRecord, Finding]:
        finding = await self._finding(entry)
        outcome = {True: "took_place", False: "did_not", None: "unknown"}[finding.took_place]
        self._count.labels(tool=entry.effect.tool, outcome=outcome).inc()
        _log.info("effect_looked_up", effect_id=entry.effect.effect_id, tool=entry.effect.tool, outcome=outcome)
        if finding.took_place is None:
            return entry.effect, finding
        rules = self._tool(entry).contract.reconcile
        assert rules is not None
        resolution = Resolution(
            effect_id=entry.effect.effect_id,
            took_place=finding.took_place,
            resolved_by=f"reconcile:{rules.tool}",
            comment=finding.words,
        )
        try:
            return await self._ledger.resolve(entry.tenant, resolution), finding
        except EffectSettled:  # somebody was faster, or the call's own outcome came late
            return (await self._ledger.get(entry.tenant, entry.effect.effect_id)).effect, finding

    async def _finding(self, entry: LedgerEntry) -> Finding:
        tool = self._tool(entry)
        rules, rule = tool.contract.reconcile, tool.took_place
        assert rules is not None
        assert rule is not None
        arguments = exact_json.loads(entry.arguments_text) if entry.arguments_text else None
        if not isinstance(arguments, dict):
            return Finding(None, "The call's arguments were not recorded.")
        if entry.result_text and result_from_text(entry.result_text).status is ActionStatus.PENDING:
            return Finding(None, "The tool works on it; its job has to be asked about by its handle.")
        if self._is_under_way(entry, tool):
            return Finding(None, "The call may still be under way; look again later.")
        call = CallContext(
            deadline=Deadline.after(self._pace.timeout_seconds, self._clock), tenant=entry.tenant, request_id=""
        )
        try:
            result = await self._execute(self._request(entry, rules, arguments), call)
        except TaoError as error:
            return Finding(None, f"{rules.tool} could not be called: {error.reason}.")
        return _judged(self._catalogue.compiled(rules.tool), rules, rule, result, arguments)

    def _is_under_way(self, entry: LedgerEntry, tool: CompiledTool) -> bool:
        """Tell whether the call's own time may not be over; only what is surely over can be found not to be there."""
        since = entry.effect.updated_at or self._clock.now()
        seconds = max(self._pace.settle_seconds, tool.contract.timeout_seconds)
        return self._clock.now() - since < timedelta(seconds=seconds)

    def _tool(self, entry: LedgerEntry) -> CompiledTool:
        return self._catalogue.compiled(entry.effect.tool)

    def _request(self, entry: LedgerEntry, rules: Reconcile, arguments: Mapping[str, JsonValue]) -> ExecuteRequest:
        contract = self._catalogue.compiled(rules.tool).contract
        known = {**arguments, "idempotency_key": entry.effect.idempotency_key}
        template = argument_templates.same_names(contract, known) if rules.arguments is None else rules.arguments
        filled = argument_templates.fill(template, known)
        return ExecuteRequest(
            run_id=entry.effect.run_id,
            thought_id=entry.effect.effect_id,
            iteration=entry.effect.iteration,
            step_id=LOOK_UP_STEP,
            tool=rules.tool,
            arguments=filled,
            # The arguments passed every policy when the call itself was made; what is sent out now was sent out then.
            provenance=tuple(
                Provenance(pointer=f"/{name}", source="contract_value", trust=Trust.TRUSTED) for name in filled
            ),
            permissions=Permissions(max_effect=Effect.READ),
        )

    def __repr__(self) -> str:
        return f"Reconciler(tools={len(self._tools)}, pace={self._pace!r})"


def _judged(
    tool: CompiledTool, rules: Reconcile, rule: CompiledRule, result: ActionResult, arguments: dict[str, JsonValue]
) -> Finding:
    """Return what an answer says: only the tool's own, whole, of now and of the form that it promises counts.

    A wrong "did not take place" lets a write be made twice, so whatever is odd leaves the outcome unknown.
    """
    if result.served_by is not ServedBy.PRIMARY or not result.status_code:
        cause = f" ({result.fault.code})" if result.fault is not None else ""
        return Finding(None, f"{rules.tool} itself gave no answer{cause}.")
    oddity = _oddity(tool, rules, result)
    if oddity:
        return Finding(None, f"{rules.tool} answered {result.status_code}, {oddity}.")
    body = None if isinstance(result.parsed, Absent) else result.parsed
    try:
        data = RuleData({"status_code": result.status_code, "body": body, "arguments": arguments})
    except JsonEncodeError:
        return Finding(None, f"The answer of {rules.tool} nests too deep to be judged.")
    verdict = rule.verdict(data).verdict
    took_place = {Verdict.PASS: True, Verdict.FAIL: False}.get(verdict)
    what = {True: "it took place", False: "it did not take place", None: "that does not tell"}[took_place]
    return Finding(took_place, f"{rules.tool} answered {result.status_code}: {what}.")


def _oddity(tool: CompiledTool, rules: Reconcile, result: ActionResult) -> str:
    """Return why an answer must not be judged; empty when it may. A refusal such as 404 is an answer."""
    status = result.status_code
    if 400 <= status < 500 and status not in _NOT_NOW:
        return ""
    if not 200 <= status < 300:
        return "which says nothing about the effect"
    if result.body is not None and result.body.truncated:
        return "and the body was cut off"
    if isinstance(result.parsed, Absent):
        return "and the body is no JSON"
    if result.status is ActionStatus.SUCCEEDED and tool.response.violations(result.parsed):
        return "and the body breaks the response schema"
    absent = [path for path in _paths(rules.took_place) if not _has(result.parsed, path)]
    return f"and the body has no {absent[0]}" if absent else ""


def _paths(rule: JsonValue) -> Iterator[str]:
    """Yield the places of the body that a rule reads and gives no default for."""
    if isinstance(rule, dict):
        for operator, operand in rule.items():
            path = operand[0] if isinstance(operand, list) and len(operand) == 1 else operand
            if operator == "var" and isinstance(path, str) and path.startswith("body."):
                yield path.removeprefix("body.")
            yield from _paths(operand)
    elif isinstance(rule, list):
        for item in rule:
            yield from _paths(item)


def _has(body: JsonValue, path: str) -> bool:
    """Tell whether a body has something, if only null, at a dotted path."""
    for token in path.split("."):
        if isinstance(body, dict) and token in body:
            body = body[token]
        elif isinstance(body, list) and token.isdecimal() and int(token) < len(body):
            body = body[int(token)]
        else:
            return False
    return True
