"""The typed tool graph: which results can stand for which parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from taoloop.thought.pipeline.producing import FEW_PRODUCERS, ToolGraph
from taoloop.thought.planners.graph.index import PlannerIndex
from taoloop.tools.signature import Effect, ToolSignature

TEXT = {"type": "string"}


def _object(properties: Mapping[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    names = list(properties) if required is None else required
    return {"type": "object", "properties": dict(properties), "required": names}


def _tool(
    name: str, needs: Mapping[str, Any], gives: Mapping[str, Any] | None, effect: Effect = Effect.READ
) -> ToolSignature:
    return ToolSignature(name=name, description="A tool.", parameters=_object(needs), returns=gives, effect=effect)


def _producers(consumer: ToolSignature, *tools: ToolSignature) -> list[list[str]]:
    index = PlannerIndex((consumer, *tools))
    return [[index.tools[number].name for number in each] for each in ToolGraph(index).needs(0)]


GUEST = _tool("bill_guest", {"guest_id": TEXT}, None)


@pytest.mark.parametrize(
    "gives",
    [
        _object({"guest_id": TEXT}),
        _object({"guestId": TEXT}),
        _object({"guest": _object({"id": TEXT})}),
        _object({"rows": {"type": "array", "items": _object({"guest_id": TEXT})}}),
    ],
)
def test_result_with_the_identifier_produces_it_however_it_is_written(gives: Mapping[str, Any]) -> None:
    assert _producers(GUEST, _tool("look", {"phone": TEXT}, gives)) == [["look"]]


def test_plain_id_counts_where_the_tool_is_about_the_thing() -> None:
    gives = _object({"id": TEXT})
    found = _producers(GUEST, _tool("find_guest", {"phone": TEXT}, gives), _tool("find_order", {"phone": TEXT}, gives))
    assert found == [["find_guest"]]


def test_bare_id_is_one_of_the_thing_that_the_tool_is_about() -> None:
    consumer = _tool("cancel_order", {"id": TEXT}, None)
    rows = {"type": "array", "items": _object({"id": TEXT})}
    orders = _tool("list_orders", {"day": TEXT}, _object({"rows": rows}))
    assert _producers(consumer, orders, _tool("find_guest", {"phone": TEXT}, _object({"id": TEXT}))) == [
        ["list_orders"]
    ]


def test_address_of_any_name_may_be_where_a_message_goes() -> None:
    consumer = _tool("send_message", {"to": {"type": "string", "format": "email"}}, None)
    gives = _object({"email": {"type": "string", "format": "email"}})
    assert _producers(consumer, _tool("find_guest", {"phone": TEXT}, gives)) == [["find_guest"]]


def test_field_of_another_type_produces_nothing() -> None:
    assert _producers(GUEST, _tool("look", {"phone": TEXT}, _object({"guest_id": {"type": "integer"}}))) == []


def test_tool_that_needs_the_identifier_itself_finds_none_out() -> None:
    assert _producers(GUEST, _tool("get_guest", {"guest_id": TEXT}, _object({"guest_id": TEXT}))) == []


def test_reading_tool_comes_before_one_that_writes() -> None:
    gives = _object({"guest_id": TEXT})
    writes = _tool("add", {"phone": TEXT}, gives, Effect.WRITE)
    assert _producers(GUEST, writes, _tool("look", {"phone": TEXT}, gives)) == [["look", "add"]]


def test_optional_parameter_needs_no_producer() -> None:
    consumer = ToolSignature(name="list", description="Lists.", parameters=_object({"guest_id": TEXT}, required=[]))
    assert _producers(consumer, _tool("look", {"phone": TEXT}, _object({"guest_id": TEXT}))) == []


@pytest.mark.parametrize("schema", [{"type": "string", "format": "date"}, {"type": "boolean"}, {"enum": ["a", "b"]}])
def test_what_only_the_user_can_say_has_no_producer(schema: Mapping[str, Any]) -> None:
    consumer = _tool("book", {"choice": schema}, None)
    assert _producers(consumer, _tool("look", {"phone": TEXT}, _object({"choice": schema}))) == []


def test_plain_quantity_is_produced_only_where_few_tools_give_it() -> None:
    number = {"type": "number"}
    consumer = _tool("draw_map", {"latitude": number}, None)
    gives = _object({"latitude": number})
    few = [_tool(f"place_{count}", {"town": TEXT}, gives) for count in range(FEW_PRODUCERS)]
    assert len(_producers(consumer, *few)[0]) == FEW_PRODUCERS
    assert _producers(consumer, *few, _tool("one_more", {"town": TEXT}, gives)) == []


def test_tools_in_a_circle_are_told_without_end() -> None:
    first = _tool("first", {"left_id": TEXT}, _object({"right_id": TEXT}))
    second = _tool("second", {"right_id": TEXT}, _object({"left_id": TEXT}))
    assert _producers(first, second) == [["second"]]
    assert _producers(second, first) == [["first"]]


def test_deep_and_wide_results_are_read_up_to_a_bound() -> None:
    deep: dict[str, Any] = _object({"guest_id": TEXT})
    for _ in range(40):
        deep = _object({"inner": deep})
    wide = _object({f"field_{number}": TEXT for number in range(5000)})
    assert _producers(GUEST, _tool("deep", {"phone": TEXT}, deep), _tool("wide", {"phone": TEXT}, wide)) == []
