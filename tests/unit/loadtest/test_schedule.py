"""Arrivals are fixed by the schedule alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from loadtest.mix import MixedTask
from loadtest.schedule import Arrivals, Schedule, arrivals_of
from taoloop.plan.task import Task

OFTEN = MixedTask(task_id="often", task=Task(), weight=3.0)
SELDOM = MixedTask(task_id="seldom", task=Task(), weight=1.0)
CONSTANT = Schedule(rate_per_second=10.0, warm_up_seconds=0.5, duration_seconds=2.0, arrivals=Arrivals.CONSTANT, seed=1)
POISSON = replace(CONSTANT, rate_per_second=2_000.0, arrivals=Arrivals.POISSON)


def offsets(schedule: Schedule) -> list[float]:
    return [arrival.offset_seconds for arrival in arrivals_of(schedule, (OFTEN, SELDOM))]


def test_constant_arrivals_are_a_rate_apart_until_the_end() -> None:
    assert offsets(CONSTANT) == pytest.approx([number / 10 for number in range(25)])


def test_arrivals_of_the_warm_up_are_not_measured() -> None:
    measured = [arrival.is_measured for arrival in arrivals_of(CONSTANT, (OFTEN,))]

    assert measured == [False] * 5 + [True] * 20


def test_poisson_arrivals_have_the_set_rate_and_exponential_gaps() -> None:
    found = offsets(POISSON)
    gaps = [later - earlier for earlier, later in pairwise(found)]
    mean = sum(gaps) / len(gaps)
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5

    assert len(found) == pytest.approx(2_000 * 2.5, rel=0.05)
    assert deviation == pytest.approx(mean, rel=0.05)  # of an exponential distribution; 0 of a constant one


def test_same_seed_gives_the_same_arrivals() -> None:
    assert list(arrivals_of(POISSON, (OFTEN, SELDOM))) == list(arrivals_of(POISSON, (OFTEN, SELDOM)))


def test_other_seed_gives_other_arrivals() -> None:
    assert offsets(POISSON) != offsets(replace(POISSON, seed=2))


def test_tasks_are_drawn_by_weight() -> None:
    drawn = Counter(arrival.task.task_id for arrival in arrivals_of(POISSON, (OFTEN, SELDOM)))

    assert drawn["often"] / drawn.total() == pytest.approx(0.75, abs=0.03)


def test_kind_of_arrivals_does_not_change_the_sequence_of_tasks() -> None:
    constant = replace(POISSON, arrivals=Arrivals.CONSTANT)
    first, second = ([each.task for each in arrivals_of(kind, (OFTEN, SELDOM))][:500] for kind in (POISSON, constant))

    assert first == second
