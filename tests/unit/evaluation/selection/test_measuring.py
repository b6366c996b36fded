"""Figures of a selection: what is offered, and what the closure adds."""

from __future__ import annotations

from taoloop.core.clock import SystemClock
from taoloop.evaluation.selection.cases import market
from taoloop.evaluation.selection.measuring import SelectionFigures, measure
from taoloop.thought.pipeline.selecting import SelectionRules

MARKET = market(2, 100, 20, is_chinese=False)


def _figures(rules: SelectionRules) -> dict[str, SelectionFigures]:
    return {each.kind: each for each in measure(MARKET, rules, SystemClock())}


def test_all_is_found_where_all_is_offered() -> None:
    for each in _figures(SelectionRules(is_on=False)).values():
        assert (each.whole, each.recall, each.offered) == (1.0, 1.0, len(MARKET.tools))


def test_closure_finds_the_tools_that_words_do_not() -> None:
    by_words = _figures(SelectionRules(max_found=20, max_produced=0))["chain"]
    closed = _figures(SelectionRules())["chain"]
    assert by_words.hidden_recall is not None
    assert closed.hidden_recall is not None
    assert by_words.hidden_recall < 0.5
    assert closed.hidden_recall > 0.8
    assert _figures(SelectionRules())["named"].hidden_recall is None
    assert closed.offered <= 20


def test_nothing_offered_finds_nothing_of_what_is_needed() -> None:
    figures = _figures(SelectionRules(allowed_tools=frozenset({"none of them"})))
    assert {each.recall for each in figures.values()} == {0.0}
    assert figures["named"].requests == figures["chain"].requests == 10
