"""The output schema: the response after the normalise rules."""

import copy
from typing import Any

import pytest

from taoloop.tools.contract import NormaliseAs, NormaliseRule
from taoloop.tools.output_schema import derive

_RESPONSE: dict[str, Any] = {
    "type": "object",
    "required": ["state", "window"],
    "$defs": {"window": {"type": "object", "required": ["from"], "properties": {"from": {"type": "string"}}}},
    "properties": {
        "state": {"type": "string", "description": "State"},
        "eta": {"type": ["string", "null"]},
        "window": {"$ref": "#/$defs/window"},
        "other": {"$ref": "#/$defs/window"},
    },
}


def _derived(*rules: NormaliseRule) -> Any:
    result = derive(_RESPONSE, rules)
    assert result.problems == ()
    return result.schema


def test_without_rules_the_output_is_the_response() -> None:
    assert derive(_RESPONSE, ()).schema is _RESPONSE


def test_a_renamed_field_moves_with_its_values_and_stays_required() -> None:
    output = _derived(
        NormaliseRule(field="/state", to="/status", enum={"S": "shipped", "D": "delivered", "X": "shipped"})
    )
    assert output["properties"]["status"] == {"description": "State", "enum": ["shipped", "delivered"]}
    assert "state" not in output["properties"]
    assert sorted(output["required"]) == ["status", "window"]


def test_a_converted_field_gets_its_format_and_stays_nullable() -> None:
    output = _derived(NormaliseRule(field="/eta", to="/eta", convert=NormaliseAs.DATETIME))
    assert output["properties"]["eta"] == {"type": ["string", "null"], "format": "date-time"}
    assert output["required"] == ["state", "window"]


def test_a_change_behind_a_reference_stays_in_its_place() -> None:
    output = _derived(NormaliseRule(field="/window/from", to="/window/from", convert=NormaliseAs.DATE))
    assert output["properties"]["window"]["properties"]["from"] == {"type": "string", "format": "date"}
    assert output["properties"]["other"] == {"$ref": "#/$defs/window"}
    assert output["$defs"] == _RESPONSE["$defs"]


def test_a_field_can_move_into_a_new_object() -> None:
    output = _derived(NormaliseRule(field="/window/from", to="/times/start"))
    assert output["properties"]["times"]["properties"]["start"] == {"type": "string"}
    assert output["properties"]["times"]["required"] == ["start"]
    assert "times" in output["required"]


@pytest.mark.parametrize(
    ("field", "to"), [("/nope", "/nope"), ("/state/x", "/state/x"), ("/state", "/eta"), ("/state", "/window/from")]
)
def test_a_rule_that_does_not_fit_is_a_problem_and_left_out(field: str, to: str) -> None:
    result = derive(_RESPONSE, (NormaliseRule(field=field, to=to),))
    assert [problem.index for problem in result.problems] == [0]


def test_the_response_schema_is_not_changed() -> None:
    before = copy.deepcopy(_RESPONSE)
    _derived(
        NormaliseRule(field="/state", to="/status"),
        NormaliseRule(field="/window/from", to="/window/start", convert=NormaliseAs.DATE),
    )
    assert before == _RESPONSE
