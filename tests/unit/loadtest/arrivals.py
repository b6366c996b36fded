"""Arrivals for the tests of what is made of them."""

from __future__ import annotations

from loadtest.mix import MixedTask
from loadtest.schedule import Arrival
from taoloop.plan.task import Outcome, Role, Task, Turn


def task(task_id: str = "a", expected: frozenset[Outcome] = frozenset()) -> MixedTask:
    """Return a task whose text is its id."""
    return MixedTask(task_id=task_id, task=Task(turns=(Turn(role=Role.USER, text=task_id),)), expected=expected)


def arrival(offset_seconds: float = 0.0, *, of: MixedTask | None = None, is_measured: bool = True) -> Arrival:
    """Return an arrival."""
    return Arrival(offset_seconds, of or task(), is_measured)
