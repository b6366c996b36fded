"""At most once: a write is recorded before it leaves, and its repeat gets the recorded outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from taoloop.action.faulting import action_fault, unknown_outcome
from taoloop.action.ledger.effects import EffectIntent, LedgerEntry
from taoloop.action.ports import EffectLedger
from taoloop.action.result_text import request_digest, result_from_text, result_to_text
from taoloop.core.calls import CallContext
from taoloop.core.errors import BackendUnavailable
from taoloop.core.faults import FaultCode
from taoloop.core.logs import EventLog
from taoloop.plan.acting import ActionResult, ActionStatus, EffectState, ExecuteRequest, ServedBy

_log = EventLog(__name__)

_STATES: Final = {
    ActionStatus.SUCCEEDED: EffectState.SUCCEEDED,
    ActionStatus.FAILED: EffectState.FAILED,
    ActionStatus.TIMED_OUT: EffectState.FAILED,
    ActionStatus.REJECTED: EffectState.FAILED,
    # A job that was accepted runs outside; until it is asked about, nobody knows.
    ActionStatus.PENDING: EffectState.UNKNOWN,
    ActionStatus.OUTCOME_UNKNOWN: EffectState.UNKNOWN,
}

Attempt = Callable[[], Awaitable[ActionResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCall:
    """One call that writes, ready to be made."""

    request: ExecuteRequest
    context: CallContext
    blank: ActionResult
    """The envelope with its ids and nothing else, to build refusals from."""


class WriteGuard:
    """Stands between the policies and the attempt of every call that writes.

    Args:
        ledger: Where intents and outcomes are kept.
    """

    def __init__(self, ledger: EffectLedger) -> None:
        self._ledger = ledger
        self._in_progress: dict[str, asyncio.Future[ActionResult]] = {}

    async def once(self, call: WriteCall, attempt: Attempt) -> ActionResult:
        """Make the attempt unless the same write was made before in the run.

        Raises:
            BackendUnavailable: The ledger does not answer; nothing has left.
            RequestIdReused: The request id came before with another body.
        """
        claim = await self._ledger.plan(_intent(call))
        effect_id = claim.entry.effect.effect_id
        if not claim.is_new or effect_id in self._in_progress:
            return await self._repeated(call, claim.entry)
        outcome: asyncio.Future[ActionResult] = asyncio.get_running_loop().create_future()
        self._in_progress[effect_id] = outcome
        try:
            result = await self._recorded(call, effect_id, attempt)
            outcome.set_result(result)
            return result
        finally:
            del self._in_progress[effect_id]
            outcome.cancel()

    async def _recorded(self, call: WriteCall, effect_id: str, attempt: Attempt) -> ActionResult:
        if not await self._ledger.start(effect_id):
            return _rejected(call, effect_id, "the same write was taken over by another process")
        try:
            result = replace(await attempt(), effect_id=effect_id)
        except BaseException:
            # Cancelled in the middle: the request may have left. What is not recorded now stays STARTED,
            # which the next sight of it reads as unknown.
            await asyncio.shield(self._finish(effect_id, EffectState.UNKNOWN, ""))
            raise
        await asyncio.shield(self._finish(effect_id, _STATES[result.status], result_to_text(result)))
        return result

    async def _finish(self, effect_id: str, state: EffectState, result_text: str) -> None:
        """Record an outcome; a store that fails now costs the record, not the result that the caller waits for."""
        try:
            await self._ledger.finish(effect_id, state, result_text)
        except BackendUnavailable:
            _log.exception("effect_outcome_lost", effect_id=effect_id, state=state)

    async def _repeated(self, call: WriteCall, entry: LedgerEntry) -> ActionResult:
        effect = entry.effect
        is_same_step = (effect.step_id, effect.iteration) == (call.request.step_id, call.request.iteration)
        if not is_same_step:
            return _rejected(call, effect.effect_id, f"step {effect.step_id} made the same write; it is {effect.state}")
        if effect.state is EffectState.RECONCILED:
            return _rejected(call, effect.effect_id, f"{effect.resolved_by} settled that the write took place")
        running = self._in_progress.get(effect.effect_id)
        if running is not None:
            return await self._awaited(call, effect.effect_id, running)
        if effect.state in {EffectState.PLANNED, EffectState.STARTED}:
            # Ours, and no longer in progress: its outcome was lost, for example with the store.
            await self._ledger.finish(effect.effect_id, EffectState.UNKNOWN, "")
        if entry.result_text:
            return replace(result_from_text(entry.result_text), served_by=ServedBy.DUPLICATE)
        return _lost(call, effect.effect_id)

    async def _awaited(self, call: WriteCall, effect_id: str, running: asyncio.Future[ActionResult]) -> ActionResult:
        """Share the outcome of the same call that is being made now, as long as this caller can wait."""
        await asyncio.wait([running], timeout=call.context.deadline.remaining_seconds())
        if running.done() and not running.cancelled():
            return replace(running.result(), served_by=ServedBy.DUPLICATE)
        return _lost(call, effect_id)

    def __repr__(self) -> str:
        return f"WriteGuard(in_progress={len(self._in_progress)})"


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
    )


def _rejected(call: WriteCall, effect_id: str, why: str) -> ActionResult:
    fault = action_fault(FaultCode.REPEATED_WRITE, f"Not called: {why}.")
    return replace(call.blank, status=ActionStatus.REJECTED, effect_id=effect_id, fault=fault)


def _lost(call: WriteCall, effect_id: str) -> ActionResult:
    cause = action_fault(FaultCode.REPEATED_WRITE, "the call was begun before, and its outcome was not recorded.")
    return replace(
        call.blank,
        status=ActionStatus.OUTCOME_UNKNOWN,
        served_by=ServedBy.DUPLICATE,
        effect_id=effect_id,
        fault=unknown_outcome(cause),
    )
