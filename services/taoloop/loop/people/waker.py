"""Looks at resting runs when their moment comes: warns of approvals that lapse soon, and goes on after a lapse."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, RunConflict, TaoError, UnknownRun
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.loop.people.approvals import ApprovalReader, word_of
from taoloop.loop.people.expiry import Lapses
from taoloop.loop.people.wake_ups import ExpiryWarning, WakeUp, WakeUps, next_look
from taoloop.loop.state import RunState
from taoloop.plan.running import ApprovalExpiring, ApprovalRequired

_log = EventLog(__name__)

MOST_AT_ONCE: Final = 16
"""Most runs claimed at once: what one host claims and does not come to, another one gets only after a while."""
AGAIN_SECONDS: Final = 1.0
"""When a run is looked at again that somebody else writes to, or whose approval the executor takes for open still."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WakingTerms:
    """How runs are looked at.

    Attributes:
        interval_seconds: How often it is asked whose moment has come.
        timeout_seconds: How long one call of a store or a service may take.
        warning: How long before an approval lapses it is told.
    """

    interval_seconds: float
    timeout_seconds: float
    warning: ExpiryWarning


class Waker:
    """Acts on resting runs in place of the people who did not.

    Every host has one. Who acts on a run writes to its log, so that two of them never do the same thing twice.

    Args:
        lapses: What becomes of a run about whose approval nobody decided; it knows the runs that wait.
        action: Its word about an approval holds.
        wake_ups: When to look at which run.
        terms: How runs are looked at.
    """

    def __init__(self, lapses: Lapses, action: ApprovalReader, wake_ups: WakeUps, terms: WakingTerms) -> None:
        self._runs = lapses.runs
        self._action = action
        self._wake_ups = wake_ups
        self._lapses = lapses
        self._terms = terms
        self._warned = lapses.metrics.counter(names.APPROVALS_WARNED)
        self._clock = lapses.clock

    async def look_again_and_again(self) -> None:
        """Look at whatever run's moment has come, until cancelled."""
        while True:
            interval = self._terms.interval_seconds
            await self._clock.sleep(random.uniform(interval * 0.5, interval))
            try:
                await self.look()
            except BackendUnavailable as error:  # what was claimed comes up again
                _log.warning("wake_ups_not_read", reason=error.reason)

    async def look(self) -> None:
        """Look once at the runs whose moment has come; a host that stops leaves them to others.

        Raises:
            BackendUnavailable: The store of the wake-ups does not answer in time.
        """
        if not self._runs.may_go_on:
            return
        for wake_up in await self._wake_ups.claim(MOST_AT_ONCE, self._soon()):
            try:
                again_at = await self._act(wake_up)
            except RunConflict:  # somebody else wrote to the run, or its last drive is about to end here
                again_at = self._again()
            except TaoError as error:  # comes up again when the claim is over
                _log.warning("run_not_woken", run_id=wake_up.run.run_id, reason=error.reason)
                continue
            await self._wake_ups.settle(wake_up, again_at, self._soon())

    async def _act(self, wake_up: WakeUp) -> datetime | None:
        """Do what a run's moment asks for; return when to look again, None when its next rest will tell."""
        run = wake_up.run
        call = CallContext(deadline=self._soon(), tenant=run.tenant)
        try:
            state = await self._runs.read(run.run_id, call)
        except UnknownRun:  # past its retention
            return None
        now = self._clock.now()
        if not state.is_at_rest or state.has_ended:
            return None
        lapsed = [each for each in state.open_approvals if each.expires_at is not None and each.expires_at <= now]
        if lapsed:
            said = [await word_of(self._action, each, call) for each in lapsed]
            outcomes = [outcome for outcome in said if outcome is not None]
            if not outcomes:
                return self._again()
            await self._lapses.settle(state, outcomes, call)
            _log.info("approvals_lapsed", run_id=run.run_id, approvals=len(outcomes))
            return None
        await self._warn(state, now, call)
        return next_look(state, self._terms.warning)

    async def _warn(self, state: RunState, now: datetime, call: CallContext) -> None:
        due = [
            ApprovalExpiring(
                approval_id=each.approval_id, expires_at=each.expires_at, step_id=each.step_id, tool=each.tool
            )
            for each in state.open_approvals
            if each.approval_id not in state.waits.warned and self._is_to_be_told(state, each, now)
        ]
        if not due:
            return
        await self._runs.note(state, call, *due)
        self._warned.inc(len(due))
        for each in due:
            _log.warning("approval_expires_soon", run_id=state.run_id, approval_id=each.approval_id, tool=each.tool)

    def _is_to_be_told(self, state: RunState, approval: ApprovalRequired, now: datetime) -> bool:
        asked_at = state.waits.asked_at.get(approval.approval_id)
        told_at = self._terms.warning.at(approval, asked_at) if asked_at is not None else None
        return told_at is not None and told_at <= now

    def _again(self) -> datetime:
        return self._clock.now() + timedelta(seconds=AGAIN_SECONDS)

    def _soon(self) -> Deadline:
        return Deadline.after(self._terms.timeout_seconds, self._clock)
