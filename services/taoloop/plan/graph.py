"""The graph that `depends_on` spans over steps: order, cycles, what hangs on a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Dependencies = Mapping[str, Sequence[str]]
"""Step ids, in the plan's order, each with the ids that it waits for; ids that are no key are ignored."""


def topological_order(dependencies: Dependencies) -> tuple[str, ...]:
    """Return the ids so that each follows what it waits for; among those that are free, the plan's order decides.

    Members of cycles, and what hangs on them, are left out.

    >>> topological_order({"b": ["a"], "a": [], "c": []})
    ('a', 'c', 'b')

    Source: Kahn 1962, in rounds, so that the order is stable.
    """
    waiting = {step: {other for other in others if other in dependencies} for step, others in dependencies.items()}
    order: list[str] = []
    while waiting:
        free = [step for step, others in waiting.items() if others.isdisjoint(waiting)]
        if not free:
            break
        for step in free:
            del waiting[step]
        order.extend(free)
    return tuple(order)


def cycles(dependencies: Dependencies) -> tuple[tuple[str, ...], ...]:
    """Return the members of each group of steps that wait for one another, in the plan's order.

    A step that waits for itself is a group of one. Steps that merely hang on a cycle are no members.
    """
    reach = {step: ancestors(dependencies, step) for step in dependencies}
    groups: list[tuple[str, ...]] = []
    grouped: set[str] = set()
    for step in dependencies:
        if step in grouped or step not in reach[step]:
            continue
        group = tuple(other for other in dependencies if other in reach[step] and step in reach[other])
        grouped.update(group)
        groups.append(group)
    return tuple(groups)


def ancestors(dependencies: Dependencies, step: str) -> frozenset[str]:
    """Return every id that the step waits for, directly or through others; itself only on a cycle."""
    return _closure(dependencies, dependencies.get(step, ()))


def dependents(dependencies: Dependencies, failed: Iterable[str]) -> frozenset[str]:
    """Return every id that waits for one of these, directly or through others, without these themselves."""
    waiters: dict[str, list[str]] = {}
    for step, others in dependencies.items():
        for other in others:
            waiters.setdefault(other, []).append(step)
    start = frozenset(failed)
    return _closure(waiters, [waiter for step in start for waiter in waiters.get(step, ())]) - start


def _closure(edges: Mapping[str, Sequence[str]], start: Iterable[str]) -> frozenset[str]:
    seen: set[str] = set()
    pending = list(start)
    while pending:
        step = pending.pop()
        if step not in seen:
            seen.add(step)
            pending.extend(edges.get(step, ()))
    return frozenset(seen)
