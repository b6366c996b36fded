"""The key of a step's call."""

from __future__ import annotations

import pytest

from taoloop.action.ledger.idempotency import idempotency_key
from taoloop.core import exact_json

X_AND_Y = exact_json.digest({"x": 1, "y": 2})
KEY = idempotency_key("acme", "r1", "1.t1", "pay", X_AND_Y)


def test_the_order_of_the_arguments_makes_no_other_key() -> None:
    assert idempotency_key("acme", "r1", "1.t1", "pay", exact_json.digest({"y": 2, "x": 1})) == KEY
    assert len(KEY) == 64


@pytest.mark.parametrize(
    "other",
    [
        ("other", "r1", "1.t1", "pay", X_AND_Y),
        ("acme", "r2", "1.t1", "pay", X_AND_Y),
        ("acme", "r1", "1.t2", "pay", X_AND_Y),
        ("acme", "r1", "1.t1", "refund", X_AND_Y),
        ("acme", "r1", "1.t1", "pay", exact_json.digest({"x": 1, "y": 3})),
        ("acmer1", "", "1.t1", "pay", X_AND_Y),
    ],
)
def test_tenant_run_step_tool_and_arguments_make_another_key(other: tuple[str, str, str, str, str]) -> None:
    assert idempotency_key(*other) != KEY
