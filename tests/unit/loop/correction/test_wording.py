"""What users are told of failures, in their language."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.correction.machine import EDGES, Edge, Reaction
from taoloop.loop.correction.wording import MAX_CANDIDATES, user_message

FAULT = Fault(code=FaultCode.TOOL_ERROR, stage=FaultStage.ACTION, message="secret: sk-1")


@pytest.mark.parametrize("edge", EDGES)
def test_an_edge_that_tells_the_user_has_words_in_both_languages_and_no_other_has(edge: Edge) -> None:
    english, chinese = (user_message(edge, FAULT, "pay", is_chinese=is_chinese) for is_chinese in (False, True))

    assert bool(english) is bool(chinese) is edge.is_told
    assert english.isascii()
    assert "{" not in english + chinese
    assert FAULT.message not in english + chinese
    if edge.is_told:
        assert (english[-1], chinese[-1]) == (".", "。")
        assert not chinese.isascii()


def test_a_failure_without_a_tool_names_none() -> None:
    edge = next(edge for edge in EDGES if edge.reaction is Reaction.FAIL and edge.is_transient)

    assert user_message(edge, FAULT, "", is_chinese=False).startswith("The service ")
    assert user_message(edge, FAULT, "", is_chinese=True).startswith("该服务")


def test_a_question_names_the_first_of_the_values_that_would_do() -> None:
    edge = next(edge for edge in EDGES if edge.reaction is Reaction.ASK)
    fault = replace(FAULT, candidates=tuple("abcdefgh"))

    assert user_message(edge, fault, "t", is_chinese=False).endswith("Please choose one of: a, b, c, d, e.")
    assert user_message(edge, fault, "t", is_chinese=True).endswith("可选：a、b、c、d、e。")
    assert MAX_CANDIDATES == 5
