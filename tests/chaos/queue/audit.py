"""Compares what callers were told with what was planned and with what is left in the queue."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.chaos.queue.front import SHARED
from tests.chaos.queue.leftovers import Leftovers
from tests.chaos.queue.notes import ANSWERED, GAVE_UP, NO_THOUGHT, FrontNotes, Planned, Told

CLEAR: Final = frozenset({"DEADLINE_EXCEEDED", "BACKEND_UNAVAILABLE", "QUEUE_FULL", "TENANT_QUEUE_FULL"})
"""Faults that a caller may be told; `INTERNAL` too, where the job was handed out too often and is a dead letter."""
LATE_MS: Final = 20.0
"""A planning that was begun in time may be noted a little later."""
EARLY_MS: Final = 1000.0
"""A caller who is told that its time is over has no more left than this."""


@dataclass(frozen=True)
class Evidence:
    """What a run leaves behind.

    Attributes:
        fronts: Notes by the name of the front.
        planned: The workers' notes.
        left: What is in the server.
        queued_again: How many accepted jobs the server had lost, so that their front put them there again.
    """

    fronts: Mapping[str, FrontNotes]
    planned: tuple[Planned, ...]
    left: Leftovers
    queued_again: int = 0


@dataclass(frozen=True)
class QueueAudit:
    """The findings.

    Attributes:
        violations: What must not be; none is what is wanted.
        counts: How much of what there was.
    """

    violations: list[str]
    counts: dict[str, Any]


def audited(evidence: Evidence) -> QueueAudit:
    """Return what is wrong with a run, and its counts."""
    told = [each for notes in evidence.fronts.values() for each in notes.told]
    lost = [
        f"{job}, asked of {name}, was told nothing" for name, notes in evidence.fronts.items() for job in notes.untold()
    ]
    doubled = [*_told_twice(evidence.fronts), *_answers_that_differ(told, evidence.planned)]
    late = [each for each in evidence.planned if each.late_ms > LATE_MS]
    violations = [*lost, *doubled]
    violations += [f"{each.job} was planned {each.late_ms:.0f} ms after its deadline" for each in late]
    violations += [*_unclear(told, evidence.left), *_too_early(told), *_left(evidence.left)]
    faults = Counter(each.outcome for each in told if each.outcome not in (ANSWERED, GAVE_UP))
    refused = Counter(reason for notes in evidence.fronts.values() for reason in notes.refused)
    counts = {
        "sent": sum(len(set(notes.asked)) for notes in evidence.fronts.values()),
        "accepted": evidence.left.accepted - evidence.queued_again,
        "answered": sum(each.outcome == ANSWERED for each in told),
        "gave_up": sum(each.outcome == GAVE_UP for each in told),
        "faults": dict(sorted(faults.items())),
        "faults_of_patient": sum(each.is_patient and each.outcome not in (ANSWERED, GAVE_UP) for each in told),
        "refused_and_repeated": dict(sorted(refused.items())),
        "planned": len(evidence.planned),
        "planned_again": len(evidence.planned) - len({each.job for each in evidence.planned}),
        "queued_again": evidence.queued_again,
        "planned_late": len(late),
        "doubled": len(doubled),
        "lost": len(lost),
        "left": evidence.left.entries,
        "pending": evidence.left.pending,
        "accounts": evidence.left.accounts,
        "dead": evidence.left.dead,
    }
    return QueueAudit(violations, counts)


def _told_twice(fronts: Mapping[str, FrontNotes]) -> Iterable[str]:
    for name, notes in fronts.items():
        for job, times in Counter(each.job for each in notes.told).items():
            if times > 1:
                yield f"{job}, asked of {name}, was told {times} times"


def _answers_that_differ(told: Iterable[Told], planned: Iterable[Planned]) -> Iterable[str]:
    """Yield the jobs with several answers, and with one that no worker made for them."""
    made = {each.thought: each.job for each in planned}
    thoughts: defaultdict[str, set[str]] = defaultdict(set)
    for each in told:
        if each.thought != NO_THOUGHT:
            thoughts[each.job].add(each.thought)
    for job, answers in thoughts.items():
        if len(answers) > 1:
            yield f"{job} has {len(answers)} answers"
        for answer in answers:
            if made.get(answer) != job:
                yield f"{job} was told the thought {answer}, which was made for {made.get(answer, 'nobody')}"


def _unclear(told: Iterable[Told], left: Leftovers) -> Iterable[str]:
    words = Counter(each.outcome for each in told if each.outcome not in {ANSWERED, GAVE_UP, *CLEAR})
    # All who ask for a dead letter's job are told so.
    if set(words) - {"INTERNAL"} or (words and not left.dead):
        yield f"no clear fault: {dict(words)}, with {left.dead} dead letters"


def _too_early(told: Iterable[Told]) -> Iterable[str]:
    for each in told:
        # Where others ask for the job too, or asked before, the deadline is theirs.
        is_others = each.is_again or each.job.startswith(SHARED)
        if each.outcome == "DEADLINE_EXCEEDED" and each.left_ms > EARLY_MS and not is_others:
            yield f"{each.job} was told that its time is over {each.left_ms:.0f} ms before it was"


def _left(left: Leftovers) -> Iterable[str]:
    if left.entries or left.pending:
        yield f"{left.entries} entries are left in the queue, {left.pending} pending"
    if left.accounts:
        yield f"{left.accounts} tenants still have something in the queue"
    if left.deathless:
        yield f"{len(left.deathless)} keys never expire: {', '.join(left.deathless[:5])}"
