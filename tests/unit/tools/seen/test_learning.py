"""What makes a field, a type or a value known: samples of successes and what the contract lists by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.core.exact_json import loads
from taoloop.tools.contract import NormaliseRule, Observe, ToolContract
from taoloop.tools.loading.samples import Sample, SampleExpectation
from taoloop.tools.seen import NoveltyKind, Place, learn
from taoloop.tools.signature import Effect


def contract_of(response: Any = True, **changes: Any) -> ToolContract:
    return ToolContract(
        name="track", description="", parameters={}, response=response, effect=Effect.READ, document={}, **changes
    )


def sample_of(body: Any, status: int = 200, **arguments: Any) -> Sample:
    return Sample(arguments=arguments, status=status, headers={}, body=body)


def learnt(*bodies: Any, response: Any = True, **changes: Any) -> Place:
    return learn(contract_of(response, **changes), [sample_of(body) for body in bodies])


def told(place: Place, body: Any) -> list[tuple[str, str, str]]:
    return [(found.kind.value, "/".join(found.tokens), found.value) for found in place.novelties(body)]


def test_without_samples_only_what_the_contract_lists_can_be_new() -> None:
    response = {"properties": {"state": {"enum": ["paid", "open"]}, "n": {"type": "integer"}}}

    place = learnt(response=response)

    assert told(place, {"state": "lost", "n": "text", "other": 1}) == [("value", "state", "lost")]


def test_field_type_and_value_that_no_sample_has_are_new_though_the_schema_allows_them() -> None:
    place = learnt(
        {"state": "paid", "n": 1, "tags": ["a"]},
        {"state": "open", "n": 2.5, "tags": []},
        {"state": "paid", "n": 3, "tags": ["b"]},
        {"state": "open", "n": 4, "tags": []},
    )

    assert told(place, {"state": "paid", "n": 5, "tags": []}) == []
    assert told(place, {"state": "lost", "n": "5", "tags": [1], "weight": 2}) == [
        ("value", "state", "lost"),
        ("type", "n", "string"),
        ("type", "tags/*", "number"),
        ("field", "weight", "number"),
    ]


def test_what_the_contract_names_itself_is_known() -> None:
    response = {"properties": {"state": {"type": ["string", "null"]}, "eta": {"type": "string"}}}
    place = learnt({"state": "paid"}, response=response)

    assert told(place, {"state": None, "eta": "soon"}) == []
    assert told(place, {"state": True}) == [("type", "state", "boolean")]


def test_keys_of_an_enum_normaliser_and_known_values_are_the_values_of_their_places() -> None:
    observe = Observe(
        normalise=(NormaliseRule(field="/s", to="/state", enum={"IT": "in_transit"}),),
        known={"/items/*/kind": ("parcel", "letter"), "/state": ("in_transit",)},
    )
    place = learnt(observe=observe)

    body = {"s": "XX", "state": "x", "items": [{"kind": "parcel"}, {"kind": "drone"}, {"kind": "drone"}]}
    assert told(place, body) == [("value", "s", "XX"), ("value", "items/*/kind", "drone")]


@pytest.mark.parametrize(
    ("name", "texts", "is_enumerated"),
    [
        ("state", ["paid", "open", "paid", "open"], True),
        ("orderStatus", ["已付款", "已发货", "已付款", "已发货"], True),
        ("state", ["paid", "open", "paid"], False),  # three texts show nothing
        ("state", ["paid"] * 6, False),  # one value is no set
        ("state", ["paid", "open", "lost", "sent"], False),  # each value once is free text
        ("customer_name", ["Ann", "Bob", "Ann", "Bob"], False),
        ("order_id", ["A", "B", "A", "B"], False),
        ("备注", ["好", "坏", "好", "坏"], False),
        ("note", ["yes", "no", "yes", "no"], False),
        ("slot", ["2026-03-01", "2026-03-02", "2026-03-01", "2026-03-02"], False),
        ("reply", ["thank you", "not now", "thank you", "not now"], False),
    ],
)
def test_enumerated_text_is_told_from_free_text_ids_and_names(name: str, texts: list[str], is_enumerated: bool) -> None:
    place = learnt(*({name: text} for text in texts))

    assert bool(told(place, {name: "new"})) is is_enumerated


def test_text_with_a_format_or_a_pattern_is_never_enumerated() -> None:
    bodies = [{"day": day} for day in ("MON", "TUE", "MON", "TUE")]
    response = {"properties": {"day": {"type": "string", "pattern": "^[A-Z]+$"}}}

    assert told(learnt(*bodies, response=response), {"day": "WED"}) == []
    assert told(learnt(*bodies), {"day": "WED"}) == [("value", "day", "WED")]


def test_text_taken_from_the_arguments_says_nothing_about_values() -> None:
    samples = [sample_of({"city": "{{arguments.city}}"}, city=city) for city in ("ulm", "bonn", "ulm", "bonn")]

    assert told(learn(contract_of(), samples), {"city": "köln"}) == []


def test_members_whose_names_are_data_are_looked_at_together() -> None:
    by_order = learnt({"orders": {"ORD-20260308": {"state": 1}}})
    by_schema = learnt(
        {"orders": {"x": {"state": 1}}}, response={"properties": {"orders": {"additionalProperties": {}}}}
    )

    for place in (by_order, by_schema):
        assert told(place, {"orders": {"ORD-20260309": {"state": 2}}}) == []
        assert told(place, {"orders": {"ORD-20260309": {"state": "2"}}}) == [("type", "orders/*/state", "string")]


def test_new_member_whose_name_is_data_is_told_without_it() -> None:
    assert told(learnt({"n": 1}), {"n": 1, "anna@example.com": 2}) == [("field", "*", "number")]


@pytest.mark.parametrize("status", [202, 204, 404, 500])
def test_samples_of_failures_teach_nothing(status: int) -> None:
    assert learn(contract_of(), [sample_of({"error": "x"}, status)]) == Place()


def test_samples_that_break_the_success_rule_or_the_schema_teach_nothing() -> None:
    by_rule = contract_of(success={"===": [{"var": "body.ok"}, True]})
    by_schema = contract_of({"type": "object", "required": ["ok"]})

    assert learn(by_rule, [sample_of({"ok": False})]) == Place()
    assert learn(by_schema, [sample_of({"no": 1})]).types == frozenset()


def test_sample_that_is_stated_to_fail_teaches_nothing() -> None:
    stated = replace(sample_of({"state": "LOST"}), expect=SampleExpectation(valid=False, fault="RULE_FAILED", data={}))
    assert learn(contract_of(), [stated]) == Place()


def test_schema_that_reaches_itself_is_learnt_in_bounded_time_and_space() -> None:
    names = {name: {"$ref": "#/$defs/node"} for name in "abcd"}
    response = {"$ref": "#/$defs/node", "$defs": {"node": {"properties": {**names, "kind": {"enum": ["x"]}}}}}

    place = learnt({"a": {"kind": "x"}}, response=response)

    assert told(place, {"a": {"kind": "y"}}) == [("value", "a/kind", "y")]


def test_a_body_tells_each_novelty_once_and_a_bounded_number() -> None:
    place = learnt([{"n": 1}])

    assert told(place, [{"n": "x"}] * 1000) == [("type", "*/n", "string")]
    assert len(place.novelties([{f"field_{chr(97 + n % 26)}{chr(97 + n // 26)}": 1} for n in range(100)])) == 20


def test_deep_and_large_numbers_are_met_without_harm() -> None:
    place = learnt({"a": [[[]]], "n": 1})
    deep = loads("[" * 60 + "]" * 60)

    assert told(place, {"a": deep, "n": 10**400}) == []
    assert all(found.kind in NoveltyKind for found in place.novelties(deep))
