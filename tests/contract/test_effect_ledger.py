"""One suite for every effect ledger: what the executor relies on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from taoloop.action.errors import EffectSettled, UnknownEffect
from taoloop.action.ledger.effects import Claim, EffectIntent, EffectQuery, Forgotten, Resolution, Swept
from taoloop.action.ledger.ports import EffectLedger
from taoloop.core.errors import RequestIdReused
from taoloop.plan.effects import EffectState
from taoloop.testing.clock import FakeClock
from tests.contract.conftest import LEASE_SECONDS, Opener
from tests.contract.effects import INTENT, outlive_the_others, started


async def test_an_intent_is_recorded_before_anything_else(ledger: EffectLedger, clock: FakeClock) -> None:
    claim = await ledger.plan(INTENT)
    effect = (await ledger.get("acme", claim.entry.effect.effect_id)).effect
    assert claim.is_new
    assert (effect.state, effect.run_id, effect.step_id, effect.iteration) == (EffectState.PLANNED, "r1", "1.t1", 1)
    assert (effect.planned_at, effect.updated_at) == (clock.now(), clock.now())


@pytest.mark.parametrize("state", [EffectState.SUCCEEDED, EffectState.UNKNOWN])
async def test_a_call_that_took_or_may_have_taken_effect_blocks_its_repeat(
    ledger: EffectLedger, clock: FakeClock, state: EffectState
) -> None:
    effect_id = await started(ledger)
    clock.advance(1)
    assert await ledger.finish(effect_id, state, "the envelope")
    claim = await ledger.plan(replace(INTENT, step_id="2.t1", iteration=2, request_id="q2", request_digest="d2"))
    assert (claim.is_new, claim.entry.effect.state, claim.entry.result_text) == (False, state, "the envelope")
    assert (claim.entry.effect.step_id, claim.entry.effect.updated_at) == ("1.t1", clock.now())


async def test_a_call_in_progress_blocks_its_repeat(ledger: EffectLedger) -> None:
    effect_id = await started(ledger)
    claim = await ledger.plan(INTENT)
    assert (claim.is_new, claim.entry.effect.effect_id) == (False, effect_id)
    assert claim.entry.effect.state is EffectState.STARTED


async def test_a_call_that_surely_had_no_effect_may_be_made_again(ledger: EffectLedger, clock: FakeClock) -> None:
    first = await started(ledger)
    assert await ledger.finish(first, EffectState.FAILED, "refused")
    clock.advance(1)
    second = await ledger.plan(INTENT)
    assert second.is_new
    assert second.entry.effect.effect_id != first
    assert len(await ledger.list("acme", EffectQuery(run_id="r1"))) == 2


async def test_an_intent_that_never_left_may_be_given_up(ledger: EffectLedger) -> None:
    claim = await ledger.plan(INTENT)
    assert await ledger.finish(claim.entry.effect.effect_id, EffectState.FAILED, "")
    assert (await ledger.plan(INTENT)).is_new


async def test_what_another_step_planned_and_gave_up_is_planned_anew_under_its_own_key(ledger: EffectLedger) -> None:
    await ledger.plan(replace(INTENT, idempotency_key="k1"))
    other = replace(INTENT, step_id="2.t1", iteration=2, request_id="q2", idempotency_key="k2")
    claim = await ledger.plan(other)
    assert (claim.is_new, claim.is_ours, claim.entry.effect.step_id) == (False, True, "1.t1")
    assert await ledger.finish(claim.entry.effect.effect_id, EffectState.FAILED, "", has_left=False)
    anew = await ledger.plan(other)
    effect = (await ledger.get("acme", anew.entry.effect.effect_id)).effect
    assert (anew.is_new, effect.step_id, effect.iteration, effect.idempotency_key) == (True, "2.t1", 2, "k2")


@pytest.mark.parametrize(
    "other",
    [
        replace(INTENT, tenant="other"),
        replace(INTENT, run_id="r2", request_id="q2"),
        replace(INTENT, tool="cancel_room", request_id="q2"),
        replace(INTENT, arguments_hash="b" * 64, request_id="q2"),
    ],
)
async def test_tenant_run_tool_and_arguments_make_another_call(ledger: EffectLedger, other: EffectIntent) -> None:
    await started(ledger)
    assert (await ledger.plan(other)).is_new


async def test_of_many_plans_at_once_one_call_may_leave(open_ledger: Opener) -> None:
    async with open_ledger() as left, open_ledger() as right:
        ledgers = [left] * 5 + [right] * 5
        claims: list[Claim] = await asyncio.gather(*(ledger.plan(INTENT) for ledger in ledgers))
        starts = [
            await ledger.start(claim.entry.effect.effect_id) for ledger, claim in zip(ledgers, claims, strict=True)
        ]
    assert len({claim.entry.effect.effect_id for claim in claims}) == 1
    assert sum(claim.is_new for claim in claims) == 1
    assert [claim.is_ours for claim in claims] in ([True] * 5 + [False] * 5, [False] * 5 + [True] * 5)
    assert sum(starts) == 1


async def test_many_calls_at_once_take_their_steps_each_for_itself(ledger: EffectLedger) -> None:
    outcomes = (EffectState.SUCCEEDED, EffectState.FAILED, EffectState.UNKNOWN)
    intents = [replace(INTENT, run_id=f"r{number}", request_id=f"q{number}") for number in range(30)]
    claims = await asyncio.gather(*map(ledger.plan, intents))
    assert all(claim.is_new and claim.is_ours for claim in claims)
    ids = [claim.entry.effect.effect_id for claim in claims]
    assert [claim.entry for claim in claims] == [await ledger.get("acme", effect_id) for effect_id in ids]
    assert await asyncio.gather(*map(ledger.start, [*ids[:20], ids[0]])) == [True] * 20 + [False]
    told = [(effect_id, outcomes[number % 3], f"text {number}") for number, effect_id in enumerate(ids)]
    are_told = await asyncio.gather(*(ledger.finish(*outcome) for outcome in told))
    assert are_told == [number < 20 or state is EffectState.FAILED for number, (_, state, _) in enumerate(told)]
    for (effect_id, state, text_told), is_told in zip(told, are_told, strict=True):
        entry = await ledger.get("acme", effect_id)
        expected = (state, text_told) if is_told else (EffectState.PLANNED, "")
        assert (entry.effect.state, entry.result_text) == expected


async def test_of_two_who_tell_an_outcome_at_once_the_first_counts(ledger: EffectLedger) -> None:
    effect_id = await started(ledger)
    told = (ledger.finish(effect_id, EffectState.SUCCEEDED, text_told) for text_told in ("one", "two"))
    assert await asyncio.gather(*told) == [True, False]
    assert (await ledger.get("acme", effect_id)).result_text == "one"


async def test_a_request_id_that_is_reused_is_refused_alone_among_many(ledger: EffectLedger) -> None:
    await ledger.plan(INTENT)
    good = [replace(INTENT, run_id=f"g{number}", request_id=f"g{number}") for number in range(5)]
    bad = replace(INTENT, run_id="r2", request_digest="d2")
    *claims, refusal = await asyncio.gather(*map(ledger.plan, [*good, bad]), return_exceptions=True)
    assert all(isinstance(claim, Claim) and claim.is_new for claim in claims)
    assert isinstance(refusal, RequestIdReused)
    assert await ledger.list("acme", EffectQuery(run_id="r2")) == ()


async def test_callers_that_go_away_in_the_middle_take_nothing_with_them(ledger: EffectLedger) -> None:
    for number in range(20):
        intents = [replace(INTENT, run_id=f"r{number}.{other}", request_id="") for other in range(3)]
        asked = [asyncio.ensure_future(ledger.plan(intent)) for intent in intents]
        for _ in range(number):
            await asyncio.sleep(0)
        asked[0].cancel()
        _, second, third = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(second, Claim)
        assert isinstance(third, Claim)
    assert (await ledger.plan(INTENT)).is_new


async def test_a_caller_that_goes_away_in_the_middle_of_a_transaction_leaves_its_place_to_others(
    ledger: EffectLedger,
) -> None:
    await ledger.plan(INTENT)
    for number in range(90):
        # Something stands in their way, so that each has a transaction of its own.
        asked = [asyncio.ensure_future(ledger.plan(INTENT)) for _ in range(3)]
        for _ in range(number):
            await asyncio.sleep(0)
        asked[0].cancel()
        _, second, third = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(second, Claim), repr(second)
        assert isinstance(third, Claim), repr(third)


async def test_what_a_living_process_works_on_is_left_alone(open_ledger: Opener, clock: FakeClock) -> None:
    async with open_ledger() as slow, open_ledger() as other:
        effect_id = await started(slow)
        planned = (await slow.plan(replace(INTENT, arguments_hash="b" * 64, request_id="q2"))).entry.effect
        for _ in range(6):  # it beats as often as the lease asks, for longer than the lease
            clock.advance(LEASE_SECONDS / 3)
            await slow.beat()
            await other.beat()
        claim = await other.plan(INTENT)
        assert (claim.is_new, claim.is_ours, claim.entry.effect.state) == (False, False, EffectState.STARTED)
        assert not (await other.plan(replace(INTENT, arguments_hash="b" * 64, request_id="q2"))).is_new
        assert await other.sweep((), clock.now()) == Swept()
        with pytest.raises(EffectSettled):
            await other.resolve("acme", Resolution(effect_id=effect_id, took_place=False, resolved_by="ana"))
        assert not await other.start(planned.effect_id)
        assert await slow.start(planned.effect_id)


async def test_a_process_that_is_silent_for_the_lease_is_dead(open_ledger: Opener, clock: FakeClock) -> None:
    async with open_ledger() as silent, open_ledger() as other:
        effect_id = await started(silent)
        await other.beat()
        clock.advance(LEASE_SECONDS - 0.1)
        await other.beat()
        assert (await other.plan(INTENT)).entry.effect.state is EffectState.STARTED
        clock.advance(0.1)
        await other.beat()
        claim = await other.plan(INTENT)
        assert (claim.is_new, claim.entry.effect.state) == (False, EffectState.UNKNOWN)
        await silent.beat()  # it was only slow: its outcome still counts, and from now on it is left alone again
        assert await silent.finish(effect_id, EffectState.SUCCEEDED, "late")
        await started(silent, replace(INTENT, arguments_hash="b" * 64, request_id="q2"))
        assert await other.sweep((), clock.now()) == Swept()


async def test_a_call_that_a_dead_process_had_started_is_unknown_at_first_sight(open_ledger: Opener) -> None:
    async with open_ledger() as before:
        effect_id = await started(before)
    async with open_ledger() as after:
        claim = await after.plan(INTENT)
        assert (claim.is_new, claim.entry.effect.state) == (False, EffectState.UNKNOWN)
        assert not await after.start(effect_id)


async def test_a_call_that_a_dead_process_had_only_planned_is_taken_over(open_ledger: Opener, clock: FakeClock) -> None:
    async with open_ledger() as before, open_ledger() as after:
        planned = (await before.plan(INTENT)).entry.effect.effect_id
        await outlive_the_others(after, clock)
        later = replace(
            INTENT, step_id="2.t1", iteration=2, request_id="q2", request_digest="d2", idempotency_key="another"
        )
        claim = await after.plan(later)
        effect = claim.entry.effect
        assert (claim.is_new, effect.effect_id, effect.step_id) == (True, planned, "2.t1")
        assert (claim.is_ours, effect.idempotency_key) == (True, "another")
        assert not await before.start(planned)
        assert await after.start(planned)


async def test_an_outcome_that_arrives_late_still_counts(open_ledger: Opener, clock: FakeClock) -> None:
    async with open_ledger() as slow, open_ledger() as hasty:
        effect_id = await started(slow)
        await outlive_the_others(hasty, clock)
        assert (await hasty.plan(INTENT)).entry.effect.state is EffectState.UNKNOWN
        assert await slow.finish(effect_id, EffectState.SUCCEEDED, "late")
        claim = await hasty.plan(INTENT)
        assert (claim.entry.effect.state, claim.entry.result_text) == (EffectState.SUCCEEDED, "late")


async def test_a_sweep_settles_what_the_dead_left(open_ledger: Opener, clock: FakeClock) -> None:
    async with open_ledger() as before:
        begun = await started(before)
        intent = replace(INTENT, arguments_hash="b" * 64, request_id="q2")
        planned = (await before.plan(intent)).entry.effect.effect_id
    async with open_ledger() as after:
        assert await after.sweep((), clock.now() - timedelta(days=1)) == Swept(unknown=1, given_up=1)
        assert (await after.get("acme", begun)).effect.state is EffectState.UNKNOWN
        assert (await after.get("acme", planned)).effect.state is EffectState.FAILED
        assert (await after.plan(intent)).is_new


async def test_a_sweep_settles_what_this_process_has_lost_sight_of(ledger: EffectLedger, clock: FakeClock) -> None:
    lost = await started(ledger)
    busy = await started(ledger, replace(INTENT, arguments_hash="b" * 64, request_id="q2"))
    planned = (await ledger.plan(replace(INTENT, arguments_hash="c" * 64, request_id="q3"))).entry.effect.effect_id
    assert await ledger.sweep({busy}, clock.now() - timedelta(seconds=1)) == Swept()  # none is old enough
    assert await ledger.sweep({busy}, clock.now()) == Swept(unknown=1, given_up=1)
    states = {effect.effect_id: effect.state for effect in await ledger.list("acme", EffectQuery())}
    assert states == {lost: EffectState.UNKNOWN, busy: EffectState.STARTED, planned: EffectState.FAILED}


async def test_unknown_effects_take_turns_in_being_looked_up(ledger: EffectLedger, clock: FakeClock) -> None:
    effects = []
    for number in range(3):
        intent = replace(INTENT, arguments_hash=str(number) * 64, request_id=f"q{number}", arguments_text='{"n":1}')
        effects.append(await started(ledger, intent))
        await ledger.finish(effects[-1], EffectState.UNKNOWN, "")
        clock.advance(1)
    other_tool = await started(ledger, replace(INTENT, tool="cancel_room", request_id="q9"))
    await ledger.finish(other_tool, EffectState.UNKNOWN, "")
    clock.advance(1)

    async def turn(age_seconds: float) -> str | None:
        entry = await ledger.next_look_up({"book_room"}, clock.now() - timedelta(seconds=age_seconds))
        assert entry is None or (entry.tenant, entry.arguments_text) == ("acme", '{"n":1}')
        return entry.effect.effect_id if entry is not None else None

    assert await turn(100) is None  # none is that old
    assert [await turn(1), await turn(1), await turn(1), await turn(1)] == [*effects, None]
    clock.advance(2)
    await ledger.finish(effects[0], EffectState.SUCCEEDED, "")
    assert await turn(1) == effects[1]
    assert (await ledger.get("acme", effects[1])).effect.state is EffectState.UNKNOWN
    assert await ledger.next_look_up(set(), clock.now()) is None


async def test_only_what_is_settled_and_old_is_forgotten(ledger: EffectLedger, clock: FakeClock) -> None:
    kept = {}
    for number, state in enumerate(
        [EffectState.SUCCEEDED, EffectState.FAILED, EffectState.UNKNOWN, EffectState.STARTED, EffectState.PLANNED]
    ):
        intent = replace(INTENT, arguments_hash=str(number) * 64, request_id=f"q{number}")
        effect_id = (await ledger.plan(intent)).entry.effect.effect_id
        kept[effect_id] = state
        if state is not EffectState.PLANNED:
            await ledger.start(effect_id)
        if state not in {EffectState.PLANNED, EffectState.STARTED}:
            await ledger.finish(effect_id, state, "")
    assert await ledger.forget_before(clock.now()) == Forgotten()  # nothing is older than this moment
    clock.advance(1)
    assert await ledger.forgettable_before(clock.now()) == Forgotten(effects=2, unsettled=3)
    assert len(await ledger.list("acme", EffectQuery())) == 5  # asking deletes nothing
    assert await ledger.forget_before(clock.now()) == Forgotten(effects=2, unsettled=3)
    left = {effect.effect_id: effect.state for effect in await ledger.list("acme", EffectQuery())}
    unsettled = {EffectState.UNKNOWN, EffectState.STARTED, EffectState.PLANNED}
    assert left == {effect_id: state for effect_id, state in kept.items() if state in unsettled}


async def test_a_settled_outcome_stays(ledger: EffectLedger) -> None:
    effect_id = await started(ledger)
    assert await ledger.finish(effect_id, EffectState.SUCCEEDED, "first")
    assert not await ledger.finish(effect_id, EffectState.UNKNOWN, "second")
    assert not await ledger.finish(effect_id, EffectState.FAILED, "third")
    assert (await ledger.get("acme", effect_id)).result_text == "first"


async def test_a_request_id_with_another_body_is_refused_and_leaves_nothing(ledger: EffectLedger) -> None:
    await ledger.plan(INTENT)
    with pytest.raises(RequestIdReused):
        await ledger.plan(replace(INTENT, arguments_hash="b" * 64, request_digest="d2"))
    assert len(await ledger.list("acme", EffectQuery())) == 1


async def test_effects_are_listed_by_page_newest_first_for_one_tenant(ledger: EffectLedger, clock: FakeClock) -> None:
    ids = []
    for number in range(5):
        intent = replace(INTENT, arguments_hash=str(number) * 64, request_id=f"q{number}")
        ids.append((await ledger.plan(intent)).entry.effect.effect_id)
        clock.advance(1)
    await ledger.plan(replace(INTENT, tenant="other"))
    newest = await ledger.list("acme", EffectQuery(limit=3))
    older = await ledger.list("acme", EffectQuery(limit=3, before_effect_id=newest[-1].effect_id))
    assert [effect.effect_id for effect in (*newest, *older)] == ids[::-1]
    assert await ledger.list("acme", EffectQuery(state=EffectState.STARTED)) == ()
    assert await ledger.list("acme", EffectQuery(run_id="elsewhere")) == ()
    assert [effect.effect_id for effect in await ledger.list("acme", EffectQuery(effect_id=ids[2]))] == [ids[2]]


async def test_an_entry_of_another_tenant_is_unknown(ledger: EffectLedger) -> None:
    effect_id = await started(ledger)
    with pytest.raises(UnknownEffect):
        await ledger.get("other", effect_id)
    with pytest.raises(UnknownEffect):
        await ledger.resolve("other", Resolution(effect_id=effect_id, took_place=False, resolved_by="mallory"))


@pytest.mark.parametrize(("took_place", "may_be_made_again"), [(True, False), (False, True)])
async def test_a_person_settles_an_unknown_outcome(
    ledger: EffectLedger, clock: FakeClock, took_place: bool, may_be_made_again: bool
) -> None:
    effect_id = await started(ledger)
    await ledger.finish(effect_id, EffectState.UNKNOWN, "")
    clock.advance(1)
    resolution = Resolution(
        effect_id=effect_id, took_place=took_place, resolved_by="ana", request_id="s1", comment="asked the shop"
    )
    effect = await ledger.resolve("acme", resolution)
    assert (effect.took_place, effect.comment) == (took_place, "asked the shop")
    assert (effect.state, effect.resolved_by, effect.updated_at) == (EffectState.RECONCILED, "ana", clock.now())
    assert await ledger.resolve("acme", resolution) == effect  # a repeat returns the first reply
    assert (await ledger.plan(INTENT)).is_new is may_be_made_again


async def test_a_second_decision_and_a_known_outcome_are_refused(ledger: EffectLedger) -> None:
    effect_id = await started(ledger)
    decision = Resolution(effect_id=effect_id, took_place=True, resolved_by="ana", request_id="s1")
    with pytest.raises(EffectSettled):
        await ledger.resolve("acme", decision)  # it is still being made here
    await ledger.finish(effect_id, EffectState.UNKNOWN, "")
    await ledger.resolve("acme", decision)
    with pytest.raises(EffectSettled):
        await ledger.resolve("acme", replace(decision, took_place=False, request_id="s2"))


async def test_what_a_dead_process_had_started_can_be_settled_unseen(open_ledger: Opener) -> None:
    async with open_ledger() as before:
        effect_id = await started(before)
    async with open_ledger() as after:
        decision = Resolution(effect_id=effect_id, took_place=False, resolved_by="ana")
        assert (await after.resolve("acme", decision)).state is EffectState.RECONCILED
