"""A session is written and read without loss; what is no session is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue
from taoloop.loop.memory.model import RememberedTurn, SessionMemory
from taoloop.loop.memory.session_form import read, written
from taoloop.plan.task import Role
from taoloop.plan.thinking import ErrorTrace

texts = st.text(max_size=20)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, values, max_size=3)
turns = st.builds(
    RememberedTurn, role=st.sampled_from(Role), text=texts, tools=st.lists(texts, max_size=2).map(tuple), run_id=texts
)
sessions = st.builds(
    SessionMemory,
    turns=st.lists(turns, max_size=3).map(tuple),
    summary=texts,
    state=objects,
    snapshot=objects,
    last_error=st.none() | st.builds(ErrorTrace, code=texts, tool=texts, arguments_sha256=texts),
    has_tainted_answers=st.booleans(),
    version=st.integers(0, 2**40),
)
WHOLE = (
    '{"version": 1, "turns": [], "summary": "", "state": {}, "snapshot": {}, "last_error": null, '
    '"has_tainted_answers": false}'
)


@given(session=sessions)
def test_a_session_comes_back_as_it_was(session: SessionMemory) -> None:
    assert read(written(session)) == session


def test_a_whole_session_is_one() -> None:
    assert read(WHOLE) == SessionMemory(version=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        WHOLE.replace('"version": 1', '"version": "1"'),
        WHOLE.replace('"turns": []', '"turns": [["no", "", [], ""]]'),
        b"\xff",
    ],
)
def test_what_is_no_session_is_none(text: str | bytes) -> None:
    assert read(text) is None
