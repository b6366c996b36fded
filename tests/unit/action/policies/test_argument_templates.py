"""Rules of making one tool's arguments from another's."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.action.policies.argument_templates import fill, same_names, sources
from taoloop.plan.acting import Provenance
from taoloop.tools.signature import Trust
from tests.unit.action.contracts import LOOK_UP

GIVEN: dict[str, Any] = {"place": "Bonn", "days": 3, "tags": ["a"], "deep": {"x": 1}}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"city": "{place}", "n": "{days}"}, {"city": "Bonn", "n": 3}),
        ({"city": "in {place} for {days}{missing}"}, {"city": "in Bonn for 3"}),
        ({"a": {"b": ["{place}", "{missing}", 1, None]}, "c": "{missing}"}, {"a": {"b": ["Bonn", 1, None]}}),
        ({"all": "{deep}", "text": "{deep}!", "flag": True}, {"all": {"x": 1}, "text": '{"x":1}!', "flag": True}),
    ],
)
def test_placeholders_are_filled_with_their_types(template: dict[str, Any], expected: dict[str, Any]) -> None:
    assert fill(template, GIVEN) == expected


def test_only_declared_names_are_passed_on() -> None:
    assert same_names(LOOK_UP, {"key": "abc", "other": 1}) == {"key": "{key}"}


def stated(pointer: str, trust: Trust = Trust.TRUSTED) -> Provenance:
    return Provenance(pointer=pointer, source="step_output", step_id="1.t1", trust=trust)


def test_an_argument_comes_from_where_its_parts_came_from() -> None:
    template = {"q": "{place} {days}", "kind": "city", "lost": "{missing}"}
    found = sources(template, fill(template, GIVEN), (stated("/place", Trust.UNTRUSTED), stated("/days/0")))
    assert found == (
        Provenance(pointer="/q", source="step_output", step_id="1.t1", trust=Trust.TRUSTED),
        Provenance(pointer="/q", source="step_output", step_id="1.t1", trust=Trust.UNTRUSTED),
        Provenance(pointer="/kind", source="contract_value", trust=Trust.TRUSTED),
    )


def test_a_part_without_a_source_leaves_the_whole_without_one() -> None:
    template = {"q": "{place} {days}"}
    assert sources(template, fill(template, GIVEN), (stated("/place"), stated("/day"))) == ()
    assert len(sources(template, fill(template, GIVEN), (stated(""),))) == 2
