"""Whatever a model writes: a reading or a refusal, in linear time, and nothing that was cut passes for whole."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taoloop.core.exact_json import dumps, equal, loads
from taoloop.thought.parsing import ReplyRefused, read_reply

PIECES = st.sampled_from(
    [
        *"{}[]:,\"'`\\ \n｛｝［］：，“”‘’„＂＇\u3000\u2028😀é一<>/|｜-.0e",
        *(
            '{"a":',
            '"b"',
            "True",
            "None",
            "NaN",
            "1e400",
            "json",
            "```",
            "```json\n",
            "\\n",
            "\\u00e9",
            "\\ud83d",
            "[1]",
        ),
        *("<think>", "</think>", "<THOUGHT>", "</reasoning>", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[THINK]"),
        *(
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁call▁begin｜>",
            "<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
            "<｜tool▁calls▁end｜>",
        ),
        *('{"name": "f", "arguments": {}}', '{"a": 1}', "{'a': 1}", "{}", '""', "\ud800", "\x00", "prose"),
    ]
)
OPENED = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>"
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=200)
SCALARS = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
CONTAINERS = VALUES.filter(lambda value: isinstance(value, dict | list))


def outcome(text: str) -> object:
    """Return what the reply says, calls too; None for a refusal."""
    try:
        reply = read_reply(text)
    except ReplyRefused:
        return None
    return [[call.name, call.args] for call in reply.calls] or reply.value


def dressed(value: object) -> list[str]:
    """Return the value as models dress it up."""
    text = dumps(value)
    return [
        text,
        f"```json\n{text}\n```",
        f"Here it is:\n{text}\nTell me if you want changes.",
        f"<think>perhaps {{}} or [1]</think>\n{text}",
        f"json\n{text}",
        f'{text}""',
        f"{text}{text}",
        f'<tool_call>{{"name": "f", "arguments": {{"v": {text}}}}}</tool_call>',
        f'{OPENED}f\n```json\n{{"v": {text}}}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ]


def python_form(value: object) -> str:
    return repr(value)


@given(TEXTS)
@example('{"a": "\\')
@example("[TOOL_CALLS]")
@example("<｜tool▁call▁begin｜><｜tool▁sep｜>")
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        reply = read_reply(text)
    except ReplyRefused:
        return
    assert isinstance(reply.value, dict | list) or reply.calls
    dumps([reply.value, *(call.args for call in reply.calls)]).encode()  # what leaves the parser can be encoded


@given(TEXTS)
def test_what_is_strict_json_is_never_changed(text: str) -> None:
    try:
        value = loads(text)
    except ValueError:
        return
    if isinstance(value, dict | list):
        try:
            reply = read_reply(text)
        except ReplyRefused as refused:
            assert refused.fault.value == "NON_FINITE_NUMBER"  # noqa: PT017 - the one thing that strict JSON may hold
        else:
            assert equal(reply.value, value)
            assert not reply.repairs


@given(CONTAINERS)
def test_a_dressed_up_value_is_found_whole(value: object) -> None:
    for text in dressed(value)[:7]:
        assert equal(outcome(text), value), text


@given(CONTAINERS, st.data())
def test_what_was_cut_anywhere_is_refused_or_means_the_same(value: object, data: st.DataObject) -> None:
    for text in dressed(value):
        cut = text[: data.draw(st.integers(0, len(text)))]
        found = outcome(cut)
        assert found is None or equal(found, outcome(text)), cut


@given(st.dictionaries(st.text("ab'\" é", max_size=4), st.none() | st.booleans() | st.text("xy'\"\\\n é", max_size=8)))
def test_a_python_literal_is_read_as_python_reads_it(value: dict[str, object]) -> None:
    assert outcome(python_form(value)) == value


LONG = 250_000
BLOCKS = [
    "[" * LONG,
    '{"a":' * LONG,
    "[1," * 40 + "1," * LONG,
    "{x} " * 100_000,
    "{" * 50 + "x" * LONG,
    '"' * LONG,
    "{'a': '" + "\\" * LONG,
    '{"a": "' + '\\"' * LONG,
    "{“a”: “" + "x</think>{'" * 60_000,
    "<think>" * LONG,
    "</think>" * LONG,
    "<think></think>" * 100_000,
    "<tool_call>{}" * 100_000,
    "```" * LONG + "{",
    "\\n" * LONG,
    "{" + "\\n" * LONG,
    "[see " * LONG,
    "[x] " * 100_000 + "{}",
    '["a"] ' * 100_000,
    "<｜tool▁call▁begin｜>" * 100_000 + "<｜tool▁call▁end｜>",
    "<｜" + "x" * LONG + "｜>",
    "<" * LONG,
    "[" + '{"a":1},' * 120_000 + "]",
]


@pytest.mark.parametrize("text", BLOCKS, ids=lambda text: text[:12])
def test_a_megabyte_of_anything_is_done_in_time(text: str) -> None:
    began = time.process_time()
    outcome(text)

    assert time.process_time() - began < 6.0
