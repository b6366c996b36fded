"""What changed between two catalogues."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taoloop.tools.compatibility import Surface, compare
from taoloop.tools.signature import Effect, Reach, Trust

OLD = Surface(
    effect=Effect.IDEMPOTENT_WRITE,
    reach=Reach.INTERNAL,
    trust=Trust.TRUSTED,
    parameters={"type": "object", "properties": {}},
    output={"type": "object", "properties": {"a": {}}},
    contract_digest="1",
    imported_digest="x",
)


def changes(**changed: object) -> list[tuple[str, bool]]:
    """Return codes and whether they break for a surface with these changes."""
    new = replace(OLD, contract_digest="2", **changed)  # type: ignore[arg-type]
    return [(each.code, each.is_breaking) for each in compare({"t": OLD}, {"t": new})]


@pytest.mark.parametrize(
    ("changed", "code", "breaks"),
    [
        ({"effect": Effect.WRITE}, "EFFECT_STRENGTHENED", True),
        ({"effect": Effect.READ}, "EFFECT_WEAKENED", False),
        ({"reach": Reach.OUTWARD}, "REACH_CHANGED", True),
        ({"trust": Trust.UNTRUSTED}, "TRUST_CHANGED", True),
        ({"imported_digest": "y"}, "SOURCE_CHANGED", False),
        ({"output": {"type": "object", "properties": {}}}, "FIELD_REMOVED", True),
        ({"output": {"type": "object", "description": "x", "properties": {"a": {}}}}, "SCHEMA_REWORDED", False),
        ({}, "CONTRACT_CHANGED", False),
    ],
)
def test_each_change_has_its_code_and_its_weight(changed: dict[str, object], code: str, breaks: bool) -> None:
    assert changes(**changed) == [(code, breaks)]


def test_a_tool_that_is_gone_breaks_and_a_new_one_does_not() -> None:
    assert [(each.code, each.is_breaking) for each in compare({"a": OLD}, {"b": OLD})] == [
        ("TOOL_REMOVED", True),
        ("TOOL_ADDED", False),
    ]


def test_the_same_contract_has_no_changes() -> None:
    assert compare({"t": OLD}, {"t": OLD}) == ()


def test_what_breaks_stands_first() -> None:
    assert [breaks for _, breaks in changes(effect=Effect.READ, reach=Reach.OUTWARD)] == [True, False]
