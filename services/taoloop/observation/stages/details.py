"""The words beside each score: what was checked, what failed, where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from taoloop.observation.stages.model import Flaw, Stage

_MAX_NAMED: Final = 5
_CONSISTENCY: Final = Stage.CONSISTENCY.value
CONSISTENT: Final = "consistency_ok"
"""The id of a consistency that holds: the last one of its trail."""
SNAPSHOT_CONSUMED: Final = "snapshot_consumed"
"""The id of a call whose arguments carry the state snapshot; it stands before `CONSISTENT`."""
_OF_CONSISTENCY: Final = frozenset({CONSISTENT, SNAPSHOT_CONSUMED})


def details(passed: Sequence[str], flaws: Sequence[Flaw], soft: tuple[float, int], note: str) -> tuple[str, str, str]:
    """Return what the hard, the soft and the consistency score are made of; empty for a stage that did not run.

    Args:
        passed: Ids of what passed.
        flaws: What did not.
        soft: How many soft checks passed, of how many.
        note: What else is to be said of how the data was chosen.
    """
    # What passed is told by ids of one list: a soft check that passed whole has one, and so has the consistency.
    sound = len(passed) - int(soft[0]) - sum(one in _OF_CONSISTENCY for one in passed[-2:])
    if not flaws:
        return _hard(sound, (), note), f"{soft[0]:g} of {soft[1]} passed" if soft[1] else "", _agreement(passed, ())
    hard = [found for found in flaws if found.failure.hard and found.failure.stage != _CONSISTENCY]
    doubts = [found for found in flaws if not found.failure.hard]
    differing = [found for found in flaws if found.failure.stage == _CONSISTENCY]
    return _hard(sound, hard, note), _soft(soft, doubts), _agreement(passed, differing)


def _hard(passed: int, failed: Sequence[Flaw], note: str) -> str:
    said = f"failed: {_named(failed)}" if failed else f"{passed} checks passed"
    return f"{said}; {note}" if note else said


def _soft(soft: tuple[float, int], failed: Sequence[Flaw]) -> str:
    if not soft[1]:
        return ""
    said = f"{soft[0]:g} of {soft[1]} passed"
    return f"{said}; failed: {_named(failed)}" if failed else said


def _agreement(passed: Sequence[str], differing: Sequence[Flaw]) -> str:
    if differing:
        return f"not as expected: {_named(differing)}"
    return "as expected" if _is_as_expected(passed) else ""


def _is_as_expected(passed: Sequence[str]) -> bool:
    return bool(passed) and passed[-1] == CONSISTENT


def _named(flaws: Sequence[Flaw]) -> str:
    named = [_name(found) for found in flaws[:_MAX_NAMED]]
    more = len(flaws) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _name(found: Flaw) -> str:
    failure = found.failure
    what = failure.rule_id or failure.stage
    return f"{what} at {failure.pointer}" if failure.pointer else what
