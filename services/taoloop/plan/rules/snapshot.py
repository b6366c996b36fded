"""The state snapshot of a plan: what may be named of it, and whether the arguments of a call carry an entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, equal
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.check_context import CheckContext, invalid, near, plan_fault, step_place
from taoloop.plan.model import PlanStep, ThoughtPlan

DATE_RANGE: Final = "date_range"
"""The entry of the days that a plan is about, `2026-03-01~2026-03-31`; of one day both ends are the same."""
USER_INTENT: Final = "user_intent"
"""The entry of what the user wants: the tool that the plan ends with."""

_DAY: Final = re.compile(r"(\d{4})([-/.]?)(\d{2})\2(\d{2})(?!\d)")
_RANGE: Final = re.compile(r"\s*(\S+)\s*~\s*(\S+)\s*")


def snapshot_is_an_object(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """The state snapshot, where there is one, is an object."""
    if not isinstance(plan.state_snapshot, Absent | dict):
        yield invalid("/state_snapshot", "The state snapshot is not an object.")


def snapshot_uses_are_true(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """A step names entries that the state snapshot has, and where its arguments are known they carry them."""
    snapshot = plan.state_snapshot if isinstance(plan.state_snapshot, dict) else {}
    for index, step in enumerate(plan.steps):
        values = _values(step)
        for position, name in enumerate(step.uses_snapshot):
            place = step_place(index, "uses_snapshot", position)
            if name not in snapshot:
                yield plan_fault(
                    FaultCode.INVALID_PLAN, place, f"The state snapshot has no entry {name[:60]!r}.",
                    actual=name, candidates=near(name, tuple(snapshot)),
                )  # fmt: skip
            elif values is not None and not carries(values, snapshot[name]):
                yield plan_fault(
                    FaultCode.INVALID_PLAN, place,
                    f"No argument of the step carries the entry {name[:60]!r} of the state snapshot.",
                    expected=snapshot[name], actual=values,
                )  # fmt: skip


def carries(arguments: JsonValue, entry: JsonValue) -> bool:
    """Tell whether the arguments of a call carry the value of an entry.

    An entry of a list or an object is carried whole, or part by part. A day is carried by a date or a date-time of
    that day in ISO order, `2026-03-01`, `2026/03/01`, `20260301` or `2026-03-01T08:00:00Z`; a range of days by its own
    text, or by its two ends; anything else by an equal value.

    >>> carries({"from": "2026-03-01", "to": "2026-03-31T23:59:59Z"}, "2026-03-01~2026-03-31")
    True
    >>> carries({"from": "2026-02-01", "to": "2026-02-28"}, "2026-03-01~2026-03-31")
    False
    """
    if isinstance(entry, dict | list) and entry:
        parts = entry.values() if isinstance(entry, dict) else entry
        return _has_equal(arguments, entry) or all(carries(arguments, part) for part in parts)
    leaves = list(_leaves(arguments))
    if any(equal(leaf, entry) for leaf in leaves):
        return True
    days = _days_of(entry)
    return bool(days) and days <= {day for leaf in leaves if (day := _day_of(leaf))}


def day_range(values: Iterable[Json]) -> str:
    """Return the days of a call's arguments as an entry: one day, the two ends of a period, or a range; else empty.

    >>> day_range(["2026-03-31", "2026-03-01"]), day_range(["2026-03-11"]), day_range(["soon"])
    ('2026-03-01~2026-03-31', '2026-03-11~2026-03-11', '')
    """
    days = sorted({day for value in values if isinstance(value, str) for day in _days_of(value)})
    return f"{days[0]}~{days[-1]}" if 0 < len(days) <= 2 else ""


def used_entries(plan: ThoughtPlan | None, step: PlanStep) -> Json:
    """Return the entries of the plan's state snapshot that a step has to carry; absent when it names none.

    An entry that the snapshot does not have is null there: no call carries it unless it carries null.
    """
    if plan is None or not step.uses_snapshot or not isinstance(plan.state_snapshot, dict):
        return ABSENT
    return {name: plan.state_snapshot.get(name) for name in step.uses_snapshot}


def _values(step: PlanStep) -> list[JsonValue] | None:
    """Return the step's arguments as far as the plan says them; None while one of them is not known."""
    values = [binding.value for binding in step.bindings]
    known = [value for value in values if not isinstance(value, Absent)]
    return known if len(known) == len(values) else None


def _has_equal(arguments: JsonValue, entry: JsonValue) -> bool:
    if equal(arguments, entry):
        return True
    parts = arguments.values() if isinstance(arguments, dict) else arguments if isinstance(arguments, list) else ()
    return any(_has_equal(part, entry) for part in parts)


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    else:
        yield value


def _days_of(entry: JsonValue) -> set[str]:
    """Return the day of an entry, or the two ends of a range; none for what is neither."""
    if not isinstance(entry, str):
        return set()
    ends = _RANGE.fullmatch(entry)
    days = {_day_of(end) for end in (ends.groups() if ends else (entry,))}
    return set() if "" in days else days


def _day_of(leaf: JsonValue) -> str:
    found = _DAY.match(leaf) if isinstance(leaf, str) else None
    return f"{found[1]}-{found[3]}-{found[4]}" if found else ""
