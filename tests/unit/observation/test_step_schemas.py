"""Schemas of steps are compiled once, within bounds, and forgotten again."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.observation.stages.model import Flaw
from taoloop.observation.stages.step_schemas import MAX_CHARACTERS, MAX_KEPT, MAX_PATTERNS, StepSchemas
from taoloop.tools.schemas import CompiledSchema


def with_patterns(count: int, start: int = 0) -> Any:
    return {"patternProperties": {f"^p{start}x{number}$": True for number in range(count)}}


def test_the_same_schema_is_compiled_once() -> None:
    schemas = StepSchemas()
    first = schemas.of({"type": "object"})
    assert isinstance(first, CompiledSchema)
    assert schemas.of({"type": "object"}) is first


@pytest.mark.parametrize(
    ("schema", "cause"),
    [
        ({"const": "x" * MAX_CHARACTERS}, "characters"),
        (with_patterns(MAX_PATTERNS + 1), "patterns"),
        ({"$ref": "http://127.0.0.1:9/x"}, "not a local reference"),
        ({"type": "object", "allOf": [{"pattern": f"({n}"} for n in range(30)]}, "cannot be used"),
        ([1], "a schema is an object"),
    ],
)
def test_schema_that_cannot_be_used_is_a_short_flaw(schema: Any, cause: str) -> None:
    found = StepSchemas().of(schema)
    assert isinstance(found, Flaw)
    assert found.failure.hard
    assert cause in found.failure.message
    assert len(found.failure.message) < 400


def test_patterns_count_when_it_is_decided_what_is_kept() -> None:
    schemas = StepSchemas()
    first = schemas.of(with_patterns(MAX_PATTERNS))
    for number in range(MAX_KEPT // MAX_PATTERNS):
        schemas.of(with_patterns(MAX_PATTERNS, start=number + 1))
    assert schemas.of(with_patterns(MAX_PATTERNS)) is not first
