"""An intent and its first steps, for the tests of ledgers."""

from __future__ import annotations

from taoloop.action.ledger.effects import EffectIntent
from taoloop.action.ledger.ports import EffectLedger
from taoloop.testing.clock import FakeClock
from tests.contract.conftest import LEASE_SECONDS

INTENT = EffectIntent(
    tenant="acme",
    run_id="r1",
    step_id="1.t1",
    iteration=1,
    tool="book_room",
    arguments_hash="a" * 64,
    request_id="q1",
    request_digest="d1",
)


async def started(ledger: EffectLedger, intent: EffectIntent = INTENT) -> str:
    claim = await ledger.plan(intent)
    assert claim.is_new
    assert await ledger.start(claim.entry.effect.effect_id)
    return claim.entry.effect.effect_id


async def outlive_the_others(ledger: EffectLedger, clock: FakeClock) -> None:
    """Let the lease of every other process run out."""
    await ledger.beat()
    clock.advance(LEASE_SECONDS)
    await ledger.beat()
