"""Chooses what of memory one thought is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonValue, dumps
from taoloop.core.telemetry import Telemetry, names
from taoloop.loop.memory.distillation.distilling import Distiller, last_error
from taoloop.loop.memory.distillation.relevance import relevance
from taoloop.loop.memory.distillation.summarising import extract
from taoloop.loop.memory.model import EntryKind, KnowledgeEntry, RememberedTurn, SessionMemory
from taoloop.loop.state import RunState
from taoloop.plan.memory.fitting import cut_to_tokens, fitted
from taoloop.plan.thinking import MemoryContext, MemoryItem

SNAPSHOT: Final = "snapshot"
"""The kind of the item that tells the session's state snapshot."""
_SNAPSHOT_TOKENS: Final = 60
_REQUEST_CHARACTERS: Final = 2000
"""How much of a request is compared with what is known: what it is about stands there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How much a thought is told.

    Attributes:
        min_score: Knowledge must fit better than this.
        max_items: Most pieces of it.
        max_tokens: Most tokens of everything.
        max_summary_tokens: Most tokens of the summary.
    """

    min_score: float = 0.6
    max_items: int = 2
    max_tokens: int = 300
    max_summary_tokens: int = 128


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is known for one run; it does not change while the run goes on.

    Attributes:
        session: The session, as it was before.
        unknown: Its turns that the caller did not send along.
        items: The knowledge that fits the request, best first.
    """

    session: SessionMemory
    unknown: tuple[RememberedTurn, ...] = ()
    items: tuple[MemoryItem, ...] = ()


class Recall:
    """Chooses, and keeps what it chose within its bound.

    Args:
        options: How much is told.
        distiller: Tells which turns a caller sent along.
        telemetry: Where it is counted.
    """

    def __init__(self, options: RecallOptions, distiller: Distiller, telemetry: Telemetry) -> None:
        self._options = options
        self._distiller = distiller
        self._metrics = telemetry.metrics

    def recalled(self, session: SessionMemory, entries: Sequence[KnowledgeEntry], state: RunState) -> Recalled:
        """Return what of a session, and of what is known besides, the run's thoughts do not read anyway."""
        return Recalled(session, self._distiller.unknown(session, state), self._chosen(entries, state, session))

    def _chosen(
        self, entries: Sequence[KnowledgeEntry], state: RunState, session: SessionMemory
    ) -> tuple[MemoryItem, ...]:
        """Return the knowledge that fits the run's request, best first; an earlier run of the session is no news."""
        runs = {turn.run_id for turn in session.turns} | {state.run_id}
        candidates = [entry for entry in entries if entry.kind is not EntryKind.RUN or entry.name not in runs]
        scores = relevance(
            state.task.turns[-1].text[:_REQUEST_CHARACTERS] if state.task.turns else "",
            [each.text for each in candidates],
        )
        fitting = [
            (score, entry) for score, entry in zip(scores, candidates, strict=True) if score > self._options.min_score
        ]
        fitting.sort(key=lambda pair: -pair[0])  # stable: the newer one of two first
        self._leave_out("score", len(candidates) - len(fitting))
        self._leave_out("items", len(fitting) - self._options.max_items)
        return tuple(
            MemoryItem(text=entry.text, score=round(score, 3), kind=entry.kind.value)
            for score, entry in fitting[: self._options.max_items]
        )

    def context(self, recalled: Recalled, state: RunState) -> MemoryContext | None:
        """Return what the run's next thought is told; None for nothing."""
        session = recalled.session
        snapshot = _snapshot(session)
        told = fitted(
            MemoryContext(
                summary=self._summary(recalled),
                knowledge=((snapshot,) if snapshot is not None else ()) + recalled.items,
                last_error=last_error(state) or session.last_error,
            ),
            self._options.max_tokens,
        )
        self._leave_out("tokens", told.dropped + told.is_cut)
        self._metrics.histogram(names.MEMORY_TOLD).observe(0 if told.memory is None else told.memory.tokens)
        return told.memory

    def summary_of(self, session: SessionMemory) -> str:
        """Return the extract of a session."""
        return extract(session.turns, self._options.max_summary_tokens)

    def cut_summary(self, text: str) -> str:
        """Return a summary within its bound."""
        return cut_to_tokens(" ".join(text.split()), self._options.max_summary_tokens)

    def _summary(self, recalled: Recalled) -> str:
        if len(recalled.unknown) == len(recalled.session.turns) and recalled.session.summary:
            return recalled.session.summary
        return extract(recalled.unknown, self._options.max_summary_tokens)

    def _leave_out(self, reason: str, count: int) -> None:
        if count > 0:
            self._metrics.counter(names.MEMORY_LEFT_OUT).labels(reason=reason).inc(count)


def _snapshot(session: SessionMemory) -> MemoryItem | None:
    told = [
        f"{name}: {_plain(value)}" for name, value in session.snapshot.items() if not isinstance(value, dict | list)
    ]
    text = cut_to_tokens("; ".join(told), _SNAPSHOT_TOKENS)
    return MemoryItem(text=text, score=1.0, kind=SNAPSHOT) if text else None


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else dumps(value)
