"""What must hold afterwards: every run has an outcome, no write is doubled, no event is lost or out of order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from taoloop.plan.acting import ActionStatus
from taoloop.plan.effects import EffectRecord, EffectState
from taoloop.plan.running import ActionReturned, RunEvent, RunFinished, RunResumed, RunStarted
from taoloop.plan.task import Outcome
from tests.chaos.audit import SETTLED
from tests.chaos.loop.callers import RESTS, Notes, Told
from tests.chaos.loop.catalogue import WRITES
from tests.chaos.loop.leftovers import Leftovers
from tests.chaos.loop.wishes import Wish
from tests.chaos.receiver import Receiver

OPEN: Final = RESTS | {Outcome.NEEDS_HUMAN}
"""Outcomes after which a run may go on."""


@dataclass(frozen=True)
class LoopAudit:
    """The findings.

    Attributes:
        violations: What must not be; none is what is wanted.
        counts: How much of what there was.
    """

    violations: list[str]
    counts: dict[str, Any]


@dataclass(frozen=True)
class Evidence:
    """What a run of the test leaves behind.

    Attributes:
        wishes: Those that were begun.
        notes: What the callers were told.
        receiver: What was done at the far end.
        effects: The whole ledger.
        left: What is in the run log and in the queue.
    """

    wishes: Sequence[Wish]
    notes: Notes
    receiver: Receiver
    effects: Sequence[EffectRecord]
    left: Leftovers


def audited(evidence: Evidence) -> LoopAudit:
    """Return what is wrong, and the counts."""
    notes, left, receiver = evidence.notes, evidence.left, evidence.receiver
    violations = [*notes.surprises, *_of_all_runs(evidence), *_of_the_ledger(evidence)]
    doubled = {key: count for key, count in receiver.orders.items() if count > 1}
    violations += [f"{key} took effect {count} times" for key, count in doubled.items()]
    violations += [f"key {key} came for two orders" for key in receiver.conflicts]
    lost = 0
    for wish in evidence.wishes:
        told = notes.told[wish.number]
        broken = list(_of_the_log(told, left.logs.get(told.run_id, [])))
        lost += bool(broken)
        wrong = [*broken, *_of_the_outcome(wish, told, left.logs.get(told.run_id, []), receiver)]
        violations += [f"{wish.task.request_id} ({wish.manner}, run {told.run_id}): {each}" for each in wrong]
    return LoopAudit(violations, _counts(evidence, len(doubled), lost))


def _of_all_runs(evidence: Evidence) -> Iterator[str]:
    left = evidence.left
    going_on = [summary.run_id for summary in left.runs if summary.outcome is None]
    if going_on:
        yield f"{len(going_on)} runs never end: {', '.join(going_on[:5])}"
    for request_id, times in Counter(summary.request_id for summary in left.runs).items():
        if times > 1:
            yield f"{request_id} has {times} runs"
    known = {told.run_id for told in evidence.notes.told.values()}
    if strangers := {summary.run_id for summary in left.runs} - known:
        yield f"{len(strangers)} runs are known to no caller: {', '.join(sorted(strangers)[:5])}"
    if missing := known - {summary.run_id for summary in left.runs} - {""}:
        yield f"{len(missing)} runs are in no list: {', '.join(sorted(missing)[:5])}"
    if left.leases:
        yield f"{len(left.leases)} leases are left: {', '.join(left.leases[:5])}"
    if left.jobs:
        yield f"{left.jobs} thoughts are left in the queue"


def _of_the_log(told: Told, log: Sequence[RunEvent]) -> Iterator[str]:
    """Yield what is wrong with the events of one run."""
    if told.result is None:
        yield "its caller was told nothing"
        return
    if [event.sequence for event in log] != list(range(1, len(log) + 1)):
        yield f"its events have the numbers {[event.sequence for event in log]}"
    epochs = [event.host_epoch for event in log]
    if epochs != sorted(epochs):
        yield f"the epochs of its hosts are {epochs}"
    if [index for index, event in enumerate(log) if isinstance(event.body, RunStarted)] != [0]:
        yield "it did not begin once, with its first event"
    ends = [event for event in log if isinstance(event.body, RunFinished) and event.body.outcome not in OPEN]
    if len(ends) > 1 or (ends and ends[0] is not log[-1]):
        yield "it went on after its end"
    if not log or not isinstance(log[-1].body, RunFinished) or log[-1].body.outcome is not told.result.outcome:
        yield f"its caller was told {told.result.outcome}, and its last event is {log[-1] if log else None}"
    by_number = {event.sequence: event for event in log}
    if wrong := sorted(number for number, event in told.events.items() if by_number.get(number) != event):
        yield f"the events {wrong} were told, and are not in the log"


def _of_the_outcome(wish: Wish, told: Told, log: Sequence[RunEvent], receiver: Receiver) -> Iterator[str]:
    """Yield where the word about a write is false."""
    if told.result is None:
        return
    has_taken_effect = receiver.orders[wish.order_key] > 0
    results = [event.body.result for event in log if isinstance(event.body, ActionReturned)]
    writes = [result for result in results if result is not None and result.tool in WRITES]
    if any(result.status is ActionStatus.SUCCEEDED for result in writes) and not has_taken_effect:
        yield "a write that succeeded took no effect"
    if has_taken_effect and not wish.may_write:
        yield "an order took effect that nobody wanted or allowed"
    if has_taken_effect and wish.manner == "approve" and told.decided != "approved":
        yield "an order took effect for which nobody gave leave"
    if told.result.outcome is Outcome.ANSWERED and wish.may_write and not has_taken_effect:
        yield f"it answered {told.result.text!r}, and nothing was ordered"


def _of_the_ledger(evidence: Evidence) -> Iterator[str]:
    """Yield where the ledger's word is missing, unsettled or false."""
    by_run: defaultdict[str, list[EffectRecord]] = defaultdict(list)
    for effect in evidence.effects:
        by_run[effect.run_id].append(effect)
        if effect.state not in SETTLED:
            yield f"the effect {effect.effect_id} of run {effect.run_id} is still {effect.state}"
    for wish in evidence.wishes:
        entries = by_run[evidence.notes.told[wish.number].run_id]
        has_taken_effect = evidence.receiver.orders[wish.order_key] > 0
        says_yes = any(entry.state is EffectState.SUCCEEDED for entry in entries)
        may_be = any(entry.state is EffectState.UNKNOWN for entry in entries)
        if says_yes and not has_taken_effect:
            yield f"{wish.order_key}: the ledger says that it took place, and it did not"
        if has_taken_effect and not says_yes and not may_be:
            yield f"{wish.order_key}: took effect, and the ledger says {[entry.state.value for entry in entries]}"


def _counts(evidence: Evidence, doubled: int, lost: int) -> dict[str, Any]:
    notes, logs = evidence.notes, evidence.left.logs
    results = [told.result for told in notes.told.values() if told.result is not None]
    outcomes = Counter(result.outcome.value for result in results)
    faults = Counter(str(result.fault.code) for result in results if result.fault is not None)
    resumed = [event.body for log in logs.values() for event in log if isinstance(event.body, RunResumed)]
    return {
        "runs": len(evidence.wishes),
        "outcomes": dict(sorted(outcomes.items())),
        "faults": dict(sorted(faults.items())),
        "take_overs": sum(body.reason == "take_over" for body in resumed),
        "events": sum(map(len, logs.values())),
        "orders": sum(evidence.receiver.orders.values()),
        "doubled": doubled,
        "runs_with_lost_events": lost,
        "effects": dict(sorted(Counter(effect.state.value for effect in evidence.effects).items())),
        "replays_received": evidence.receiver.replays,
        "asked_again": dict(sorted(notes.failures.items())),
    }
