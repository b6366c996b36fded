"""Generated catalogues for selection: repeatable, large, with tools in between that nobody names."""

from __future__ import annotations

import pytest

from taoloop.evaluation.selection.cases import market
from taoloop.thought.planners.graph.language.text import keys, name_keys


def test_same_arguments_give_the_same_market() -> None:
    first, second = market(5, 60, 8, is_chinese=False), market(5, 60, 8, is_chinese=False)
    assert first == second
    assert market(6, 60, 8, is_chinese=False).cases != first.cases


@pytest.mark.parametrize("is_chinese", [False, True])
@pytest.mark.parametrize("size", [60, 500])
def test_catalogue_has_the_size_and_no_name_twice(size: int, is_chinese: bool) -> None:
    tools = market(1, size, 4, is_chinese=is_chinese).tools
    assert size <= len(tools) < size + 10
    assert len({tool.name for tool in tools}) == len(tools)


@pytest.mark.parametrize("is_chinese", [False, True])
def test_every_needed_tool_is_in_the_catalogue_and_half_of_the_requests_need_a_chain(is_chinese: bool) -> None:
    made = market(1, 100, 20, is_chinese=is_chinese)
    names = {tool.name for tool in made.tools}
    assert all(case.needed <= names and case.hidden <= case.needed for case in made.cases)
    assert [case.kind for case in made.cases].count("chain") == 10


def test_names_and_descriptions_of_hidden_tools_share_no_word_with_the_thing_that_is_asked_for() -> None:
    made = market(1, 100, 40, is_chinese=False)
    tools = {tool.name: tool for tool in made.tools}
    for case in made.cases:
        (named,) = case.needed - case.hidden
        subject = set(name_keys(named)[1:])
        for hidden in case.hidden:
            said = {*name_keys(hidden), *keys(tools[hidden].description)}
            assert subject.isdisjoint(said)
