"""A reply of a model is strict JSON, whole, or it is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from taoloop.thought.parsing import ReplyFault, ReplyRefused, is_unfinished, read_reply


def fault_of(text: str, finish_reason: str = "") -> ReplyFault:
    with pytest.raises(ReplyRefused) as caught:
        read_reply(text, finish_reason)
    return caught.value.fault


def test_a_whole_reply_is_read_with_exact_numbers() -> None:
    assert read_reply(' {"n": 12345678901234567890, "p": 0.10}\n', "stop") == {
        "n": 12345678901234567890,
        "p": Decimal("0.10"),
    }


@pytest.mark.parametrize("finish_reason", ["length", "LENGTH", "max_tokens", "content_filter"])
def test_a_reply_that_was_stopped_is_refused_though_it_parses(finish_reason: str) -> None:
    assert fault_of('{"steps": []}', finish_reason) is ReplyFault.TRUNCATED


@pytest.mark.parametrize("text", ["{", "{ \r\n\r\n", '{"a": [1, {"b": "x', '["\\"', '"abc', '{"a": "}"'])
def test_a_reply_with_something_left_open_is_truncated(text: str) -> None:
    assert is_unfinished(text)
    assert fault_of(text) is ReplyFault.TRUNCATED


@pytest.mark.parametrize("text", ["I cannot help.", "{'a': 1}", '{"a": 1} {"a": 1}', '{"a": 1, "a": 2}', "{]", "[NaN]"])
def test_what_is_no_json_is_refused_and_not_repaired(text: str) -> None:
    assert fault_of(text) is ReplyFault.MALFORMED_JSON


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_reply_without_text_is_empty(text: str) -> None:
    assert fault_of(text) is ReplyFault.EMPTY_CONTENT
