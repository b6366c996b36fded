"""The output schema: the response after the normalise rules."""

import copy
from decimal import Decimal
from typing import Any

import pytest

from taoloop.tools.contract import MinScore, NormaliseAs, NormaliseRule, Observe, Take
from taoloop.tools.output_schema import derive
from taoloop.tools.schemas import CompiledSchema

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
    result = derive(_RESPONSE, Observe(normalise=rules))
    assert result.problems == ()
    return result.schema


def test_without_rules_the_output_is_the_response() -> None:
    assert derive(_RESPONSE, Observe()).schema is _RESPONSE


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
    result = derive(_RESPONSE, Observe(normalise=(NormaliseRule(field=field, to=to),)))
    assert [problem.index for problem in result.problems] == [0]


def test_the_response_schema_is_not_changed() -> None:
    before = copy.deepcopy(_RESPONSE)
    _derived(
        NormaliseRule(field="/state", to="/status"),
        NormaliseRule(field="/window/from", to="/window/start", convert=NormaliseAs.DATE),
    )
    assert before == _RESPONSE


def _of(rule: NormaliseRule, schema: Any = True) -> Any:
    response = {"type": "object", "required": ["v"], "properties": {"v": schema}}
    return derive(response, Observe(normalise=(rule,))).schema["properties"]["v"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("convert", "options", "expected"),
    [
        (NormaliseAs.TEXT, {}, {"type": "string"}),
        (NormaliseAs.NUMBER, {}, {"type": "number"}),
        (NormaliseAs.INTEGER, {}, {"type": "integer"}),
        (NormaliseAs.BOOLEAN, {}, {"type": "boolean"}),
        (NormaliseAs.UNIT, {"unit": "°F", "to_unit": "°C"}, {"type": "number", "description": "In °C."}),
        (NormaliseAs.PERCENTAGE, {}, {"type": "number", "description": "In per cent."}),
        (NormaliseAs.CONFIDENCE, {}, {"type": "number", "minimum": 0, "maximum": 1}),
        (NormaliseAs.MONEY, {"currency": "CNY"}, {"type": "number", "description": "In CNY."}),
        (NormaliseAs.DATE, {}, {"type": "string", "format": "date"}),
        (NormaliseAs.DATETIME, {}, {"type": "string", "format": "date-time"}),
        (NormaliseAs.DATE_RANGE, {}, {"type": "string", "format": "date-range"}),
        (NormaliseAs.DURATION, {}, {"type": "number", "description": "In seconds."}),
    ],
)
def test_every_conversion_says_what_it_gives(convert: NormaliseAs, options: Any, expected: Any) -> None:
    rule = NormaliseRule(field="/v", to="/v", convert=convert, conversion_options=options)
    assert _of(rule, {"type": "string"}) == expected


def test_description_of_the_field_stays_beside_the_unit() -> None:
    rule = NormaliseRule(field="/v", to="/v", convert=NormaliseAs.MONEY, conversion_options={"currency": "CNY"})
    assert _of(rule, {"type": ["string", "null"], "description": "List price."}) == {
        "type": ["number", "null"],
        "description": "List price. In CNY.",
    }


def test_amount_without_a_stated_currency_says_both() -> None:
    schema = _of(NormaliseRule(field="/v", to="/v", convert=NormaliseAs.MONEY), {"type": "string"})
    assert schema["required"] == ["amount", "currency"]


def test_values_are_those_of_the_map_the_vocabulary_and_of_known() -> None:
    rule = NormaliseRule(field="/v", to="/v", enum={"x": "open"}, vocabulary={"closed": ("c", 0)})
    response = {"type": "object", "properties": {"v": {"type": "string"}}}
    output: Any = derive(response, Observe(normalise=(rule,), known={"/v": ("open", "lost")})).schema
    assert output["properties"]["v"] == {"enum": ["open", "closed", "lost"]}


def test_star_changes_what_every_item_is() -> None:
    item = {"type": "object", "required": ["price"], "properties": {"price": {"type": "string"}}}
    response = {"type": "object", "properties": {"items": {"type": "array", "items": item, "minItems": 1}}}
    rule = NormaliseRule(field="/items/*/price", to="/items/*/cost", convert=NormaliseAs.NUMBER)
    output: Any = derive(response, Observe(normalise=(rule,))).schema
    assert output["properties"]["items"] == {
        "type": "array",
        "minItems": 1,
        "items": {"type": "object", "required": ["cost"], "properties": {"cost": {"type": "number"}}},
    }


def test_pick_leaves_what_it_names_and_what_is_normalised_where_it_stands() -> None:
    rule = NormaliseRule(field="/eta", to="/eta", convert=NormaliseAs.DATE)
    output: Any = derive(_RESPONSE, Observe(normalise=(rule,), pick=("/state",))).schema
    assert sorted(output["properties"]) == ["eta", "state"]
    assert output["required"] == ["state"]


@pytest.mark.parametrize(("take", "most"), [(Take.ALL, None), (Take.BEST, 1)])
def test_hits_that_count_are_never_an_empty_list(take: Take, most: int | None) -> None:
    hit = {"type": "object", "properties": {"score": {"type": "number"}}}
    response = {"type": "object", "properties": {"hits": {"type": "array", "items": hit, "minItems": 3}}}
    observe = Observe(min_score=MinScore(field="/hits/*/score", min=Decimal("0.6"), take=take))
    hits = derive(response, observe).schema["properties"]["hits"]  # type: ignore[index]
    assert (hits["minItems"], hits.get("maxItems")) == (1, most)
    score: Any = {"properties": {"hits": hits}}
    assert CompiledSchema.compile(score).is_valid({"hits": [{"score": Decimal("0.6")}]})
    assert not CompiledSchema.compile(score).is_valid({"hits": [{"score": Decimal("0.59")}]})


def test_reference_to_a_part_that_changes_still_means_the_part_as_it_was() -> None:
    response = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}},
    }
    output: Any = derive(
        response, Observe(normalise=(NormaliseRule(field="/a", to="/a", convert=NormaliseAs.INTEGER),))
    ).schema
    judge = CompiledSchema.compile(output)
    assert judge.is_valid({"a": 1, "b": "text"})
    assert not judge.is_valid({"a": 1, "b": 1})
