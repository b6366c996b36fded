"""Every place and every change that `observe` names is checked against the response and the output schema."""

from pathlib import Path
from typing import Any

import pytest

from taoloop.tools.loading import load_catalogue
from taoloop.tools.loading.findings import Finding
from tests.unit.tools.contracts import document, write_catalogue

RESPONSE: dict[str, Any] = {
    "type": "object",
    "required": ["state", "items"],
    "properties": {
        "state": {"enum": ["S", "D"]},
        "eta": {"type": "string"},
        "count": {"type": "boolean"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["price"],
                "properties": {"price": {"type": "string"}, "score": {"type": "number"}},
            },
        },
        "by_city": {
            "type": "object",
            "additionalProperties": {"type": "object", "properties": {"t": {"type": "number"}}},
        },
    },
}


def findings(tmp_path: Path, **observe: Any) -> list[Finding]:
    value = document(spec__response=RESPONSE, spec__observe=observe)
    return list(load_catalogue(write_catalogue(tmp_path, value)).errors)


def normalise(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"normalise": list(rules)}


PRICE = {"field": "/items/*/price", "to": "/items/*/price_cny", "as": "money", "currency": "CNY"}


@pytest.mark.parametrize(
    "observe",
    [
        normalise(PRICE),
        normalise({"field": "/by_city/*/t", "to": "/by_city/*/t_celsius", "as": "unit", "unit": "°F", "to_unit": "°C"}),
        normalise({"field": "/state", "enum": {"S": "shipped"}, "vocabulary": {"delivered": ["D"]}}),
        normalise({"field": "/items", "to": "/goods"}, {**PRICE, "to": "/goods/*/price_cny"}),
        {"min_score": {"field": "/items/*/score", "min": 0.6, "take": "best"}},
        {"min_score": None},
        {"pick": ["/state", "/items/*/price", "/by_city/*/t"]},
        {**normalise(PRICE), "known": {"/state": ["S"]}, "expose": ["/items/*/price_cny"]},
        {"redact": ["phone", "secrets", {"field": "/items/*/price"}, {"pattern": "E-[0-9]+", "name": "staff"}]},
        {"expose": ["/items"], "projections": {"prices": {"when": "what it costs", "expose": ["/items/*/price"]}}},
        {"projections": {"all": {"when": "everything", "expose": [""]}}},
        normalise({"field": "/eta", "as": "text", "html": "strip"}),
        normalise({"field": "/eta", "as": "date", "order": "ymd"}),
        normalise({"field": "/eta", "as": "datetime", "time_zone": "Asia/Shanghai", "gap": "forward"}),
    ],
)
def test_what_the_schemas_have_is_accepted(tmp_path: Path, observe: dict[str, Any]) -> None:
    assert findings(tmp_path, **observe) == []


@pytest.mark.parametrize(
    ("code", "place", "remedy", "observe"),
    [
        ("NORMALISE_FIELD", "normalise/0/field", "response", normalise({"field": "/items/*/cost", "as": "number"})),
        ("NORMALISE_FIELD", "normalise/0/field", "response", normalise({"field": "/state/*", "as": "text"})),
        ("NORMALISE_TO", "normalise/0/to", "same stars", normalise({**PRICE, "to": "/price"})),
        ("NORMALISE_TO", "normalise/0/to", "/items/*", normalise({**PRICE, "to": "/goods/*/price"})),
        (
            "NORMALISE_TO",
            "normalise/1/to",
            "another place",
            normalise({"field": "/eta", "to": "/x"}, {"field": "/state", "to": "/x"}),
        ),
        (
            "NORMALISE_FIELD",
            "normalise/1/field",
            "one of the two",
            normalise({"field": "/by_city", "to": "/x", "enum": {"a": "b"}}, {"field": "/by_city/*/t", "as": "text"}),
        ),
        (
            "NORMALISE_TO",
            "normalise/1/to",
            "/goods/*",
            normalise({"field": "/items", "to": "/goods"}, {"field": "/items/*/price", "as": "number"}),
        ),
        ("NORMALISE_TO", "normalise/0/to", "another place", normalise({"field": "/eta", "to": "/state/x"})),
        (
            "NORMALISE_TYPE",
            "normalise/0/as",
            "string",
            normalise({"field": "/count", "as": "money", "currency": "CNY"}),
        ),
        ("NORMALISE_TYPE", "normalise/0/as", "string", normalise({"field": "/items", "as": "text"})),
        ("NORMALISE", "normalise/0", "one of them", normalise({"field": "/eta", "as": "date", "enum": {"a": "b"}})),
        (
            "NORMALISE",
            "normalise/0",
            "one of them",
            normalise({"field": "/eta", "as": "date", "vocabulary": {"a": ["b"]}}),
        ),
        ("NORMALISE", "normalise/0/options", "Remove", normalise({"field": "/eta", "as": "date", "options": {"a": 1}})),
        ("NORMALISE_OPTION", "normalise/0/time_zone", "Correct", normalise({"field": "/eta", "time_zone": "UTC"})),
        ("NORMALISE_OPTION", "normalise/0/gap", "order", normalise({"field": "/eta", "as": "date", "gap": "refuse"})),
        (
            "NORMALISE_OPTION",
            "normalise/0/currency",
            "CNY",
            normalise({"field": "/eta", "as": "money", "currency": "CNI"}),
        ),
        ("NORMALISE_OPTION", "normalise/0/as", "Correct", normalise({"field": "/eta", "as": "unit"})),
        (
            "TIME_ZONE",
            "normalise/0/time_zone",
            "Asia/Shanghai",
            normalise({"field": "/eta", "as": "datetime", "time_zone": "Asia/Shangai"}),
        ),
        ("ENUM_KEY", "normalise/0/enum/X", "S", normalise({"field": "/state", "enum": {"S": "a", "D": "b", "X": "c"}})),
        (
            "UNKNOWN_VOCABULARY",
            "normalise/0/vocabulary",
            "Add it",
            normalise({"field": "/state", "vocabulary": "bookings"}),
        ),
        ("UNKNOWN_PLUGIN", "normalise/0/plugin", "", normalise({"field": "/eta", "plugin": "our_own"})),
        ("MIN_SCORE", "min_score/field", "star", {"min_score": {"field": "/items/*/*/score", "min": 1}}),
        ("UNKNOWN_FIELD", "min_score/field", "response", {"min_score": {"field": "/hits/*/score", "min": 1}}),
        ("MIN_SCORE", "min_score/field", "score", {"min_score": {"field": "/items/*/price", "min": 1}}),
        ("UNKNOWN_FIELD", "pick/0", "response", {"pick": ["/items/*/cost"]}),
        ("PICK", "pick/0", "*", {"pick": ["/items/0/price"]}),
        ("REDACT", "redact/0/pattern", "linear", {"redact": [{"pattern": "(?=a)", "name": "x"}]}),
        ("REDACT", "redact/0/pattern", "empty", {"redact": [{"pattern": "[0-9]*", "name": "x"}]}),
        (
            "REDACT",
            "redact/1/name",
            "another",
            {"redact": [{"pattern": "a", "name": "x"}, {"pattern": "b", "name": "x"}]},
        ),
        ("UNKNOWN_OUTPUT", "redact/0/field", "/items", {"redact": [{"field": "/item"}]}),
        (
            "UNKNOWN_OUTPUT",
            "known/~1items~1*~1price",
            "output",
            {**normalise(PRICE), "known": {"/items/*/price": ["1"]}},
        ),
        ("UNKNOWN_OUTPUT", "expose/0", "output", {"expose": ["/items/*/cost"]}),
        ("UNKNOWN_OUTPUT", "expose/0", "/state", {"pick": ["/state"], "expose": ["/eta"]}),
        (
            "PROJECTION",
            "projections/x/expose/0",
            "Expose it",
            {"expose": ["/state"], "projections": {"x": {"when": "y", "expose": ["/eta"]}}},
        ),
        (
            "PROJECTION",
            "projections/x/expose/0",
            "Expose it",
            {"expose": ["/items/0/price"], "projections": {"x": {"when": "y", "expose": ["/items/*/price"]}}},
        ),
        (
            "UNKNOWN_OUTPUT",
            "projections/x/expose/0",
            "output",
            {"projections": {"x": {"when": "y", "expose": ["/nope"]}}},
        ),
    ],
)
def test_what_they_do_not_have_is_refused_with_place_and_remedy(
    tmp_path: Path, code: str, place: str, remedy: str, observe: dict[str, Any]
) -> None:
    found = findings(tmp_path, **observe)

    assert [(each.code, each.pointer) for each in found] == [(code, f"/spec/observe/{place}")]
    assert found[0].line > 0
    assert remedy in found[0].remedy


@pytest.mark.parametrize(
    ("unit", "to_unit", "option", "near"),
    [
        ("°X", "°C", "unit", ""),
        ("km", "Mile", "to_unit", ""),
        ("km", "°C", "as", "temperature"),
        ("KM", "m", "unit", "km"),
    ],
)
def test_unit_that_is_not_known_or_of_another_kind_is_refused(
    tmp_path: Path, unit: str, to_unit: str, option: str, near: str
) -> None:
    found = findings(tmp_path, **normalise({"field": "/eta", "as": "unit", "unit": unit, "to_unit": to_unit}))
    if not found and to_unit == "Mile":
        return  # words are read in any letter case
    assert [(each.code, each.pointer) for each in found] == [
        ("NORMALISE_OPTION", f"/spec/observe/normalise/0/{option}")
    ]
    assert near in found[0].cause


@pytest.mark.parametrize(
    "observe",
    [
        {"min_score": 0.6},
        {"redact": ["fax"]},
        {"redact": [{"pattern": "a"}]},
        {"projections": {"x": {"expose": ["/state"]}}},
        normalise({"field": "/eta", "as": "phone"}),
        normalise({"field": "eta"}),
    ],
)
def test_what_the_form_does_not_have_is_a_finding_of_the_form(tmp_path: Path, observe: dict[str, Any]) -> None:
    assert {each.code for each in findings(tmp_path, **observe)} == {"FORM"}
