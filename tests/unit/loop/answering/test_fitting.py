"""Results in the form of an output schema: by names, without loss, and without a guess."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import dumps, loads
from taoloop.core.faults import Fault
from taoloop.loop.answering.facts import data_of
from taoloop.loop.answering.findings import leaves
from taoloop.loop.answering.fitting import MAX_DEPTH, MAX_LOOKED_AT, fitted
from taoloop.tools.schemas import CompiledSchema
from tests.unit.loop.answering.results import record

TEXT, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}


def form(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(required), "additionalProperties": False, **more,
    }  # fmt: skip


def fit(schema: dict[str, Any], *results: Any, locale: str = "en") -> Any:
    spoken = [record(f"1.t{number}", "a", value) for number, value in enumerate(results, 1)]
    return fitted(spoken, data_of(spoken), schema, locale)


def misfit(schema: dict[str, Any], *results: Any) -> Fault:
    found = fit(schema, *results)
    assert isinstance(found, Fault), found
    return found


def test_what_fits_as_it_is_stays_as_it_is() -> None:
    result = loads('{"total": 0.10, "more": [1]}')
    assert fit({"type": "object", "required": ["total"]}, result) is result


def test_the_only_result_that_fits_is_taken_of_several() -> None:
    assert fit(form({"a": INTEGER}, "a"), {"a": 1}, {"b": 2}) == {"a": 1}


def test_properties_are_found_by_their_names_and_others_are_left_out() -> None:
    schema = form({"status": TEXT, "eta": TEXT, "colour": TEXT}, "status")
    assert fit(schema, {"id": "A1", "status": "shipped", "eta": "tomorrow"}) == {"status": "shipped", "eta": "tomorrow"}


def test_values_of_several_results_come_together() -> None:
    assert fit(form({"stock": INTEGER, "price": NUMBER}, "stock", "price"), {"stock": 3}, {"price": 9.5}) == {
        "stock": 3, "price": 9.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("orderStatus", {"order_status": "x"}),
        ("order_status", {"orderStatus": "x"}),
        ("order_status", {"order": {"status": "x"}, "parcel": {"status": "y"}}),
        ("订单状态", {"订单状态": "x", "状态": "y"}),
    ],
)
def test_a_name_may_be_spelt_or_nested_differently(name: str, result: Any) -> None:
    assert fit(form({name: TEXT}, name), result) == {name: "x"}


def test_the_same_spelling_goes_before_another_one() -> None:
    assert fit(form({"id": TEXT}, "id"), {"id": "a", "ID": "b"}) == {"id": "a"}


def test_objects_are_built_from_objects_of_their_name_and_from_flat_values() -> None:
    schema = form({"order": form({"id": TEXT, "status": TEXT}, "id", "status")}, "order")
    assert fit(schema, {"order": {"id": "A1", "status": "sent", "fee": 3}}) == {"order": {"id": "A1", "status": "sent"}}
    assert fit(schema, {"id": "A1", "status": "sent", "fee": 3}) == {"order": {"id": "A1", "status": "sent"}}


def test_the_items_of_a_list_are_built_one_by_one() -> None:
    item = form({"sku": TEXT, "left": INTEGER}, "sku", "left")
    rows = [{"sku": "KB", "left": 3, "shelf": 1}, {"sku": "MS", "left": 0, "shelf": 2}]
    expected = [{"sku": "KB", "left": 3}, {"sku": "MS", "left": 0}]
    assert fit({"type": "array", "items": item}, {"rows": rows, "tags": ["x"]}) == expected
    assert fit(form({"rows": {"type": "array", "items": item}}, "rows"), {"rows": rows}) == {"rows": expected}
    assert fit(form({"库存": {"type": "array", "items": item}}, "库存"), {"rows": rows}) == {"库存": expected}


def test_results_of_several_calls_are_a_list() -> None:
    schema = {"type": "array", "items": form({"left": INTEGER}, "left")}
    assert fit(schema, {"left": 3, "sku": "KB"}, {"left": 0, "sku": "MS"}) == [{"left": 3}, {"left": 0}]


def test_two_lists_that_would_both_do_are_not_guessed_between() -> None:
    fault = misfit({"type": "array", "items": TEXT}, {"a": ["x"], "b": ["y"]})
    assert (fault.code, fault.candidates) == ("SCHEMA_VIOLATION", ("1.t1/a", "1.t1/b"))


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (NUMBER, "12.50", loads("12.50")),
        (INTEGER, "12", 12),
        (TEXT, 12345678901234567, "12345678901234567"),
        (TEXT, loads("0.10"), "0.10"),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"type": "boolean"}, "true", True),
    ],
)
def test_another_spelling_of_the_same_value_is_converted(schema: Any, value: Any, expected: Any) -> None:
    found = fit(form({"n": schema}, "n"), {"n": value})
    assert repr(found) == repr({"n": expected})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (INTEGER, 12.5),
        (INTEGER, "12.5"),
        (NUMBER, "12 kg"),
        ({"type": "string", "format": "date"}, "soon"),
        (TEXT, None),
    ],
)
def test_what_would_lose_something_is_not_converted(schema: Any, value: Any) -> None:
    fault = misfit(form({"n": schema}, "n"), {"n": value})
    assert (fault.code, fault.field, fault.candidates) == ("SCHEMA_VIOLATION", "/n", ("1.t1/n",))


def test_two_different_values_of_one_name_are_not_guessed_between() -> None:
    results = {"orders": [{"status": "sent"}, {"status": "open"}]}
    fault = misfit(form({"status": TEXT}, "status"), results)
    assert (fault.field, fault.candidates) == ("/status", ("1.t1/orders/0/status", "1.t1/orders/1/status"))
    assert "not guessed" in fault.message
    assert fit(form({"status": TEXT, "orders": {"type": "array"}}, "orders"), results) == {"orders": results["orders"]}


def test_the_same_value_at_two_places_is_no_doubt() -> None:
    assert fit(form({"id": TEXT}, "id"), {"id": "A1", "order": {"id": "A1"}}) == {"id": "A1"}


def test_a_missing_property_names_its_pointer_its_schema_and_near_names() -> None:
    fault = misfit(form({"order": form({"statuss": TEXT}, "statuss")}, "order"), {"status": "sent", "eta": "x"})
    assert (fault.code, fault.field, fault.expected) == ("SCHEMA_VIOLATION", "/order/statuss", TEXT)
    assert fault.candidates == ("status",)


def test_an_optional_property_that_nothing_has_is_left_out_and_a_form_of_nothing_is_none() -> None:
    assert misfit(form({"colour": TEXT}), {"status": "sent"}).field == ""


def test_references_are_followed_and_a_schema_that_reaches_itself_ends() -> None:
    shared = {"$defs": {"amount": {"type": "number"}, "node": form({"next": {"$ref": "#/$defs/node"}}, "next")}}
    assert fit(form({"fee": {"$ref": "#/$defs/amount"}}, "fee", **shared), {"fee": "3.5"}) == {"fee": loads("3.5")}
    endless = misfit(form({"node": {"$ref": "#/$defs/node"}}, "node", **shared), {"fee": 1})
    assert endless.field == "/node/next"


def test_a_part_that_contains_itself_takes_every_value_once() -> None:
    tree = form({"id": TEXT, "left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}}, "id")
    asked = form({"tree": {"$ref": "#/$defs/tree"}}, "tree", **{"$defs": {"tree": tree}})
    assert fit(asked, {"ID": "A1"}) == {"tree": {"id": "A1"}}


def test_a_schema_whose_parts_multiply_is_given_up_after_so_many_values() -> None:
    parts = {f"p{k}": form({name: {"$ref": f"#/$defs/p{k + 1}"} for name in "abcdefgh"}) for k in range(MAX_DEPTH - 2)}
    asked = form({"w": {"$ref": "#/$defs/p0"}}, "w", **{"$defs": {**parts, f"p{MAX_DEPTH - 2}": form({"id": TEXT})}})
    assert f"{MAX_LOOKED_AT} values" in misfit(asked, {"ID": "A1"}).message


def test_without_results_there_is_no_data() -> None:
    assert isinstance(fit(form({"a": TEXT}, "a")), Fault)
    assert fit({"type": "object"}) == {}


NAMES = st.sampled_from(["id", "order_id", "orderId", "status", "n", "rows"])
LEAVES: st.SearchStrategy[Any] = st.sampled_from(["a", "b", "12", "12.5", 7, 7.5, True, None])
RESULTS: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda inner: st.dictionaries(NAMES, inner, max_size=3) | st.lists(inner, max_size=2), max_leaves=8
)
KINDS: st.SearchStrategy[Any] = st.sampled_from([TEXT, NUMBER, INTEGER, {"type": "boolean"}, {}])
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    KINDS,
    lambda inner: (
        st.builds(
            lambda members, needed: form(members, *[name for name in members if name in needed]),
            st.dictionaries(NAMES, inner, min_size=1, max_size=3),
            st.sets(NAMES),
        )
        | st.builds(lambda items: {"type": "array", "items": items}, inner)
    ),
    max_leaves=5,
)


@given(st.lists(RESULTS, max_size=3), SCHEMAS)
@settings(max_examples=150, deadline=None)
def test_data_keep_the_schema_and_hold_no_value_that_no_result_has(results: list[Any], schema: Any) -> None:
    built = fit(schema, *results)
    if isinstance(built, Fault):
        assert built.code == "SCHEMA_VIOLATION"
        return
    assert CompiledSchema.compile(schema).is_valid(built)
    had = {_spelt(leaf) for result in [*results, None] for _, leaf in leaves(result)}
    assert {_spelt(leaf) for _, leaf in leaves(built)} <= had | {"{}", "[]"}


def _spelt(leaf: Any) -> str:
    return leaf if isinstance(leaf, str) else dumps(leaf)
