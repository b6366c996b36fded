"""Keeps what a prompt is told of memory within its bound, by leaving out what matters least."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from taoloop.plan.check_context import estimate_tokens
from taoloop.plan.memory.texts import told_tokens
from taoloop.plan.thinking import MemoryContext

MAX_TOKENS: Final = 300
"""Most tokens that a prompt is told of memory."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Memory within its bound.

    Attributes:
        memory: What is told, with its tokens counted; None where nothing is left.
        dropped: How many parts were left out: pieces of knowledge, the summary, the last error.
        is_cut: Whether the summary was cut.
    """

    memory: MemoryContext | None
    dropped: int = 0
    is_cut: bool = False


def fitted(memory: MemoryContext, max_tokens: int = MAX_TOKENS) -> Fitted:
    """Return what of the memory may be told.

    The knowledge that fits the request least goes first, then the end of the summary, then the best piece, then the
    last error: what follows from the session outlives what was found by words.

    Args:
        memory: What is remembered; pieces of knowledge best first.
        max_tokens: Most tokens together, by `estimate_tokens`.
    """
    dropped, is_cut = 0, False
    while told_tokens(memory) > max_tokens and len(memory.knowledge) > 1:
        memory = replace(memory, knowledge=memory.knowledge[:-1])
        dropped += 1
    if memory.summary and (excess := told_tokens(memory) - max_tokens) > 0:
        # One more, since the estimate rounds up, of the summary as of what it stands in.
        kept = cut_to_tokens(memory.summary, estimate_tokens(memory.summary) - excess - 1)
        memory, is_cut = replace(memory, summary=kept), bool(kept)
        dropped += not kept
    if told_tokens(memory) > max_tokens and memory.knowledge:
        memory, dropped = replace(memory, knowledge=()), dropped + 1
    if told_tokens(memory) > max_tokens and memory.last_error is not None:
        memory, dropped = replace(memory, last_error=None), dropped + 1
    # Markers have an estimate of their own for each text; in a bound that is smaller than they, nothing is told.
    tokens = told_tokens(memory)
    if tokens > max_tokens or not tokens:
        return Fitted(None, dropped + bool(memory.summary), is_cut=False)
    return Fitted(replace(memory, tokens=tokens), dropped, is_cut)


def cut_to_tokens(text: str, max_tokens: int) -> str:
    """Return the longest beginning of a text that has at most so many tokens, with an ellipsis where it is cut."""
    if estimate_tokens(text) <= max_tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(f"{text[:middle]}…") <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return f"{text[:low].rstrip()}…" if low else ""
