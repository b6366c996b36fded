"""What is shown of an object at once is what is shown of it by the long way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.observation.exposing import Exposer, compile_exposer
from taoloop.observation.exposing.harmless import harmless_members
from taoloop.observation.exposing.shapes import MAX_NAMES, MAX_SHAPES, Shapes
from taoloop.observation.normalising import compile_normaliser
from taoloop.tools.contract import NormaliseAs, NormaliseRule, Observe, PersonalData, RedactField
from tests.unit.observation.bad_input import drawing

RULES = (
    NormaliseRule(field="/at", to="/at", convert=NormaliseAs.DATETIME),
    NormaliseRule(field="/fee", to="/price", convert=NormaliseAs.MONEY, conversion_options={"currency": "CNY"}),
    NormaliseRule(field="/state", to="/order_state", vocabulary={"moving": ("sent",), "gone": ("lost",)}),
)
SHOWN = ("/at", "/price", "/order_state", "/note", "/error", "/a~1b", "/名")

members = st.fixed_dictionaries(
    {},
    optional={
        "at": st.sampled_from(["2026-03-14T18:00:00+08:00", None]),
        "fee": st.sampled_from([12, "1,250.00", None]),
        "state": st.sampled_from(["sent", "lost", None]),
        "note": drawing.scalars | st.sampled_from(["api_key=abc", "Bearer abcdefgh", "13912345678", 13912345678]),
        "a/b": drawing.bodies,
        "password=x": st.just(1),
    },
)


def long_way(observe: Observe) -> Exposer:
    exposer = compile_exposer(observe)
    exposer._shapes = None  # type: ignore[misc]
    return exposer


@pytest.mark.parametrize(
    "redact", [(), (PersonalData.PHONE,), (PersonalData.SECRETS,), (RedactField(field="/note"),)], ids=str
)
@pytest.mark.parametrize("max_bytes", [64, 300, 32768])
@given(body=members | st.dictionaries(st.sampled_from(drawing.NAMES), drawing.bodies, max_size=4), twice=st.booleans())
@settings(max_examples=40, deadline=None)
@example(body={"note": "x" * 40, "at": "2026-03-14T18:00:00+08:00"}, twice=True)
def test_what_is_shown_at_once_is_what_is_shown_by_the_long_way(
    redact: Any, max_bytes: int, body: JsonValue, *, twice: bool
) -> None:
    observe = Observe(normalise=RULES, expose=SHOWN, redact=redact)
    normaliser = compile_normaliser(observe)
    assert normaliser is not None
    data, refused = normaliser.apply(body)
    if refused.flaws or data is ABSENT:
        return
    exposer = compile_exposer(observe)

    shown = [exposer.expose(data, max_bytes=max_bytes) for _ in range(1 + twice)]

    expected = long_way(observe).expose(data, max_bytes=max_bytes)
    assert all(each == expected and repr(each) == repr(expected) for each in shown)


def test_most_objects_are_shown_at_once() -> None:
    exposer = compile_exposer(Observe(expose=("/state", "/fee")))

    assert exposer.at_once({"state": "new", "fee": 3, "x": 1}, 1000) == ({"state": "new", "fee": 3}, ("/x",))


@pytest.mark.parametrize(
    "data",
    [
        {"state": "api_key=abcdefgh"},
        {"state": {"inner": 1}},
        {"state": "x" * 2000},
        {"token: abc": 1},
        {f"name{number}": number for number in range(MAX_NAMES + 1)},
        ["state"],
    ],
    ids=["secret", "object", "long", "name", "many", "list"],
)
def test_what_may_need_masking_or_cutting_is_not_shown_at_once(data: Any) -> None:
    assert compile_exposer(Observe(expose=("/state",))).at_once(data, 1000) is None


def test_names_that_a_tool_makes_up_are_not_remembered_without_end() -> None:
    shapes = Shapes(("a",), (), lambda _: True)

    for number in range(3 * MAX_SHAPES):
        assert shapes.of({"a": 1, f"b{number}": 2}) is not None

    assert repr(shapes) == f"Shapes({MAX_SHAPES} of {MAX_SHAPES})"


def test_members_that_rules_make_of_closed_kinds_are_harmless() -> None:
    assert harmless_members(Observe(normalise=RULES)) == {"at", "price", "order_state"}


@pytest.mark.parametrize(
    "rules",
    [
        (NormaliseRule(field="/a", to="/b"),),
        (NormaliseRule(field="/a", to="/a/b", convert=NormaliseAs.DATE),),
        (NormaliseRule(field="/*", to="/*", convert=NormaliseAs.DATE),),
        (NormaliseRule(field="/a", to="/a", convert=NormaliseAs.TEXT),),
        (NormaliseRule(field="/a", to="/a", convert=NormaliseAs.MONEY),),
        (NormaliseRule(field="/a", to="/a", enum={"x": "token=abc"}),),
        (NormaliseRule(field="/a", to="/a", enum={"x": "y" * 40}),),
        (NormaliseRule(field="/a", to="/a", convert=NormaliseAs.DATE), NormaliseRule(field="/b", to="/a/c")),
    ],
)
def test_members_that_may_hold_any_text_are_searched(rules: tuple[NormaliseRule, ...]) -> None:
    assert not harmless_members(Observe(normalise=rules))


def test_a_vocabulary_beside_known_values_lets_any_text_pass_and_is_searched() -> None:
    rule = NormaliseRule(field="/a", to="/a", enum={"x": "y"})

    assert harmless_members(Observe(normalise=(rule,))) == {"a"}
    assert not harmless_members(Observe(normalise=(rule,), known={"/a": ("y",)}))
