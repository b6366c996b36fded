"""The language of `expect`: what it lets pass and what it does not."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from taoloop.evaluation.cases.expecting import mismatches

HOLDS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("keys that are not named are free", {"outcome": "parsed"}, {"outcome": "parsed", "repaired": True}),
    ("numbers are equal by value", {"value": 1}, {"value": Decimal("1.0")}),
    ("one alternative is enough", {"any_of": [{"a": 1}, {"b": 2}]}, {"b": 2}),
    ("a tolerance bounds the difference", {"value": 21.1, "tolerance": 0.1}, {"value": Decimal("21.19")}),
    ("a prefix is right too", {"value": "12:00:00.123456789", "accept_prefix": "12:00"}, {"value": "12:00:01"}),
    ("a moment has any offset", {"value": "2026-03-02T15:00:00+08:00"}, {"value": datetime(2026, 3, 2, 7, tzinfo=UTC)}),
    ("the order of a set says nothing", {"members": ["a", "b"]}, {"members": ["b", "a"]}),
    ("includes names some members", {"includes": ["schema"]}, {"includes": ["position", "schema"]}),
    ("candidates_include names some members", {"candidates_include": ["x"]}, {"candidates": ["y", "x"]}),
    ("any of several paths is named", {"path": "/b"}, {"path": "/a", "paths": ["/a", "/b"]}),
    (
        "a class may have the product's own name",
        {"error_class": "invalid_arguments"},
        {"error_class": "INVALID_PARAMETER"},
    ),
    ("errors may be more than are wanted", {"errors": [{"class": "x"}]}, {"errors": [{"class": "y"}, {"class": "x"}]}),
    ("a time bound", {"within_s": 1.5}, {"elapsed_s": 1.5}),
    ("an upper bound", {"peak_extra_bytes_max": 10}, {"peak_extra_bytes": 10}),
    ("a lower bound", {"distinct_first_delays_min": 10}, {"distinct_first_delays": 11}),
    ("an upper bound by its other name", {"max_delay_s": 8}, {"delay_s": 7.5}),
    ("parts of a text", {"must_contain": ["a"], "must_not_contain": ["b"]}, {"text": "a c"}),
    ("parts of another text", {"message_must_not_contain": ["tok"]}, {"message": "refused"}),
    ("one part of a text", {"next_args_text_contains": "17"}, {"next_args_text": "{17}"}),
]

BREAKS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("another value", {"outcome": "parsed"}, {"outcome": "rejected"}),
    ("another moment", {"value": "2026-03-02T15:00:00Z"}, {"value": datetime(2026, 3, 2, 7, tzinfo=UTC)}),
    ("a text that is no moment", {"value": "2026-03-02"}, {"value": datetime(2026, 3, 2, tzinfo=UTC)}),
    ("true is no number", {"value": 1}, {"value": True}),
    ("a value is compared whole", {"args": {"a": 1}}, {"args": {"a": 1, "b": 2}}),
    ("a key that nobody said", {"repaired": False}, {}),
    ("no alternative holds", {"any_of": [{"a": 1}, {"b": 2}]}, {"a": 2, "b": 1}),
    ("the rest beside alternatives holds too", {"any_of": [{"a": 1}], "c": 3}, {"a": 1, "c": 4}),
    ("no alternative at all", {"any_of": []}, {"a": 1}),
    ("a difference above the tolerance", {"value": 21.1, "tolerance": 0.1}, {"value": 21.3}),
    ("a text is no number within a tolerance", {"value": 21.1, "tolerance": 0.1}, {"value": "21.1"}),
    ("a set has no further members", {"members": ["a"]}, {"members": ["a", "b"]}),
    ("a list keeps its order", {"order": ["a", "b"]}, {"order": ["b", "a"]}),
    ("a missing member", {"includes": ["schema"]}, {"includes": []}),
    ("another class", {"error_class": "malformed_arguments"}, {"error_class": "invalid_arguments"}),
    ("a wanted error needs one of its own", {"errors": [{"class": "x"}, {"class": "x"}]}, {"errors": [{"class": "x"}]}),
    ("too late", {"within_s": 1.5}, {"elapsed_s": 1.6}),
    ("too large", {"peak_extra_bytes_max": 10}, {"peak_extra_bytes": 11}),
    ("too few", {"distinct_first_delays_min": 10}, {"distinct_first_delays": 9}),
    ("a bound on what is no number", {"max_delay_s": 8}, {"delay_s": True}),
    ("a forbidden part", {"must_not_contain": ["b"]}, {"text": "abc"}),
    ("a missing part", {"must_contain": ["b", "x"]}, {"text": "abc"}),
]


@pytest.mark.parametrize(("expect", "said"), [row[1:] for row in HOLDS], ids=[row[0] for row in HOLDS])
def test_an_expectation_holds(expect: dict[str, Any], said: dict[str, Any]) -> None:
    assert mismatches(expect, said) == ()


@pytest.mark.parametrize(("expect", "said"), [row[1:] for row in BREAKS], ids=[row[0] for row in BREAKS])
def test_an_expectation_breaks(expect: dict[str, Any], said: dict[str, Any]) -> None:
    assert mismatches(expect, said) != ()


def test_every_mismatch_is_told_with_both_sides() -> None:
    found = mismatches({"outcome": "parsed", "executed": False}, {"outcome": "rejected"})

    assert found == (
        'outcome: expected "parsed", got "rejected"',
        "executed: expected false, the product says nothing of it",
    )
