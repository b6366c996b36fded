"""At most once: a write is recorded before it leaves, and its repeat gets the recorded outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from taoloop.action.faulting import action_fault, unknown_outcome
from taoloop.action.ledger.approvals import LeaveLost
from taoloop.action.ledger.effects import Claim, EffectIntent
from taoloop.action.ledger.idempotency import idempotency_key
from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.result_text import request_digest, result_from_text, result_to_text
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, RunConflict
from taoloop.core.exact_json import ABSENT, JsonEncodeError
from taoloop.core.faults import FaultCode
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, ServedBy
from taoloop.plan.effects import EffectState

_log = EventLog(__name__)

FIRST_PAUSE_SECONDS: Final = 0.05
LONGEST_PAUSE_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 5.0
"""How long a call that has not left waits for a store that does not answer; then its caller may try again."""
REPLY_SECONDS: Final = 0.25
"""Time kept for telling the caller what came of the call, although the store does not take the outcome."""

_STATES: Final = {
    ActionStatus.SUCCEEDED: EffectState.SUCCEEDED,
    ActionStatus.FAILED: EffectState.FAILED,
    ActionStatus.TIMED_OUT: EffectState.FAILED,
    ActionStatus.REJECTED: EffectState.FAILED,
    # A job that was accepted runs outside; until it is asked about, nobody knows.
    ActionStatus.PENDING: EffectState.UNKNOWN,
    ActionStatus.OUTCOME_UNKNOWN: EffectState.UNKNOWN,
}
_SURELY_AT_HOME: Final = frozenset(
    {
        FaultCode.TOOL_UNREACHABLE,
        FaultCode.POOL_EXHAUSTED,
        FaultCode.CREDENTIAL_MISSING,
        FaultCode.CREDENTIAL_REFUSED,
    }
)
"""Outcomes of an attempt of which no byte has left."""

Attempt = Callable[[], Awaitable[ActionResult]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCall:
    """One call that writes, or that needs leave, ready to be made."""

    request: ExecuteRequest
    context: CallContext
    blank: ActionResult
    """The envelope with its ids and nothing else, to build refusals from."""
    approval_id: str = ""
    """The leave that the call uses up; empty when it needs none."""
    arguments_text: str = ""
    """The arguments as JSON, where the contract says how an unknown outcome is looked up."""

    @property
    def idempotency_key(self) -> str:
        """The key that the tool is told, where its contract declares a place for it."""
        request = self.request
        return idempotency_key(
            self.context.tenant, request.run_id, request.step_id, request.tool, self.blank.arguments_hash
        )


class WriteGuard:
    """Stands between the policies and the attempts of every call that writes.

    Args:
        ledger: Where intents and outcomes are kept.
        clock: Times the pauses between looks at the ledger.
        metrics: Counts outcomes that the ledger did not take.
    """

    def __init__(self, ledger: EffectLedger, clock: Clock, metrics: Metrics) -> None:
        self._ledger = ledger
        self._clock = clock
        self._lost = metrics.counter(names.EFFECT_OUTCOMES_LOST)
        self._in_progress: dict[str, asyncio.Future[ActionResult]] = {}
        self._never_left: set[str] = set()

    @property
    def in_progress(self) -> frozenset[str]:
        """The effects on which this process works."""
        return frozenset(self._in_progress)

    async def once(self, call: WriteCall, attempt: Attempt) -> ActionResult:
        """Make the attempt unless the same write was made before in the run.

        A call that another process makes at this moment is waited for, as long as the caller can wait.

        Raises:
            BackendUnavailable: The ledger does not answer; nothing has left.
            RequestIdReused: The request id came before with another body.
        """
        pause = FIRST_PAUSE_SECONDS
        while True:
            claim = await self._patiently(call, lambda: self._ledger.plan(_intent(call)))
            if self._may_go_on(claim) and not claim.is_new and not _is_same_step(call, claim):
                # Planned by another step and not made: whoever looks it up would ask with the other step's key.
                self._never_left.add(claim.entry.effect.effect_id)
            if self._may_go_on(claim):
                result = await self._made(call, claim.entry.effect.effect_id, attempt)
            else:
                result = await self._repeated(call, claim)
            if result is not None:
                return result
            if call.context.deadline.remaining_seconds() <= pause:
                return _lost(call, claim.entry.effect.effect_id)
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def settle_leftovers(self) -> None:
        """Settle the calls of this process that were planned or started and surely never left.

        Raises:
            BackendUnavailable: The ledger does not answer; those left over stay for the next time.
        """
        for effect_id in tuple(self._never_left):
            if effect_id in self._never_left and effect_id not in self._in_progress:  # both change while we wait
                await self._give_up(effect_id)

    async def _give_up(self, effect_id: str) -> None:
        """Settle a call that never left. It is in progress meanwhile, so that nobody starts it under our hand.

        It is never started again, only planned anew: what the store did not confirm it may still do later.
        """
        with self._working_on(effect_id):
            await self._ledger.finish(effect_id, EffectState.FAILED, "", has_left=False)
            self._never_left.discard(effect_id)

    @contextmanager
    def _working_on(self, effect_id: str) -> Iterator[asyncio.Future[ActionResult]]:
        """Keep everybody else from an effect; give the future of the result for which they wait meanwhile."""
        outcome: asyncio.Future[ActionResult] = asyncio.get_running_loop().create_future()
        self._in_progress[effect_id] = outcome
        try:
            yield outcome
        finally:
            del self._in_progress[effect_id]
            outcome.cancel()

    def _may_go_on(self, claim: Claim) -> bool:
        """Tell whether the call may be made: it is ours, and nobody began to make it."""
        effect = claim.entry.effect
        is_begun = effect.effect_id in self._in_progress or effect.effect_id in self._never_left
        return claim.is_ours and effect.state is EffectState.PLANNED and not is_begun

    async def _made(self, call: WriteCall, effect_id: str, attempt: Attempt) -> ActionResult | None:
        """Make the call; None when another process took it over."""
        with self._working_on(effect_id) as outcome:
            self._never_left.add(effect_id)
            try:
                has_started = await self._has_started(call, effect_id)
            except LeaveLost:
                await self._finish(call, effect_id, EffectState.FAILED, "", has_left=False)
                self._never_left.discard(effect_id)
                return _without_leave(call)
            self._never_left.discard(effect_id)
            if not has_started:
                return None
            result = await self._recorded(call, effect_id, attempt)
            outcome.set_result(result)
            return result

    async def _has_started(self, call: WriteCall, effect_id: str) -> bool:
        """Record that the call may leave, whatever becomes of the store's replies; False when it is not ours any more.

        Raises:
            LeaveLost: The approval is not good for the call.
        """
        if await self._patiently(call, lambda: self._ledger.start(effect_id, call.approval_id)):
            return True
        # Started by this process, and not left: the record was made, and the word of it was lost on the way.
        claim = await self._patiently(call, lambda: self._ledger.plan(_intent(call)))
        effect = claim.entry.effect
        return claim.is_ours and (effect.effect_id, effect.state) == (effect_id, EffectState.STARTED)

    async def _recorded(self, call: WriteCall, effect_id: str, attempt: Attempt) -> ActionResult:
        try:
            result = replace(await attempt(), effect_id=effect_id)
        except BaseException:
            # Cancelled in the middle: the request may have left. What cannot be recorded now stays STARTED,
            # which the next sight of it reads as unknown.
            await asyncio.shield(self._finish(None, effect_id, EffectState.UNKNOWN, ""))
            raise
        state, text = _STATES[result.status], _text(result)
        await asyncio.shield(self._finish(call, effect_id, state, text, has_left=_has_left(result)))
        return result

    async def _finish(
        self, call: WriteCall | None, effect_id: str, state: EffectState, text: str, *, has_left: bool = True
    ) -> None:
        """Record an outcome while the caller can wait, once without a caller.

        A store that does not take it costs the record, not the result that the caller waits for.
        """

        async def finish() -> bool:
            return await self._ledger.finish(effect_id, state, text, has_left=has_left)

        try:
            if call is None:
                await finish()
            else:
                seconds = max(0.0, call.context.deadline.remaining_seconds() - REPLY_SECONDS)
                await self._within(seconds, finish)
        except BackendUnavailable:
            self._lost.inc()
            _log.exception("effect_outcome_lost", effect_id=effect_id, state=state)

    async def _patiently(self, call: WriteCall, action: Callable[[], Awaitable[T]]) -> T:
        """Repeat what the store did not answer, for a while: nothing has left yet."""
        return await self._within(call.context.deadline.bounded(PATIENCE_SECONDS), action)

    async def _within(self, seconds: float, action: Callable[[], Awaitable[T]]) -> T:
        last = self._clock.monotonic() + seconds
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return await action()
            except (BackendUnavailable, RunConflict):
                if self._clock.monotonic() + pause >= last:
                    raise
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _repeated(self, call: WriteCall, claim: Claim) -> ActionResult | None:
        """Return what a repeat is told; None when the call is being made elsewhere and has to be looked at again."""
        effect = claim.entry.effect
        if effect.effect_id in self._never_left and effect.effect_id not in self._in_progress:
            await self._give_up(effect.effect_id)
            return None
        if not _is_same_step(call, claim):
            return _rejected(call, effect.effect_id, f"step {effect.step_id} made the same write; it is {effect.state}")
        if effect.state is EffectState.RECONCILED:
            return _rejected(call, effect.effect_id, f"{effect.resolved_by} settled that the write took place")
        running = self._in_progress.get(effect.effect_id)
        if running is not None:
            return await self._awaited(call, running)
        if effect.state in {EffectState.PLANNED, EffectState.STARTED}:
            if not claim.is_ours:
                return None
            # Ours, and no longer in progress: its outcome was lost, for example with the store.
            await self._ledger.finish(effect.effect_id, EffectState.UNKNOWN, "")
        if claim.entry.result_text:
            return replace(result_from_text(claim.entry.result_text), served_by=ServedBy.DUPLICATE)
        return _lost(call, effect.effect_id)

    async def _awaited(self, call: WriteCall, running: asyncio.Future[ActionResult]) -> ActionResult | None:
        """Share the outcome of the same call that is being made now, as long as this caller can wait."""
        await asyncio.wait([running], timeout=call.context.deadline.remaining_seconds())
        if running.done() and not running.cancelled():
            return replace(running.result(), served_by=ServedBy.DUPLICATE)
        return None

    def __repr__(self) -> str:
        return f"WriteGuard(in_progress={len(self._in_progress)}, never_left={len(self._never_left)})"


def _intent(call: WriteCall) -> EffectIntent:
    return EffectIntent(
        tenant=call.context.tenant,
        run_id=call.request.run_id,
        step_id=call.request.step_id,
        iteration=call.request.iteration,
        tool=call.request.tool,
        arguments_hash=call.blank.arguments_hash,
        request_id=call.request.request_id,
        request_digest=request_digest(call.request),
        idempotency_key=call.idempotency_key,
        arguments_text=call.arguments_text,
    )


def _is_same_step(call: WriteCall, claim: Claim) -> bool:
    effect = claim.entry.effect
    return (effect.step_id, effect.iteration) == (call.request.step_id, call.request.iteration)


def _text(result: ActionResult) -> str:
    """Return the envelope for the ledger, without a payload that cannot be written; empty if nothing of it can be."""
    body = replace(result.body, truncated=True) if result.body is not None else None
    for envelope in (result, replace(result, parsed=ABSENT, raw=None, body=body)):
        try:
            return result_to_text(envelope)
        except JsonEncodeError:
            _log.warning("effect_result_not_written", effect_id=result.effect_id)
    return ""


def _has_left(result: ActionResult) -> bool:
    """Tell whether a byte of the call may have left; if in doubt, it has."""
    return any(attempt.outcome not in _SURELY_AT_HOME for attempt in result.attempts)


def _rejected(call: WriteCall, effect_id: str, why: str) -> ActionResult:
    fault = action_fault(FaultCode.REPEATED_WRITE, f"Not called: {why}.")
    return replace(call.blank, status=ActionStatus.REJECTED, effect_id=effect_id, fault=fault)


def _without_leave(call: WriteCall) -> ActionResult:
    fault = action_fault(FaultCode.APPROVAL_UNUSABLE, "Not called: the leave for it was used, withdrawn or lapsed.")
    return replace(call.blank, status=ActionStatus.REJECTED, approval_id=call.approval_id, fault=fault)


def _lost(call: WriteCall, effect_id: str) -> ActionResult:
    cause = action_fault(FaultCode.REPEATED_WRITE, "the call was begun before, and its outcome was not recorded.")
    return replace(
        call.blank,
        status=ActionStatus.OUTCOME_UNKNOWN,
        served_by=ServedBy.DUPLICATE,
        effect_id=effect_id,
        fault=unknown_outcome(cause),
    )
