"""Measures how many of the needed tools a selection offers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taoloop.core.clock import Clock
from taoloop.evaluation.selection.cases import Market, SelectionCase
from taoloop.thought.pipeline.selecting import Selection, SelectionRules, Selector
from taoloop.tools.catalogue import Catalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionFigures:
    """What came out for the requests of one kind to one catalogue.

    Attributes:
        kind: `named` or `chain`.
        requests: How many.
        whole: Share of the requests whose needed tools were all offered, 0 to 1.
        recall: Share of all needed tools that were offered.
        hidden_recall: The same of those that nobody names; None where there are none.
        offered: Mean number of tools that were offered.
        milliseconds: Mean time of a selection.
    """

    kind: str
    requests: int
    whole: float
    recall: float
    hidden_recall: float | None
    offered: float
    milliseconds: float


def measure(market: Market, rules: SelectionRules, clock: Clock) -> tuple[SelectionFigures, ...]:
    """Select for every request of a market and return the figures of each kind."""
    selector = Selector(Catalogue.from_signatures(market.tools, name="market"), rules)
    kinds: dict[str, list[tuple[SelectionCase, Selection, float]]] = {}
    for case in market.cases:
        started = clock.monotonic()
        selection = selector.select(case.request)
        kinds.setdefault(case.kind, []).append((case, selection, clock.monotonic() - started))
    return tuple(_figures(kind, rows) for kind, rows in sorted(kinds.items()))


def _figures(kind: str, rows: Sequence[tuple[SelectionCase, Selection, float]]) -> SelectionFigures:
    offered = [{tool.name for tool in selection.tools} for _, selection, _ in rows]
    needed = [case.needed for case, _, _ in rows]
    hidden = [case.hidden for case, _, _ in rows]
    return SelectionFigures(
        kind=kind,
        requests=len(rows),
        whole=_mean([float(wanted <= there) for wanted, there in zip(needed, offered, strict=True)]),
        recall=_share(needed, offered) or 0.0,
        hidden_recall=_share(hidden, offered),
        offered=_mean([float(len(there)) for there in offered]),
        milliseconds=1000.0 * _mean([seconds for _, _, seconds in rows]),
    )


def _share(wanted: Iterable[frozenset[str]], offered: Iterable[set[str]]) -> float | None:
    pairs = list(zip(wanted, offered, strict=True))
    total = sum(len(names) for names, _ in pairs)
    return sum(len(names & there) for names, there in pairs) / total if total else None


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
