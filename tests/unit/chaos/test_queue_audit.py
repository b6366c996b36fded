"""The audit of the queue's chaos test finds what must not be, and the accidents are those of the seed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.chaos.queue.audit import Evidence, audited
from tests.chaos.queue.leftovers import Leftovers
from tests.chaos.queue.notes import FrontNotes, Planned, Told
from tests.chaos.queue.schedule import AccidentKind, Topology, scheduled

EMPTY = Leftovers(entries=0, pending=0, accounts=0, deathless=(), dead=0, accepted=3)
TOLD = (
    Told("a-1", "ANSWERED", thought="t1"),
    Told("a-2", "DEADLINE_EXCEEDED", left_ms=0.0),
    Told("shared-3", "ANSWERED", thought="t3"),
)
NOTES = FrontNotes(asked=("a-1", "a-2", "shared-3"), told=TOLD, refused=("QUEUE_FULL",))
PLANNED = (Planned("a-1", -900.0, "t1"), Planned("shared-3", -10.0, "t0"), Planned("shared-3", 3.0, "t3"))
SOUND = Evidence(fronts={"a": NOTES}, planned=PLANNED, left=EMPTY)


def with_told(*told: Told) -> Evidence:
    return replace(SOUND, fronts={"a": replace(NOTES, told=told)})


def test_a_sound_run_has_no_violation_and_its_counts() -> None:
    audit = audited(SOUND)
    assert audit.violations == []
    wanted = {"sent": 3, "answered": 2, "planned": 3, "planned_again": 1, "lost": 0, "doubled": 0, "planned_late": 0}
    assert {name: audit.counts[name] for name in wanted} == wanted
    assert audit.counts["faults"] == {"DEADLINE_EXCEEDED": 1}


@pytest.mark.parametrize(
    ("evidence", "violation"),
    [
        (with_told(*TOLD[:2]), "shared-3, asked of a, was told nothing"),
        (with_told(*TOLD, TOLD[0]), "a-1, asked of a, was told 2 times"),
        (with_told(*TOLD, Told("shared-3", "ANSWERED", thought="t0")), "shared-3 has 2 answers"),
        (with_told(Told("a-1", "ANSWERED", thought="t3"), *TOLD[1:]), "which was made for shared-3"),
        (with_told(TOLD[0], Told("a-2", "DEADLINE_EXCEEDED", left_ms=9000.0), TOLD[2]), "9000 ms before it was"),
        (with_told(TOLD[0], Told("a-2", "INTERNAL"), TOLD[2]), "no clear fault: {'INTERNAL': 1}"),
        (replace(SOUND, planned=(*PLANNED, Planned("a-2", 25.0, "t2"))), "a-2 was planned 25 ms after its deadline"),
        (replace(SOUND, left=replace(EMPTY, entries=2, pending=1)), "2 entries are left in the queue, 1 pending"),
        (replace(SOUND, left=replace(EMPTY, accounts=1)), "1 tenants still have something"),
        (replace(SOUND, left=replace(EMPTY, deathless=("q:wait:x",))), "1 keys never expire: q:wait:x"),
    ],
)
def test_what_must_not_be_is_found(evidence: Evidence, violation: str) -> None:
    assert any(violation in found for found in audited(evidence).violations)


def test_a_job_that_is_a_dead_letter_may_be_told_as_internal() -> None:
    told = with_told(TOLD[0], Told("a-2", "INTERNAL"), TOLD[2])
    assert audited(replace(told, left=replace(EMPTY, dead=1))).violations == []


@pytest.mark.parametrize("topology", list(Topology))
def test_one_seed_gives_one_schedule_in_which_everything_happens(topology: Topology) -> None:
    accidents = scheduled(7, topology, 60.0, workers=3, fronts=2)
    assert accidents == scheduled(7, topology, 60.0, workers=3, fronts=2)
    assert accidents != scheduled(8, topology, 60.0, workers=3, fronts=2)
    everything = set(AccidentKind) - ({AccidentKind.CUT_OFF} if topology is Topology.SENTINEL else set())
    assert {accident.kind for accident in accidents} == everything
    assert list(accidents) == sorted(accidents, key=lambda accident: accident.at_seconds)
    assert all(accident.at_seconds < 60.0 for accident in accidents)
