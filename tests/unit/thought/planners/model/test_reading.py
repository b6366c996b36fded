"""Words become a value by the conversion that the parameter's schema asks for, or a reason to ask again."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.plan.model import Convert
from taoloop.plan.task import InputReason
from taoloop.thought.planners.model.parameters import parameters_of
from taoloop.thought.planners.model.reading import WordsRead, read_words
from taoloop.thought.planners.unread import Unread
from taoloop.tools.signature import ToolSignature
from taoloop.values.conversions import ConversionContext

NOW = ConversionContext(reference_time=datetime(2026, 11, 30, 9, tzinfo=UTC), time_zone="UTC", locale="en")


def read(schema: dict[str, Any], text: str) -> WordsRead | Unread:
    (parameter,) = parameters_of(ToolSignature(name="t", description="", parameters={"properties": {"x": schema}}))
    return read_words(parameter, text, NOW)


@pytest.mark.parametrize(
    ("schema", "text", "value", "to"),
    [
        ({"type": "string"}, "tomorrow", "tomorrow", None),
        ({"type": "string", "format": "date"}, "tomorrow", "2026-12-01", "date"),
        ({"type": "string", "format": "date"}, "2026-12-24", "2026-12-24", None),
        ({"type": "string", "x-taoloop-as": "time", "pattern": "^[0-9]{2}:[0-9]{2}$"}, "3pm", "15:00", "time"),
        ({"type": "string", "x-taoloop-as": "date", "pattern": "^[0-9-]{10}$"}, "tomorrow", "2026-12-01", "date"),
        ({"type": "integer"}, "1,200", 1200, "integer"),
        ({"type": "number"}, "2.50", Decimal("2.50"), "number"),
        ({"type": ["boolean", "integer"]}, "3", 3, "integer"),
    ],
)
def test_words_are_converted_where_the_schema_asks_for_it(
    schema: dict[str, Any], text: str, value: JsonValue, to: str | None
) -> None:
    found = read(schema, text)

    assert isinstance(found, WordsRead)
    assert (found.value, found.convert) == (value, None if to is None else Convert(to=to))


@pytest.mark.parametrize(
    ("schema", "text", "reason"),
    [
        ({"type": "string", "pattern": "^[0-9]+$"}, "abc", InputReason.INVALID),
        ({"type": "string", "format": "date"}, "soon", InputReason.INVALID),
        ({"type": "string", "format": "date"}, "03/04/2026", InputReason.AMBIGUOUS),
        ({"type": "integer", "maximum": 5}, "6", InputReason.INVALID),
        ({"enum": ["a b", "a-b"]}, "a_b", InputReason.INVALID),
    ],
)
def test_words_without_one_reading_are_asked_for_again(schema: dict[str, Any], text: str, reason: InputReason) -> None:
    found = read(schema, text)

    assert isinstance(found, Unread)
    assert found.reason is reason
