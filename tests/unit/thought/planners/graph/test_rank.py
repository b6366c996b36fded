"""Ranking tools by words, and reading what a clause asks for."""

import pytest

from taoloop.thought.planners.graph.index import PlannerIndex
from taoloop.thought.planners.graph.language.text import words
from taoloop.thought.planners.graph.rank import Intent, rank, read_intent
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import Effect, ToolSignature


@pytest.fixture(scope="session")
def index(catalogue: Catalogue) -> PlannerIndex:
    return PlannerIndex(catalogue.signatures())


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("book the room", Intent.WRITE),
        ("please could you reserve the copy", Intent.WRITE),
        ("then send the note", Intent.WRITE),
        ("show the rooms that I can book", Intent.READ),
        ("which rooms can I reserve", Intent.READ),
        ("the room", Intent.UNKNOWN),
        ("帮我预约图书", Intent.WRITE),
        ("预约图书，可以吗", Intent.WRITE),
        ("查一下预约记录", Intent.READ),
        ("预约了多少本书", Intent.READ),
        ("借阅记录", Intent.UNKNOWN),
    ],
)
def test_the_first_verb_says_whether_a_clause_writes_and_a_question_never_does(text: str, intent: Intent) -> None:
    assert read_intent(text)[0] is intent


def _names(index: PlannerIndex, text: str) -> list[str]:
    intent, verbs = read_intent(text)
    return [item.tool.name for item in rank(index, words(text), intent, verbs)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("who is the reader with this e-mail", "find_reader"),
        ("他借了哪些书", "list_loans"),
        ("when does the branch open", "opening_hours"),
        ("reserve the copy", "reserve_copy"),
    ],
)
def test_the_tool_that_shares_most_words_comes_first(index: PlannerIndex, text: str, first: str) -> None:
    assert _names(index, text)[0] == first


def test_a_reading_clause_gets_no_writing_tool(index: PlannerIndex) -> None:
    assert "reserve_copy" not in _names(index, "which copies are there to reserve")
    assert "notify_reader" not in _names(index, "查一下通知")


def test_words_that_nobody_knows_lower_the_fit(index: PlannerIndex) -> None:
    def fit(text: str) -> float:
        return rank(index, words(text), Intent.UNKNOWN, frozenset())[0].fit

    assert fit("branch hours") > fit("branch hours of purple elephants")


def test_no_shared_word_ranks_nothing(index: PlannerIndex) -> None:
    assert rank(index, words("purple elephants"), Intent.UNKNOWN, frozenset()) == ()
    assert rank(index, (), Intent.UNKNOWN, frozenset()) == ()


def test_a_word_to_avoid_speaks_against_a_tool() -> None:
    parameters = {"type": "object"}
    tools = [
        ToolSignature(name="a", description="List reports", avoid_when="drafts", parameters=parameters),
        ToolSignature(name="b", description="List reports", parameters=parameters),
    ]
    assert _names(PlannerIndex(tools), "list the reports with drafts") == ["b", "a"]


def test_a_common_word_tells_tools_apart_less_than_a_rare_one(index: PlannerIndex) -> None:
    assert index.rarity("isbn") > index.rarity("reader") > 0.0 == index.rarity("elephant")


def test_a_tool_that_writes_is_seen_by_its_effect(index: PlannerIndex) -> None:
    assert {tool.name for tool in index.tools if tool.is_writing} == {"reserve_copy", "notify_reader"}
    assert all(tool.signature.effect is Effect.READ for tool in index.tools if not tool.is_writing)
