"""Executes one call through the stages: checks, ledger or cache, attempts, stand-ins, envelope."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import Any

from opentelemetry.trace import Span

from taoloop.action.attempts import AttemptLoop, Switches
from taoloop.action.fallbacks import Fallbacks
from taoloop.action.ledger.approval_gate import ApprovalGate, Leave
from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.ledger.write_guard import WriteCall, WriteGuard
from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.action.policies import objections
from taoloop.action.policies.cached_reads import CachedReads
from taoloop.action.policies.guards import Guards
from taoloop.action.policies.read_cache import MAX_BYTES
from taoloop.action.policies.recent import RecentAnswers
from taoloop.action.policies.sanitising import Sanitiser
from taoloop.action.ports import Transport
from taoloop.action.transports.jobs.desk import JobDesk, no_jobs
from taoloop.core import exact_json
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.errors import CatalogueMismatch
from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault
from taoloop.core.logs import EventLog, log_context
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.metrics import counting, observing
from taoloop.core.telemetry.names import Attribute, Operation
from taoloop.core.telemetry.tracing import mark_failed
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, ServedBy
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.signature import Effect, Trust

_log = EventLog(__name__)

_UNKNOWN_TOOL_LABEL = "unknown"

Stages = Callable[[CheckedCall], Coroutine[Any, Any, ActionResult]]
"""What a checked call goes through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorOptions:
    """What an executor does without unless it is given.

    Attributes:
        random: Draws the pauses between attempts.
        switches: The operator's kill switches; None for none.
        cache_bytes: Most bytes of answers in the read cache.
        jobs: Answers for jobs that are pending; None where no tool has jobs.
        approvals: Asks for leave; None asks where the contracts say so and by no rule of the operator.
    """

    random: Random = field(default_factory=Random)
    switches: Switches | None = None
    cache_bytes: int = MAX_BYTES
    jobs: JobDesk | None = None
    approvals: ApprovalGate | None = None


class Executor:
    """Calls tools by their contracts.

    A call passes: contract → permissions → provenance and taint → sanitising → leave → ledger intent, or the read
    cache → attempts, each under switch, breaker and limiter → fallback → envelope → ledger outcome. It has no model,
    takes no business decision and does not judge the response's schema.

    Args:
        catalogue: The tools.
        transport: The way to them.
        ledger: Where calls that write are recorded.
        telemetry: Counts calls and makes the `execute_tool` span.
        clock: Measures attempts.
        options: What may be left out.

    Attributes:
        guards: Breakers, limiters and retry budgets, for what is listed and published.
        write_guard: Knows the writes that are in progress.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        transport: Transport,
        ledger: EffectLedger,
        telemetry: Telemetry,
        clock: Clock,
        options: ExecutorOptions | None = None,
    ) -> None:
        options = ExecutorOptions() if options is None else options
        metrics = telemetry.metrics
        self.guards = Guards(catalogue.bases, metrics, clock)
        self._catalogue = catalogue
        self.write_guard = WriteGuard(ledger, clock, metrics)
        self._approvals = ApprovalGate(ledger.approvals, metrics) if options.approvals is None else options.approvals
        self._telemetry = telemetry
        self._clock = clock
        self._jobs = options.jobs
        self._recent: RecentAnswers[ActionResult | Outcome] = RecentAnswers(clock)
        self._sanitiser = Sanitiser(catalogue)
        self._cached = CachedReads(metrics, clock, options.cache_bytes)
        self._attempts = AttemptLoop(transport, self.guards, clock, options.random, options.switches)
        self._fallbacks = Fallbacks(catalogue, self._cached, self._served, metrics)
        calls, duration = metrics.counter(names.ACTION_CALLS), metrics.histogram(names.ACTION_DURATION)
        self._tools = {tool.contract.name: tool for tool in catalogue}
        self._stages = {name: self._stages_of(tool) for name, tool in self._tools.items()}
        self._span_of = cache(names.tool_span)
        # Kept, since to look labels up costs more than to count; there are as many as tools, statuses and faults.
        self._reports = cache(
            lambda tool, status, code: (
                counting(calls.labels(tool=tool, status=status)),
                observing(duration.labels(tool=tool)),
                _log.bound("tool_call_ended", tool=tool, status=status, fault_code=code),
            )
        )

    async def execute(self, request: ExecuteRequest, call: CallContext) -> ActionResult:
        """Make the call, or say why not; whatever comes back is one envelope.

        Idempotent by `request_id`: the same id with the same request returns the first result. For writes the
        ledger keeps it; for reads this process does, for a while, and makes the call again afterwards.

        Raises:
            CatalogueMismatch: The request was planned against another catalogue.
            RequestIdReused: The id came before with another request.
            BackendUnavailable: The ledger does not answer; a write was not made.
        """
        if request.catalogue_digest not in {"", self._catalogue.digest}:
            raise CatalogueMismatch.of(request.catalogue_digest[:64], self._catalogue.digest)
        tool = self._tools.get(request.tool)
        label = request.tool if tool is not None else _UNKNOWN_TOOL_LABEL
        began = self._clock.monotonic()
        with (
            log_context(run_id=request.run_id, thought_id=request.thought_id),
            self._telemetry.tracing.span(self._span_of(label), lambda: _attributes(request, label, tool)) as span,
        ):
            checked = self._checked(request, call, tool, began)
            if isinstance(checked, ActionResult):
                result = checked
            else:
                stages = self._stages[label] if request.job_handle is ABSENT else self._job
                result = await stages(checked)
                if self._jobs is not None and result.job_handle is not ABSENT:
                    result = self._jobs.sealed(result, checked)
            if result.total_time_seconds is None:
                result = replace(result, total_time_seconds=max(0.0, self._clock.monotonic() - began))
            self._report(result, label, span)
        return result

    def _report(self, result: ActionResult, label: str, span: Span) -> None:
        fault_code = "" if result.fault is None else str(result.fault.code)
        seconds = result.total_time_seconds or 0.0
        if span.is_recording():
            span.set_attribute(Attribute.ACTION_STATUS, result.status)
            if fault_code:
                span.set_attribute(Attribute.FAULT_CODE, fault_code)
                mark_failed(span, fault_code)
        count, observe, ended = self._reports(label, result.status, fault_code)
        count()
        observe(seconds)
        ended.info(seconds=seconds)

    def _checked(
        self, request: ExecuteRequest, context: CallContext, tool: CompiledTool | None, began: float
    ) -> CheckedCall | ActionResult:
        """Return the call, or its refusal."""
        arguments: Json = {} if request.arguments is ABSENT else request.arguments
        if tool is None:
            return _rejected(request, None, arguments, objections.unknown_tool(request, self._catalogue))
        objection = objections.objection(request, tool, arguments)
        if objection is not None:
            return _rejected(request, tool, arguments, objection)
        assert isinstance(arguments, dict)
        limit = request.timeout_seconds
        return CheckedCall(
            request=request,
            context=context,
            tool=tool,
            arguments=arguments,
            arguments_hash=exact_json.digest(arguments),
            deadline=context.deadline if limit is None else context.deadline.shortened(limit),
            began=began,
        )

    def _stages_of(self, tool: CompiledTool) -> Stages:
        """Return the stages that a new call of a tool goes through, those that its contract switches on."""
        if tool.contract.effect is not Effect.READ:
            return self._served
        return self._plain_read if self._is_plain(tool) else self._read

    async def _job(self, call: CheckedCall) -> ActionResult:
        """Ask about a job. Neither ledger nor cache stands before it: the call that was made was its creation."""
        if self._jobs is None:
            return Outcome(status=ActionStatus.REJECTED, fault=no_jobs()).envelope(call)
        safe = self._sanitiser.safe(call)
        opened = safe if isinstance(safe, Fault) else self._jobs.opened(safe)
        if isinstance(opened, Fault):
            return Outcome(status=ActionStatus.REJECTED, fault=opened).envelope(call)
        return await self._jobs.ask(opened, self._attempts.run)

    async def _read(self, call: CheckedCall) -> ActionResult:
        tenant, request, arguments_hash = call.context.tenant, call.request, call.arguments_hash
        earlier = self._recent.find(tenant, request, arguments_hash)
        if earlier is not None:
            return _repeated(earlier, call)
        result = await self._served(call)
        if result.status is not ActionStatus.APPROVAL_REQUIRED:
            self._recent.add(tenant, request, arguments_hash, result, _size_of(result))
        return result

    async def _plain_read(self, call: CheckedCall) -> ActionResult:
        """Make a read before whose attempts nothing stands: what `_read` and `_served` do of it, in one step."""
        tenant, request, arguments_hash = call.context.tenant, call.request, call.arguments_hash
        earlier = self._recent.find(tenant, request, arguments_hash)
        if earlier is not None:
            return _repeated(earlier, call)
        outcome = await self._attempts.run(call)
        if outcome.fault is not None:
            outcome = await self._fallbacks.instead_of(call, outcome)
        began = call.began
        result = outcome.envelope(call, None if began is None else max(0.0, self._clock.monotonic() - began))
        size_bytes = 0 if outcome.body is None else outcome.body.size_bytes
        self._recent.add(tenant, request, arguments_hash, outcome.packed(), size_bytes)
        return result

    async def _once(self, call: CheckedCall, leave: Leave | None) -> ActionResult:
        """Make a call that must not be made twice: it writes, or it has leave for one call."""
        guarded = WriteCall(
            request=call.request,
            context=call.context,
            blank=Outcome(status=ActionStatus.REJECTED).envelope(call),
            approval_id="" if leave is None else leave.approval_id,
            arguments_text="" if call.tool.took_place is None else exact_json.dumps(call.arguments),
        )
        return await self.write_guard.once(guarded, lambda: self._made(call))

    async def _served(self, call: CheckedCall) -> ActionResult:
        """Make a checked call with everything that belongs to it; fallbacks come this way too."""
        safe = self._sanitiser.safe(call)
        if isinstance(safe, Fault):
            return Outcome(status=ActionStatus.REJECTED, fault=safe).envelope(call)
        call = safe
        leave = await self._approvals.check(call)
        if isinstance(leave, Outcome):
            return leave.envelope(call)
        if call.writes or leave is not None:
            return await self._once(call, leave)
        fresh = self._cached.fresh(call)
        if fresh is not None:
            return fresh.envelope(call)
        return await self._made(call)

    async def _made(self, call: CheckedCall) -> ActionResult:
        """Make the attempts, and look for a stand-in where they failed."""
        outcome = await self._attempts.run(call)
        if outcome.fault is None:
            self._cached.keep(call, outcome)
        else:
            outcome = await self._fallbacks.instead_of(call, outcome)
        # A write is timed when the ledger has taken its outcome, a stand-in with the call for which it stands in.
        return outcome.envelope(call) if call.writes else self._timed(outcome, call)

    def _timed(self, outcome: Outcome, call: CheckedCall) -> ActionResult:
        if call.began is None:
            return outcome.envelope(call)
        return outcome.envelope(call, max(0.0, self._clock.monotonic() - call.began))

    def _is_plain(self, tool: CompiledTool) -> bool:
        """Tell whether nothing stands between a read and its attempts: no sanitising, no leave, no cache."""
        contract = tool.contract
        is_bare = contract.effect is Effect.READ and contract.cache is None
        return is_bare and not self._sanitiser.concerns(tool) and not self._approvals.concerns(tool)

    def __repr__(self) -> str:
        return f"Executor(tools={len(self._catalogue)}, guard={self.write_guard!r}, attempts={self._attempts!r})"


def _repeated(earlier: ActionResult | Outcome, call: CheckedCall) -> ActionResult:
    """Return the answer to the same request, made before."""
    result = earlier.unpacked().envelope(call) if isinstance(earlier, Outcome) else earlier
    return replace(result, served_by=ServedBy.DUPLICATE, total_time_seconds=None)


def _size_of(result: ActionResult) -> int:
    return 0 if result.body is None else result.body.size_bytes


def _rejected(request: ExecuteRequest, tool: CompiledTool | None, arguments: Json, fault: Fault) -> ActionResult:
    return ActionResult(
        run_id=request.run_id,
        thought_id=request.thought_id,
        step_id=request.step_id,
        tool=request.tool,
        contract_digest=tool.contract.digest if tool else "",
        arguments_hash=exact_json.digest(arguments),
        status=ActionStatus.REJECTED,
        trust=tool.contract.trust if tool else Trust.UNTRUSTED,
        fault=fault,
    )


def _attributes(request: ExecuteRequest, label: str, tool: CompiledTool | None) -> dict[Attribute, str | int | None]:
    return {
        Attribute.OPERATION_NAME: Operation.EXECUTE_TOOL,
        Attribute.TOOL_NAME: label,
        Attribute.TOOL_TYPE: "function",
        Attribute.RUN_ID: request.run_id,
        Attribute.THOUGHT_ID: request.thought_id,
        Attribute.RUN_ITERATION: request.iteration,
        Attribute.STEP_ID: request.step_id,
        Attribute.ACTION_EFFECT: tool.contract.effect.value if tool else None,
    }
