"""Which of many named things an import takes: those that a pattern names, and never more than a cap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from taoloop.tools.importing.findings import ImportFinding, ImportRefused, Level

ItemT = TypeVar("ItemT")

DEFAULT_MAX_TOOLS: Final = 50
"""Most tools of one import: a catalogue that nobody has read serves nobody."""


def chosen(
    items: Sequence[ItemT],
    include: Sequence[str],
    is_named: Callable[[ItemT, str], bool],
    max_tools: int,
    noun: str,
) -> tuple[ItemT, ...]:
    """Return the items that some pattern names, in their order.

    Args:
        items: All there are.
        include: Patterns.
        is_named: Whether a pattern names an item.
        max_tools: Most items that may be chosen.
        noun: What an item is called, such as `operation`.

    Raises:
        ImportRefused: A pattern names nothing, or too many items are chosen.
    """
    idle = [pattern for pattern in include if not any(is_named(item, pattern) for item in items)]
    if idle:
        raise ImportRefused(*(_refusal(f"no {noun} is called {pattern!r}") for pattern in idle))
    found = tuple(item for item in items if any(is_named(item, pattern) for pattern in include))
    if len(found) > max_tools:
        raise ImportRefused(_refusal(f"{len(found)} {noun}s are chosen, more than {max_tools}"))
    return found


def _refusal(cause: str) -> ImportFinding:
    remedy = "List them without --include and choose the few that users ask for; --max-tools raises the cap."
    return ImportFinding(level=Level.ERROR, code="INCLUDE", place="--include", cause=cause, remedy=remedy)
