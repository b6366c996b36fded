"""Whether a search found anything relevant enough, and which of its hits are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Self

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.observation.stages.model import Flaw, Outcome, Stage, flaw
from taoloop.plan.observing import CheckVerdict
from taoloop.tools.contract import MinScore, Take

RULE_ID: Final = "min_score"

_RELEVANT: Final = Outcome(passed=("min_score_ok",))
_MAX_CANDIDATES: Final = 3
_MAX_SCORE_CHARACTERS: Final = 40

_Hit = tuple[int | Decimal | float, str | int]
"""The score of a hit, and its key or index."""


@dataclass(frozen=True, slots=True)
class Relevant:
    """What a search came to.

    Attributes:
        body: The body with the hits that are kept; absent where none is relevant.
        outcome: What the check said.
        note: How the hits were chosen, for whoever reads the confidence.
        kept: Where the kept hits of a list stand in the body.
    """

    body: Json
    outcome: Outcome
    note: str = ""
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RelevanceCheck:
    """A contract's `min_score`, its pointers read once.

    Attributes:
        pointer: To the scores, with one `*`.
        to_hits: Tokens of the list, or object, of hits.
        to_score: Tokens from a hit to its score.
        lowest: The lowest score that counts.
        is_best_only: Whether only the best hit is kept.
    """

    pointer: str
    to_hits: tuple[str, ...]
    to_score: tuple[str, ...]
    lowest: Decimal
    is_best_only: bool

    @classmethod
    def compile(cls, written: MinScore) -> Self:
        """Read what the contract says.

        Raises:
            PointerSyntaxError: The field is no pointer.
            ValueError: It has no `*`.
        """
        tokens = pointers.parse(written.field)
        star = tokens.index("*")
        return cls(written.field, tokens[:star], tokens[star + 1 :], written.min, written.take is Take.BEST)

    def check(self, body: JsonValue) -> Relevant:
        """Return the body with the relevant hits alone, in their order; a flaw when there is none.

        A hit without a number as its score is not relevant: nothing says that it is.
        """
        hits = pointers.find(body, pointers.join(*self.to_hits))
        scored = _scored(hits, self.to_score)
        kept = [hit for hit in scored if hit[0] >= self.lowest]
        if not kept:
            return self._nothing(hits, scored)
        if self.is_best_only:
            kept = [max(kept, key=lambda hit: hit[0])]
        best = max(score for score, _ in kept)
        chosen = {key for _, key in kept}
        shown = "the best alone" if self.is_best_only else f"{len(kept)}"
        note = f"{shown} of {_counted(hits)} kept, best score {_shown(best)}, lowest that counts {self.lowest}"
        places = tuple(sorted(key for key in chosen if isinstance(key, int)))
        return Relevant(_with(body, self.to_hits, _only(hits, chosen)), _RELEVANT, note, places)

    def in_body(self, outcome: Outcome, kept: Sequence[int]) -> Outcome:
        """Return what was found in the hits that were kept with the places that they have in the body."""
        return replace(outcome, flaws=tuple(self._in_body(found, kept) for found in outcome.flaws))

    def _in_body(self, found: Flaw, kept: Sequence[int]) -> Flaw:
        tokens, depth = pointers.parse(found.failure.pointer), len(self.to_hits)
        index = tokens[depth] if tokens[:depth] == self.to_hits and len(tokens) > depth else ""
        if not index.isdecimal() or int(index) >= len(kept):
            return found
        place = pointers.join(*self.to_hits, kept[int(index)], *tokens[depth + 1 :])
        return replace(found, failure=replace(found.failure, pointer=place))

    def _nothing(self, hits: Json, scored: list[_Hit]) -> Relevant:
        best = sorted((score for score, _ in scored), reverse=True)[:_MAX_CANDIDATES]
        if best:
            message = f"No highly relevant result: of {_counted(hits)} the best has the score {_shown(best[0])}."
        elif _count(hits):
            message = f"No highly relevant result: none of {_counted(hits)} has a number as its score."
        else:
            message = "No highly relevant result: the search found nothing."
        found = flaw(
            Stage.RELEVANCE,
            FaultCode.LOW_RELEVANCE,
            message,
            pointer=self.pointer,
            rule_id=RULE_ID,
            expected=self.lowest,
            actual=best[0] if best else ABSENT,
            verdict=CheckVerdict.FAIL if best or hits == [] else CheckVerdict.INDETERMINATE,
            candidates=tuple(_shown(score) for score in best),
        )
        return Relevant(ABSENT, Outcome(flaws=(found,)))


def _scored(hits: Json, to_score: tuple[str, ...]) -> list[_Hit]:
    keyed: list[tuple[str | int, JsonValue]] = []
    if isinstance(hits, list):
        keyed = list(enumerate(hits))
    elif isinstance(hits, dict):
        keyed = list(hits.items())
    to_score_pointer = pointers.join(*to_score)
    scored = [(pointers.find(hit, to_score_pointer), key) for key, hit in keyed]
    return [
        (score, key)
        for score, key in scored
        if isinstance(score, int | Decimal | float) and not isinstance(score, bool)
    ]


def _only(hits: Json, chosen: set[str | int]) -> JsonValue:
    if isinstance(hits, dict):
        return {key: hit for key, hit in hits.items() if key in chosen}
    assert isinstance(hits, list)
    return [hit for index, hit in enumerate(hits) if index in chosen]


def _with(value: JsonValue, tokens: tuple[str, ...], hits: JsonValue) -> JsonValue:
    """Return the value with other hits; what is shared with the body stays as it was."""
    if not tokens:
        return hits
    if isinstance(value, dict):
        return {**value, tokens[0]: _with(value[tokens[0]], tokens[1:], hits)}
    assert isinstance(value, list)
    index = int(tokens[0])
    return [_with(item, tokens[1:], hits) if place == index else item for place, item in enumerate(value)]


def _shown(score: Decimal | float) -> str:
    text = str(score)
    return text if len(text) <= _MAX_SCORE_CHARACTERS else f"{text[:_MAX_SCORE_CHARACTERS]}…"


def _count(hits: Json) -> int:
    return len(hits) if isinstance(hits, list | dict) else 0


def _counted(hits: Json) -> str:
    count = _count(hits)
    return f"{count} hit" if count == 1 else f"{count} hits"
