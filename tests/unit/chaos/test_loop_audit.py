"""The audit of the loop's chaos test finds what must not be; the wishes are those of the seed."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest

from taoloop.client import Outcome, RunEvent, RunFinished, RunResult, RunStarted, RunSummary
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.effects import EffectRecord, EffectState
from taoloop.plan.running import ActionReturned, EventBody, WaitingBegan
from taoloop.plan.thinking import Answer
from tests.chaos.loop.audit import Evidence, audited
from tests.chaos.loop.callers import Notes, Told
from tests.chaos.loop.leftovers import Leftovers
from tests.chaos.loop.wishes import Manner, Wish, wishes
from tests.chaos.receiver import Receiver

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
RUN = "a" * 32
DONE = ActionReturned(result=ActionResult(step_id="1.t2", tool="order_basket", status=ActionStatus.SUCCEEDED))
BODIES: tuple[EventBody, ...] = (RunStarted(), DONE, Answer(text="Ordered"), RunFinished(outcome=Outcome.ANSWERED))


def log_of(*bodies: EventBody) -> list[RunEvent]:
    return [
        RunEvent(run_id=RUN, sequence=number, time=MOMENT, host_epoch=1, body=body)
        for number, body in enumerate(bodies, 1)
    ]


def wish_of(manner: Manner) -> Wish:
    return next(wish for wish in wishes(200, Random(1)) if wish.manner is manner)


def sound(manner: Manner = Manner.ORDER) -> Evidence:
    """Return what one run leaves behind that ordered something."""
    wish, log = wish_of(manner), log_of(*BODIES)
    receiver = Receiver(log=-1, random=Random(1))
    receiver.orders[wish.order_key] = 1
    told = Told(run_id=RUN, seen=4, events={event.sequence: event for event in log})
    told.result = RunResult(run_id=RUN, outcome=Outcome.ANSWERED)
    told.decided = "approved"
    effect = EffectRecord(effect_id="e", run_id=RUN, step_id="1.t2", state=EffectState.SUCCEEDED)
    summary = RunSummary(run_id=RUN, request_id=wish.task.request_id, outcome=Outcome.ANSWERED)
    left = Leftovers(runs=[summary], logs={RUN: log}, leases=[], jobs=0)
    return Evidence([wish], Notes(told={wish.number: told}), receiver, [effect], left)


def told_of(evidence: Evidence) -> Told:
    return evidence.notes.told[evidence.wishes[0].number]


def with_left(**changes: object) -> Callable[[Evidence], Evidence]:
    return lambda evidence: replace(evidence, left=replace(evidence.left, **changes))  # type: ignore[arg-type]


def with_log(*log: RunEvent) -> Callable[[Evidence], Evidence]:
    return with_left(logs={RUN: list(log)})


def with_state(state: EffectState) -> Callable[[Evidence], Evidence]:
    return lambda evidence: replace(evidence, effects=[replace(each, state=state) for each in evidence.effects])


def with_orders(count: int) -> Callable[[Evidence], Evidence]:
    def changed(evidence: Evidence) -> Evidence:
        evidence.receiver.orders[evidence.wishes[0].order_key] = count
        return evidence

    return changed


def untold(evidence: Evidence) -> Evidence:
    told_of(evidence).result = None
    return evidence


def told_otherwise(evidence: Evidence) -> Evidence:
    told = told_of(evidence)
    told.events[3] = replace(told.events[3], body=Answer(text="Something else"))
    return evidence


def told_more(evidence: Evidence) -> Evidence:
    told = told_of(evidence)
    told.events[5] = replace(told.events[4], sequence=5)
    return evidence


def undecided(evidence: Evidence) -> Evidence:
    told_of(evidence).decided = ""
    return evidence


SOUND_LOG = log_of(*BODIES)
OTHER = RunSummary(run_id="b" * 32, request_id="wish-7", outcome=Outcome.ANSWERED)


def test_sound_run_has_no_violation_and_its_counts() -> None:
    for manner in (Manner.ORDER, Manner.APPROVE):
        audit = audited(sound(manner))
        assert audit.violations == []
        assert audit.counts["outcomes"] == {"answered": 1}
        assert (audit.counts["doubled"], audit.counts["runs_with_lost_events"], audit.counts["events"]) == (0, 0, 4)


@pytest.mark.parametrize(
    ("manner", "broken", "violation"),
    [
        (Manner.ORDER, with_orders(2), "took effect 2 times"),
        (Manner.ORDER, with_orders(0), "a write that succeeded took no effect"),
        (Manner.ORDER, with_orders(0), "and nothing was ordered"),
        (Manner.ORDER, with_orders(0), "the ledger says that it took place, and it did not"),
        (Manner.READ, with_orders(1), "that nobody wanted or allowed"),
        (Manner.REJECT, with_orders(1), "that nobody wanted or allowed"),
        (Manner.APPROVE, undecided, "for which nobody gave leave"),
        (Manner.ORDER, untold, "its caller was told nothing"),
        (Manner.ORDER, with_log(*SOUND_LOG[:1], *SOUND_LOG[2:]), "its events have the numbers [1, 3, 4]"),
        (Manner.ORDER, with_log(SOUND_LOG[0], *SOUND_LOG), "its events have the numbers [1, 1, 2, 3, 4]"),
        (
            Manner.ORDER,
            with_log(replace(SOUND_LOG[0], host_epoch=2), *SOUND_LOG[1:]),
            "the epochs of its hosts are [2, 1, 1, 1]",
        ),
        (Manner.ORDER, with_log(*log_of(RunStarted(), *BODIES)), "it did not begin once"),
        (Manner.ORDER, with_log(*log_of(*BODIES, BODIES[-1])), "it went on after its end"),
        (Manner.ORDER, with_log(*log_of(*BODIES[:3])), "its caller was told answered, and its last event is"),
        (
            Manner.ORDER,
            with_log(*log_of(*BODIES[:3], RunFinished(outcome=Outcome.FAILED))),
            "its caller was told answered, and its last event is",
        ),
        (Manner.ORDER, told_otherwise, "the events [3] were told, and are not in the log"),
        (Manner.ORDER, told_more, "the events [5] were told, and are not in the log"),
        (Manner.ORDER, with_state(EffectState.STARTED), "is still started"),
        (Manner.ORDER, with_state(EffectState.FAILED), "took effect, and the ledger says ['failed']"),
        (Manner.ORDER, with_left(leases=[RUN]), "1 leases are left"),
        (Manner.ORDER, with_left(jobs=2), "2 thoughts are left in the queue"),
        (Manner.ORDER, with_left(runs=[OTHER]), "1 runs are known to no caller"),
        (Manner.ORDER, with_left(runs=[]), "1 runs are in no list"),
        (Manner.ORDER, with_left(runs=[OTHER, OTHER]), "wish-7 has 2 runs"),
        (Manner.ORDER, with_left(runs=[RunSummary(run_id=RUN)]), "1 runs never end"),
    ],
)
def test_what_must_not_be_is_found(manner: Manner, broken: Callable[[Evidence], Evidence], violation: str) -> None:
    audit = audited(broken(deepcopy(sound(manner))))
    assert [each for each in audit.violations if violation in each], audit.violations


def test_outcome_that_nobody_knows_is_no_violation() -> None:
    evidence = with_state(EffectState.UNKNOWN)(sound())
    lost = ActionReturned(result=replace(DONE.result, status=ActionStatus.OUTCOME_UNKNOWN))  # type: ignore[type-var]
    evidence = with_log(*log_of(RunStarted(), lost, RunFinished(outcome=Outcome.NEEDS_HUMAN)))(evidence)
    told_of(evidence).events = {}
    told_of(evidence).result = RunResult(run_id=RUN, outcome=Outcome.NEEDS_HUMAN)
    assert audited(evidence).violations == []


def test_run_that_rests_may_go_on() -> None:
    rest = RunFinished(outcome=Outcome.NEEDS_APPROVAL)
    evidence = with_log(*log_of(RunStarted(), rest, WaitingBegan(reason="job"), *BODIES[1:]))(sound())
    told_of(evidence).events = {}
    assert audited(evidence).violations == []


def test_wishes_are_those_of_the_seed_and_of_every_manner() -> None:
    assert wishes(500, Random(3)) == wishes(500, Random(3))
    assert wishes(500, Random(3)) != wishes(500, Random(4))
    made = wishes(500, Random(3))
    assert {wish.manner for wish in made} == set(Manner)
    assert len({wish.task.request_id for wish in made}) == len({wish.order_key for wish in made}) == 500
    assert any(wish.is_streamed for wish in made)
    assert not any(wish.is_streamed and wish.manner is Manner.APPROVE for wish in made)
