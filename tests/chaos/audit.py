"""What must hold afterwards, read from both ends: the receiver's records and the ledger."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from taoloop.plan.acting import ActionStatus
from taoloop.plan.effects import EffectRecord, EffectState
from tests.chaos.callers import Order, Placed
from tests.chaos.receiver import Receiver

SETTLED = frozenset({EffectState.SUCCEEDED, EffectState.FAILED, EffectState.UNKNOWN, EffectState.RECONCILED})


@dataclass
class Audit:
    """The findings; none is what is wanted."""

    violations: list[str] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    counts: dict[str, Any] = field(default_factory=dict)


def audited(
    orders: Sequence[Order],
    placed: Placed,
    receiver: Receiver,
    effects: Sequence[EffectRecord],
    listed_unknown: frozenset[str],
) -> Audit:
    """Compare what was wanted, told, recorded and done.

    Args:
        orders: What was to be placed.
        placed: What the callers were told.
        receiver: What was done.
        effects: The whole ledger.
        listed_unknown: Ids that `taoloop effects list --state unknown` prints.
    """
    audit = Audit(states=Counter(effect.state.value for effect in effects))
    duplicates = {key: count for key, count in receiver.orders.items() if count > 1}
    audit.violations += [f"{key} took effect {count} times" for key, count in duplicates.items()]
    audit.violations += [f"key {key} came for two orders" for key in receiver.conflicts]
    audit.violations += placed.surprises
    by_step: dict[tuple[str, str], list[EffectRecord]] = defaultdict(list)
    for effect in effects:
        by_step[effect.run_id, effect.step_id].append(effect)
    lost = 0
    begun = [order for order in orders if order.order_key in placed.results]
    for order in begun:
        entries = by_step.pop((order.request.run_id, order.request.step_id), [])
        found = list(_disagreements(order, entries, placed, receiver))
        lost += bool(found)
        audit.violations += found
    audit.violations += [f"an effect of no order: {step}" for step in by_step]
    unknown = {effect.effect_id for effect in effects if effect.state is EffectState.UNKNOWN}
    audit.violations += [f"unknown and not listed: {effect_id}" for effect_id in unknown - listed_unknown]
    audit.violations += [f"listed and not unknown: {effect_id}" for effect_id in listed_unknown - unknown]
    told = Counter(results[-1].status.value for results in placed.results.values())
    audit.counts = {
        "orders": len(begun),
        "duplicates": len(duplicates),
        "lost_intents": lost,
        "unknown": len(unknown),
        "unknown_listed": len(unknown & listed_unknown),
        "effects": dict(sorted(audit.states.items())),
        "told": dict(sorted(told.items())),
        "requests_received": receiver.requests,
        "replays_received": receiver.replays,
        "repeats": dict(sorted(placed.repeats.items())),
    }
    return audit


def _disagreements(order: Order, entries: Sequence[EffectRecord], placed: Placed, receiver: Receiver) -> list[str]:
    """Return where the ledger's word about an order is missing, unsettled or false."""
    key, has_taken_effect = order.order_key, receiver.orders[order.order_key] > 0
    results = placed.results.get(key, [])
    if not entries:
        return [f"{key}: no entry in the ledger"]
    if not results:
        return [f"{key}: its caller was told nothing"]
    found = [f"{key}: still {entry.state}" for entry in entries if entry.state not in SETTLED]
    says_yes = any(_is_said_to_have_taken_place(entry) for entry in entries)
    may_be = any(entry.state is EffectState.UNKNOWN for entry in entries)
    if has_taken_effect and not says_yes and not may_be:
        found.append(f"{key}: took effect, and the ledger says {[entry.state.value for entry in entries]}")
    if says_yes and not has_taken_effect:
        found.append(f"{key}: the ledger says that it took place, and it did not")
    if any(result.status is ActionStatus.SUCCEEDED for result in results) and not has_taken_effect:
        found.append(f"{key}: its caller was told of a success that never was")
    return found


def _is_said_to_have_taken_place(entry: EffectRecord) -> bool:
    return entry.state is EffectState.SUCCEEDED or (entry.state is EffectState.RECONCILED and bool(entry.took_place))
