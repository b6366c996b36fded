"""What is said about a fault code."""

from __future__ import annotations

from typing import NamedTuple


class Sentences(NamedTuple):
    """What a code means to people, and to the planner."""

    meaning: str
    """What happened, in one sentence."""
    remedy: str
    """What the planner, the caller or the operator does about it, in one sentence."""
