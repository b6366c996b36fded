"""Phrases of an English request, each with the word that leads to it."""

import pytest

from taoloop.thought.planners.graph.language.phrases import MAX_PHRASES, OPENING, VERB, find_messages, find_phrases
from taoloop.thought.planners.graph.language.spans import find_mentions


def _found(text: str) -> list[tuple[str, str]]:
    return [(phrase.lead, text[phrase.start : phrase.end]) for phrase in find_phrases(text, find_mentions(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("read about tidal pools", [("about", "tidal pools")]),
        ("show me walking boots", [(VERB, "walking boots")]),
        ("a poem called evening tide", [(OPENING, "poem"), ("called", "evening tide")]),
        ("tell me about moss, lichen and fern", [("about", "moss"), ("about", "lichen"), ("about", "fern")]),
        ("when does a wild goose live", [(VERB, "wild goose")]),
        ("the best of the new maps", [("of", "maps")]),
    ],
)
def test_a_phrase_carries_what_leads_to_it(text: str, found: list[tuple[str, str]]) -> None:
    assert _found(text) == found


def test_no_phrase_runs_over_a_typed_value() -> None:
    assert ("about", "moss") in _found("about moss 2024-05-01 growth")
    assert all("2024" not in phrase for _, phrase in _found("about moss 2024-05-01 growth"))


def test_phrases_of_one_request_are_bounded() -> None:
    assert len(find_phrases("about a lake, " * 500, ())) == MAX_PHRASES


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("remind me to water the fern at 9pm", "water the fern"),
        ("put wash the tent on my list", "wash the tent"),
        ("open a case: the lid does not close", "the lid does not close"),
    ],
)
def test_what_is_to_be_noted_ends_where_its_time_or_its_list_is_named(text: str, said: str) -> None:
    assert [text[start:end] for start, end in find_messages(text, find_mentions(text))] == [said]


def test_plain_words_after_say_are_no_message() -> None:
    assert find_messages("say good morning to all", ()) == ()
