"""Reading words as the value of one slot."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from taoloop.plan.model import Convert
from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.reading import Reading, read
from taoloop.thought.planners.graph.slots import compile_slots
from taoloop.thought.planners.unread import Unread
from taoloop.values.conversions import ConversionContext

CONTEXT = ConversionContext(reference_time=datetime(2026, 3, 10, 1, tzinfo=UTC), time_zone="Asia/Shanghai", locale="zh")


def _read(text: str, **schema: Any) -> Reading | Unread:
    return read(compile_slots({"properties": {"x": schema}})[0], text, CONTEXT)


def test_text_that_the_schema_accepts_is_not_converted() -> None:
    assert _read("2026-03-11", type="string", format="date") == Reading("2026-03-11")


@pytest.mark.parametrize(
    ("text", "schema", "to", "value"),
    [
        ("明天", {"type": "string", "format": "date"}, "date", "2026-03-11"),
        ("last month", {"type": "string", "format": "date-range"}, "date-range", "2026-02-01~2026-02-28"),
        ("明天 15:00", {"type": "string", "format": "date-time"}, "datetime", "2026-03-11T07:00:00Z"),
        ("20260308000012345", {"type": "integer"}, "integer", 20260308000012345),
        ("0.10", {"type": "number"}, "number", Decimal("0.10")),
    ],
)
def test_words_become_values_by_a_named_conversion(text: str, schema: Any, to: str, value: Any) -> None:
    assert _read(text, **schema) == Reading(value, Convert(to=to))


def test_another_spelling_of_an_enum_member_points_at_the_member() -> None:
    assert _read("IN TRANSIT", enum=["shipped", "in_transit"]) == Reading("in_transit", member=1)


def test_two_members_of_one_spelling_are_none() -> None:
    assert isinstance(_read("a b", enum=["A_B", "a-b"]), Unread)


def test_two_readings_are_ambiguous_and_named() -> None:
    unread = _read("Monday", type="string", format="date")
    assert isinstance(unread, Unread)
    assert unread.reason is InputReason.AMBIGUOUS
    assert "2026-03-16" in unread.candidates


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ("2026-02-30", {"type": "string", "format": "date"}),
        ("99", {"type": "integer", "maximum": 8}),
        ("3pm", {"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}$"}),
    ],
)
def test_a_value_that_the_schema_refuses_is_invalid(text: str, schema: Any) -> None:
    assert _read(text, **schema) == Unread(InputReason.INVALID)
