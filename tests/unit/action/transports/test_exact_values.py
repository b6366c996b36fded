"""Which values have one exact form as JSON."""

import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from ipaddress import ip_address
from typing import Any

import pytest
from pydantic import BaseModel, Field

from taoloop.action.transports.exact_values import NotJson, json_value


class Colour(Enum):
    RED = "red"


@dataclass
class Line:
    amount: Decimal
    colour: Colour


class Order(BaseModel):
    order_id: str = Field(alias="orderId")
    day: date


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (10**30, 10**30),
        (Decimal("0.10"), Decimal("0.10")),
        ("text", "text"),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00+00:00"),
        (time(3, 4), "03:04:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (ip_address("::1"), "::1"),
        ((1, [2]), [1, [2]]),
        (Line(Decimal(1), Colour.RED), {"amount": Decimal(1), "colour": "red"}),
        (Order(orderId="A1", day=date(2026, 1, 2)), {"orderId": "A1", "day": "2026-01-02"}),
    ],
)
def test_values_with_one_exact_form_have_it(value: Any, expected: Any) -> None:
    assert json_value(value) == expected


def deep() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        (b"x", ""),
        ({"a": [float("nan")]}, "/a/0"),
        ({"a": Decimal("Infinity")}, "/a"),
        ({"a": {1}}, "/a"),
        ({"a": {1: 2}}, "/a"),
        ({"a": Line}, "/a"),
        (deep(), ""),
    ],
)
def test_what_has_none_is_refused_with_its_place(value: Any, pointer: str) -> None:
    with pytest.raises(NotJson) as caught:
        json_value(value)
    assert caught.value.pointer == pointer
