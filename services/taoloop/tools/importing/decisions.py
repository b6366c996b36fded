"""What no description of a tool can know, so that a person decides it before the tool serves."""

from __future__ import annotations

from collections.abc import Iterator

from taoloop.tools.importing.findings import Decision
from taoloop.tools.signature import Effect, Reach


def open_decisions(effect: Effect, ground: str, reach: Reach, *, has_key: bool = False) -> Iterator[Decision]:
    """Yield what a person must decide about a drafted contract.

    Args:
        effect: What was guessed.
        ground: What the guess rests on.
        reach: What was guessed.
        has_key: Whether a place of an idempotency key was found.
    """
    yield Decision("/spec/effect", effect.value, f"What a call changes; {ground}.")
    yield Decision("/spec/reach", reach.value, "Whether somebody outside sees what is sent; guessed from the address.")
    yield Decision(
        "/spec/trust", "trusted", "Whether the output is other people's text (untrusted), which may not steer a write."
    )
    yield Decision("/spec/use_when", "", "What users say when this is the tool, in every language that they speak.")
    yield Decision("/spec/avoid_when", "", "What they say when it is not, though it looks so.")
    yield Decision("/spec/timeout", "10s", "Longest wait for one attempt, by what the server promises.")
    if effect is Effect.READ:
        yield Decision(
            "/spec/fallback", "", "The tool, or the age of a last good answer (cache), that stands in on failure."
        )
        return
    guess = "found" if has_key else ""
    yield Decision(
        "/spec/idempotency", guess, "Whether the server honours a key; without one a write is never repeated."
    )
    yield Decision("/spec/reconcile", "", "The reading tool that looks up a write whose outcome is unknown.")
    yield Decision("/spec/approval", "", "Whether a person must agree before the call.")
