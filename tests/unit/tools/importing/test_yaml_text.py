"""What is written as YAML reads back as the same values, whatever they are."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core import exact_json
from taoloop.tools.importing.yaml_text import yaml_text
from taoloop.tools.loading.yaml_source import read_text

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
SCALARS = st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_every_document_reads_back_as_it_was(value: dict[str, Any]) -> None:
    source = read_text(yaml_text(value, comments=("one\ntwo\x00", "")), Path("x"))
    assert source.faults == ()
    assert exact_json.equal(source.value, value)


@pytest.mark.parametrize(
    "text", ["yes", "null", "1e3", "0x10", "- a", "a: b", "a #b", " a", "", "~", "{a}", "*a", "12", "3s"]
)
def test_a_text_that_looks_like_something_else_stays_a_text(text: str) -> None:
    assert read_text(yaml_text({"a": [text], text: text}), Path("x")).value == {"a": [text], text: text}


def test_short_values_stand_on_the_line_of_their_key_and_long_ones_below() -> None:
    value = {"a": {"type": "string"}, "b": {f"name_{number}": "x" * 20 for number in range(5)}, "c": Decimal("0.10")}
    lines = yaml_text(value).splitlines()
    assert lines[0] == "a: {type: string}"
    assert lines[1:3] == ["b:", "  name_0: xxxxxxxxxxxxxxxxxxxx"]
    assert lines[-1] == "c: 0.10"
