"""Secrets and personal data leave a sample; arguments become placeholders where they are surely the same."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.evaluation.samples.masking import made_up, masked_arguments, masked_body


def nothing(value: JsonValue) -> JsonValue:
    return value


def phones(value: JsonValue) -> JsonValue:
    """Mask the one phone number that the tests have."""
    if isinstance(value, dict):
        return {name: phones(item) for name, item in value.items()}
    if isinstance(value, list):
        return [phones(item) for item in value]
    return value.replace("13911112222", "<PHONE>") if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("body", "arguments", "expected"),
    [
        ({"id": "A-1001"}, {"order_id": "A-1001"}, {"id": "{{arguments.order_id}}"}),
        ({"n": 20260101}, {"number": 20260101}, {"n": "{{arguments.number}}"}),
        ({"count": 2, "quantity": 2}, {"quantity": 2}, {"count": 2, "quantity": "{{arguments.quantity}}"}),
        ({"a": "no"}, {"b": "no"}, {"a": "no"}),
        ({"b": "no"}, {"b": "no"}, {"b": "{{arguments.b}}"}),
        ({"ok": True}, {"ok": True}, {"ok": True}),
        ({"x": "A-1001"}, {"first": "A-1001", "x": "A-1001"}, {"x": "{{arguments.x}}"}),
        ({"text": "Order A-1001 is out."}, {"id": "A-1001"}, {"text": "Order {{arguments.id}} is out."}),
        ({"text": "12345 of 1"}, {"id": "1"}, {"text": "12345 of 1"}),
        ({"n": "20260101"}, {"n": 20260101}, {"n": "20260101"}),
    ],
)
def test_what_repeats_an_argument_becomes_its_placeholder(body: Any, arguments: Any, expected: Any) -> None:
    assert masked_body(body, arguments, nothing).value == expected


def test_secrets_are_masked_by_name_and_by_form() -> None:
    body: Any = {"access_token": "abc", "next": "https://api.example.test/?api_key=x1&page=2", "list": ["Bearer abc-1"]}
    masked = masked_body(body, {}, nothing)
    assert masked.value == {
        "access_token": "***",
        "next": "https://api.example.test/?api_key=***&page=2",
        "list": ["Bearer ***"],
    }
    assert set(masked.masked) == {"/access_token", "/next", "/list/0"}


def test_what_the_contract_redacts_is_masked_in_bodies_and_made_up_in_arguments() -> None:
    body: Any = {"contact": ["call 13911112222"], "state": "S"}
    masked = masked_body(body, {}, phones)
    assert masked.value == {"contact": ["call <PHONE>"], "state": "S"}
    assert masked.masked == {"/contact/0": "call 13911112222"}
    assert masked_arguments({"phone": "13911112222", "n": 1}, phones).value == {"phone": "13900000000", "n": 1}


def test_an_argument_that_is_redacted_comes_back_as_its_placeholder() -> None:
    assert masked_body({"phone": "13911112222"}, {"phone": "13911112222"}, phones).value == {
        "phone": "{{arguments.phone}}"
    }


@pytest.mark.parametrize("value", [None, True, 5, "abc-9", "李 9", ["x", {"a": "B"}]])
def test_a_made_up_value_has_the_form_of_the_real_one(value: Any) -> None:
    made = made_up(value)
    assert type(made) is type(value)
    if isinstance(value, str) and isinstance(made, str):
        assert len(made) == len(value)
        assert made != value
