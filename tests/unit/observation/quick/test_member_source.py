"""Changes written as a function make of a body what they make of it step by step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue
from taoloop.observation.normalising import Normaliser, compile_normaliser
from taoloop.observation.quick.member_source import written_changes
from taoloop.tools.contract import NormaliseAs, NormaliseRule, Observe
from taoloop.values.refusals import ValueRefused

QUOTE = "a\"'\\\n{b}"

RULE_SETS = (
    (NormaliseRule(field="/a", to="/b"), NormaliseRule(field="/b", to="/a")),
    (NormaliseRule(field="/a", to="/x", convert=NormaliseAs.TEXT), NormaliseRule(field="/b", to="/y")),
    (NormaliseRule(field="/a", to="/a", convert=NormaliseAs.INTEGER), NormaliseRule(field="/x", to="/b")),
    (NormaliseRule(field="/a", to="/a", enum={"1": None}), NormaliseRule(field="/b", to=f"/{QUOTE}", enum={"1": 2})),
)


def normaliser_of(rules: tuple[NormaliseRule, ...]) -> Normaliser:
    normaliser = compile_normaliser(Observe(normalise=rules))
    assert normaliser is not None
    return normaliser


objects = st.dictionaries(
    st.sampled_from(["a", "b", "x", "y", "z", QUOTE]), st.none() | st.integers(0, 2) | st.sampled_from(["1", "two"])
)


@pytest.mark.parametrize("rules", RULE_SETS)
@given(body=objects | st.none() | st.lists(objects, max_size=1))
@settings(max_examples=60, deadline=None)
@example(body={"a": None, "b": "1", "x": 1, QUOTE: 0})
def test_the_function_gives_the_same_data_and_refuses_the_same_bodies(
    rules: tuple[NormaliseRule, ...], body: JsonValue
) -> None:
    normaliser = normaliser_of(rules)
    assert normaliser.only is not None
    changed = written_changes(normaliser.only)
    before = repr(body)
    data, outcome = normaliser.apply(body)
    if outcome.flaws:
        with pytest.raises(ValueRefused):
            changed(body)
    else:
        assert repr(changed(body)) == repr(data)
    assert repr(body) == before


@pytest.mark.parametrize(
    "rule", [NormaliseRule(field="/a/b", to="/a/c"), NormaliseRule(field="/*", to="/*", convert=NormaliseAs.TEXT)]
)
def test_changes_of_other_places_are_made_step_by_step(rule: Any) -> None:
    assert normaliser_of((rule,)).only is None
