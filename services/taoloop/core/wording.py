"""How messages say numbers of things."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, which takes an s when there is not one.

    >>> counted(1, "fault"), counted(0, "fault"), counted(2, "fault")
    ('1 fault', '0 faults', '2 faults')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
