"""Unknown outcomes are looked up by a tool that reads, and never by making the call again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.errors import EffectSettled, NoLookUp, UnknownEffect
from taoloop.action.executor import Executor
from taoloop.action.ledger.effects import EffectQuery, Resolution
from taoloop.action.ledger.keeper import LedgerKeeper
from taoloop.action.ledger.reconciliation import Pace, Reconciler
from taoloop.action.ports import Reply, TransportFault
from taoloop.core.errors import BackendUnavailable
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus, Body, ExecuteRequest, ServedBy
from taoloop.plan.effects import EffectRecord, EffectState
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.testing.transport import Answer, ScriptedTransport, json_reply
from taoloop.tools.contract import Reconcile, ToolContract
from tests.unit.action.contracts import CHANGE, catalogue, context, request, telemetry

FOUND: Any = {"===": [{"var": "body.found"}, True]}
BOOK = replace(CHANGE, name="book", reconcile=Reconcile(tool="look_up", took_place=FOUND), document={"name": "book"})
BOOK_BY_KEY = replace(
    BOOK,
    name="book_by_key",
    reconcile=Reconcile(tool="look_up", took_place=FOUND, arguments={"key": "{key}-{idempotency_key}"}),
    document={"name": "book_by_key"},
)
LOST = TransportFault(FaultCode.RESPONSE_INCOMPLETE, "cut off", may_have_left=True)
PACE = Pace(settle_seconds=30.0, again_after_seconds=300.0, timeout_seconds=5.0, batch=3)


class Desk:
    """An executor and a reconciler on doubles."""

    def __init__(self, *answers: Answer) -> None:
        self.clock = FakeClock(is_impatient=True)
        self.ledger = InMemoryEffectLedger(self.clock)
        self.transport = ScriptedTransport(answers)
        self.telemetry = telemetry()
        tools = catalogue(None, BOOK, BOOK_BY_KEY)
        self.executor = Executor(tools, self.transport, self.ledger, self.telemetry, self.clock)
        self.reconciler = self.reconciling(self.executor.execute)

    def reconciling(self, execute: Callable[..., Awaitable[ActionResult]]) -> Reconciler:
        tools = catalogue(None, BOOK, BOOK_BY_KEY)
        return Reconciler(tools, self.ledger, execute, self.clock, self.telemetry.metrics, PACE)

    async def unknown(self, tool: ToolContract = BOOK, key: str = "abc") -> str:
        """Make a call whose outcome nobody knows."""
        result = await self.executor.execute(request(tool.name, arguments={"key": key}), context(self.clock))
        assert result.status is ActionStatus.OUTCOME_UNKNOWN
        return result.effect_id

    async def effects(self) -> list[EffectRecord]:
        return list(await self.ledger.list("acme", EffectQuery()))


async def test_an_effect_that_is_found_took_place() -> None:
    desk = Desk(LOST, json_reply({"found": True}))
    effect_id = await desk.unknown()
    desk.clock.advance(30)
    effect, finding = await desk.reconciler.reconcile("acme", effect_id)
    assert (effect.state, effect.took_place, effect.resolved_by) == (
        EffectState.RECONCILED,
        True,
        "reconcile:look_up",
    )
    assert (finding.took_place, effect.comment) == (True, "look_up answered 200: it took place.")
    assert [call.contract.name for call in desk.transport.calls] == ["book", "look_up"]
    assert desk.transport.calls[1].arguments == {"key": "abc"}
    again = await desk.executor.execute(request("book"), context(desk.clock))
    assert (again.status, again.fault.code if again.fault else "") == (
        ActionStatus.REJECTED,
        FaultCode.REPEATED_WRITE,
    )


async def test_an_effect_that_is_not_found_may_be_made_again() -> None:
    desk = Desk(LOST, json_reply({"found": False}), json_reply({"id": 1}))
    effect_id = await desk.unknown()
    desk.clock.advance(30)
    effect, _ = await desk.reconciler.reconcile("acme", effect_id)
    assert (effect.state, effect.took_place) == (EffectState.RECONCILED, False)
    again = await desk.executor.execute(request("book"), context(desk.clock))
    assert again.status is ActionStatus.SUCCEEDED


async def test_the_key_that_was_sent_may_be_looked_up() -> None:
    desk = Desk(LOST, json_reply({"found": True}))
    effect_id = await desk.unknown(BOOK_BY_KEY)
    desk.clock.advance(30)
    await desk.reconciler.reconcile("acme", effect_id)
    (effect,) = await desk.effects()
    assert desk.transport.calls[1].arguments == {"key": f"abc-{effect.idempotency_key}"}


@pytest.mark.parametrize(
    "answer",
    [
        json_reply({}),
        json_reply([1]),
        json_reply({"found": True}, 302),
        json_reply({"found": True}, 503),
        json_reply({"found": False}, 429),
        Reply(status_code=200, content_type="text/html", body=b"<html>"),
        TransportFault(FaultCode.TOOL_UNREACHABLE, "away", may_have_left=False),
        TransportFault(
            FaultCode.RESPONSE_INCOMPLETE, "cut", may_have_left=True, received=Reply(status_code=200, body=b"{")
        ),
    ],
)
async def test_an_answer_that_does_not_tell_leaves_it_unknown(answer: Answer) -> None:
    desk = Desk(LOST, answer)
    effect_id = await desk.unknown()
    desk.clock.advance(30)
    effect, finding = await desk.reconciler.reconcile("acme", effect_id)
    assert (effect.state, finding.took_place) == (EffectState.UNKNOWN, None)
    assert finding.words


@pytest.mark.parametrize(
    ("rule", "answer", "took_place"),
    [
        ({"===": [{"var": "status_code"}, 200]}, json_reply({}), True),
        ({"===": [{"var": "status_code"}, 200]}, json_reply({"error": "none"}, 404), False),
        ({"===": [{"var": ["body.found"]}, True]}, json_reply({"found": None}), False),
        ({"===": [{"var": ["body.found", False]}, True]}, json_reply({}), False),
        ({"===": [{"var": "body.all.0.key"}, {"var": "arguments.key"}]}, json_reply({"all": [{"key": "abc"}]}), True),
        ({"===": [{"var": "body.all.0.key"}, "abc"]}, json_reply({"all": []}), None),
        ({">": [{"var": "body.count"}, 0]}, json_reply({"count": None}), None),
    ],
)
async def test_the_rule_says_what_an_answer_means(rule: Any, answer: Reply, took_place: bool | None) -> None:
    desk = Desk(LOST, answer)
    tools = catalogue(None, replace(BOOK, reconcile=Reconcile(tool="look_up", took_place=rule)))
    effect_id = await desk.unknown()
    desk.clock.advance(30)
    reconciler = Reconciler(tools, desk.ledger, desk.executor.execute, desk.clock, desk.telemetry.metrics, PACE)
    _, finding = await reconciler.reconcile("acme", effect_id)
    assert finding.took_place is took_place


async def test_a_call_that_may_be_under_way_is_not_looked_up() -> None:
    desk = Desk(LOST)
    effect_id = await desk.unknown()
    desk.clock.advance(29)
    effect, finding = await desk.reconciler.reconcile("acme", effect_id)
    assert (effect.state, finding.took_place) == (EffectState.UNKNOWN, None)
    assert len(desk.transport.calls) == 1


async def test_a_pending_job_is_left_to_its_handle() -> None:
    desk = Desk(json_reply({"job": 1}, 202))
    result = await desk.executor.execute(request("book"), context(desk.clock))
    assert result.status is ActionStatus.PENDING
    desk.clock.advance(1000)
    effect, finding = await desk.reconciler.reconcile("acme", result.effect_id)
    assert (effect.state, finding.took_place) == (EffectState.UNKNOWN, None)
    assert len(desk.transport.calls) == 1


async def test_what_cannot_be_looked_up_is_said() -> None:
    desk = Desk(LOST, json_reply({"id": 1}))
    plain = await desk.executor.execute(request("change"), context(desk.clock))
    assert plain.status is ActionStatus.OUTCOME_UNKNOWN
    with pytest.raises(NoLookUp, match="change declares no"):
        await desk.reconciler.reconcile("acme", plain.effect_id)
    done = await desk.executor.execute(request("change", step_id="1.t2", arguments={"key": "xyz"}), context(desk.clock))
    with pytest.raises(EffectSettled):
        await desk.reconciler.reconcile("acme", done.effect_id)
    with pytest.raises(UnknownEffect):
        await desk.reconciler.reconcile("other", plain.effect_id)


async def test_a_look_up_that_cannot_be_made_leaves_it_unknown() -> None:
    desk = Desk(LOST)
    effect_id = await desk.unknown()
    desk.clock.advance(30)

    async def away(_request: ExecuteRequest, _call: object) -> ActionResult:
        raise BackendUnavailable("away")

    _, finding = await desk.reconciling(away).reconcile("acme", effect_id)
    assert finding.words == "look_up could not be called: BACKEND_UNAVAILABLE."


@pytest.mark.parametrize("served_by", [ServedBy.CACHE, ServedBy.FALLBACK])
async def test_only_the_tools_own_answer_of_now_counts(served_by: ServedBy) -> None:
    desk = Desk(LOST)
    effect_id = await desk.unknown()
    desk.clock.advance(30)

    async def stale(_request: ExecuteRequest, _call: object) -> ActionResult:
        return ActionResult(
            step_id="s",
            tool="look_up",
            status=ActionStatus.SUCCEEDED,
            parsed={"found": False},
            status_code=200,
            served_by=served_by,
        )

    effect, _ = await desk.reconciling(stale).reconcile("acme", effect_id)
    assert effect.state is EffectState.UNKNOWN


async def test_an_answer_that_was_cut_off_or_nests_too_deep_does_not_tell() -> None:
    desk = Desk(LOST)
    effect_id = await desk.unknown()
    desk.clock.advance(30)
    deep: Any = "leaf"
    for _ in range(64):
        deep = [deep]
    whole = ActionResult(
        step_id="s",
        tool="look_up",
        status=ActionStatus.SUCCEEDED,
        parsed={"found": False},
        status_code=200,
        served_by=ServedBy.PRIMARY,
    )
    words = []
    for answer in (replace(whole, parsed={"found": False, "deep": deep}), replace(whole, body=Body(truncated=True))):

        async def answered(_asked: ExecuteRequest, _call: object, answer: ActionResult = answer) -> ActionResult:
            return answer

        effect, finding = await desk.reconciling(answered).reconcile("acme", effect_id)
        assert (effect.state, finding.took_place) == (EffectState.UNKNOWN, None)
        words.append(finding.words)
    assert words == [
        "The answer of look_up nests too deep to be judged.",
        "look_up answered 200, and the body was cut off.",
    ]


async def test_an_outcome_that_came_while_it_was_looked_up_stands() -> None:
    desk = Desk(LOST)
    effect_id = await desk.unknown()
    desk.clock.advance(30)

    async def late(asked: ExecuteRequest, call: Any) -> ActionResult:
        await desk.ledger.resolve("acme", Resolution(effect_id=effect_id, took_place=False, resolved_by="ana"))
        desk.transport.then(json_reply({"found": True}))
        return await desk.executor.execute(asked, call)

    effect, _ = await desk.reconciling(late).reconcile("acme", effect_id)
    assert (effect.took_place, effect.resolved_by) == (False, "ana")


async def test_a_round_looks_up_a_batch_and_comes_back_later_to_the_rest() -> None:
    desk = Desk(*[LOST] * 5, *[json_reply({"found": number < 2}) for number in range(2)], json_reply({}))
    for number in range(5):
        await desk.unknown(key=f"key{number}")
    desk.clock.advance(299)
    assert await desk.reconciler.round() == 0  # its time has not come
    desk.clock.advance(1)
    assert await desk.reconciler.round() == 2
    desk.transport.then(json_reply({"found": True}))
    desk.transport.then(json_reply({"found": True}))
    assert await desk.reconciler.round() == 2
    assert await desk.reconciler.round() == 0  # one is left, and it was looked up a moment ago
    states = sorted(effect.state.value for effect in await desk.effects())
    assert states == ["reconciled"] * 4 + ["unknown"]


async def test_without_a_tool_that_can_be_looked_up_nothing_is_asked() -> None:
    desk = Desk()
    desk.ledger.is_down = True
    plain = Reconciler(catalogue(), desk.ledger, desk.executor.execute, desk.clock, desk.telemetry.metrics, PACE)
    assert await plain.round() == 0
    assert "tools=0" in repr(plain)


async def test_a_call_without_recorded_arguments_is_left_to_a_person() -> None:
    desk = Desk(LOST)
    effect_id = await desk.unknown()
    entry = desk.ledger._store.entries[effect_id]
    desk.ledger._store.entries[effect_id] = replace(entry, arguments_text="")
    desk.clock.advance(300)
    with pytest.raises(NoLookUp):
        await desk.reconciler.reconcile("acme", effect_id)
    assert await desk.reconciler.round() == 0
    assert len(desk.transport.calls) == 1


class Keeping(Desk):
    """A keeper on the same doubles."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(*answers)
        self.keeper = LedgerKeeper(
            self.ledger,
            self.executor.write_guard,
            self.reconciler,
            self.clock,
            self.telemetry.metrics,
            lease_seconds=8.0,
            look_up_every_seconds=300.0,
        )

    def counted(self, name: str, **labels: str) -> float | None:
        return self.telemetry.metrics.registry.get_sample_value(name, labels)


async def test_the_keeper_beats_sweeps_and_looks_up() -> None:
    desk = Keeping(LOST, json_reply({"found": True}))
    effect_id = await desk.unknown()
    dead = InMemoryEffectLedger(desk.clock, desk.ledger._store)
    claim = await dead.plan(replace(desk.ledger._store.intents[effect_id], tool="change", request_id="q9"))
    await dead.start(claim.entry.effect.effect_id)
    async with desk.keeper as keeper:
        while not desk.counted("taoloop_action_effects_looked_up_total", tool="book", outcome="took_place"):
            await desk.clock.sleep(0)
        assert "LedgerKeeper" in repr(keeper)
    states = {effect.tool: effect.state for effect in await desk.effects()}
    assert states == {"book": EffectState.RECONCILED, "change": EffectState.UNKNOWN}
    assert desk.counted("taoloop_action_effects_swept_total", state="unknown") == 1


async def test_a_store_that_is_away_does_not_end_the_keeper() -> None:
    desk = Keeping()
    desk.ledger.is_down = True
    await desk.keeper.keep()
    await desk.keeper.look_up()
    assert desk.counted("taoloop_action_ledger_beats_lost_total") == 2
    desk.ledger.is_down = False
    await desk.keeper.keep()
