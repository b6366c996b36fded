"""Rules of contracts made of Python functions."""

from __future__ import annotations

import pytest

from taoloop.tools.importing.checking import check_draft
from taoloop.tools.importing.findings import ImportRefused
from taoloop.tools.importing.python_functions import draft_function

MODULE = "tests.unit.tools.importing.functions"


def test_a_marked_function_becomes_a_contract_with_its_constraints() -> None:
    made = draft_function(f"{MODULE}:find_book")
    spec = made.document["spec"]
    assert made.name == "find_book"
    assert spec["parameters"] == {
        "type": "object",
        "required": ["title"],
        "additionalProperties": False,
        "properties": {
            "title": {"type": "string", "minLength": 2, "description": "Title of the book."},
            "language": {"type": "string", "enum": ["en", "zh"], "default": "en", "description": "Of the book."},
        },
    }
    assert (spec["description"], spec["use_when"], spec["avoid_when"]) == (
        "A book by its title.",
        "the user asks for a book",
        "films",
    )
    assert (spec["effect"], spec["reach"], spec["trust"], spec["timeout"]) == ("read", "internal", "trusted", "2s")
    assert spec["transport"] == {"python": {"entry_point": f"{MODULE}:find_book"}}


def test_a_marked_function_leaves_little_to_a_person() -> None:
    assert [each.field for each in draft_function(f"{MODULE}:find_book").decisions] == ["/spec/fallback"]


def test_the_response_is_the_return_annotation_and_a_model_in_itself_is_cut() -> None:
    made = draft_function(f"{MODULE}:find_book")
    response = made.document["spec"]["response"]
    assert list(response["properties"]) == ["title", "price", "sequel"]
    assert response["properties"]["price"] == {"type": "number"}  # as the worker sends a Decimal
    assert [each.code for each in made.findings] == ["SCHEMA_RECURSION"]


def test_a_function_that_is_not_marked_is_a_write_that_a_person_decides_about() -> None:
    made = draft_function(f"{MODULE}:place_order")
    spec = made.document["spec"]
    assert spec["effect"] == "write"
    assert {"/spec/effect", "/spec/reach", "/spec/use_when"} <= {each.field for each in made.decisions}
    assert (spec["response"], spec["empty"]) == (True, "accept")
    order = spec["parameters"]["properties"]["order"]
    assert order["properties"]["code"]["pattern"] == "^[A-Z]{2}-[A-Za-z]+$"
    assert (order["properties"]["copies"]["minimum"], order["properties"]["copies"]["maximum"]) == (1, 9)
    assert spec["parameters"]["properties"]["due"]["format"] == "date"


@pytest.mark.parametrize("name", ["find_book", "place_order", "bare"])
def test_every_contract_of_a_function_loads(name: str) -> None:
    assert check_draft(draft_function(f"{MODULE}:{name}"), []).blocks == ()


def test_what_is_not_annotated_is_told() -> None:
    made = draft_function(f"{MODULE}:bare")
    assert [each.code for each in made.findings] == ["DESCRIPTION", "ANNOTATION", "ANNOTATION", "RESPONSE"]
    assert "default" not in made.document["spec"]["parameters"]["properties"]["b"]


@pytest.mark.parametrize(
    ("entry_point", "part"),
    [
        ("no.such.module:f", "cannot be imported"),
        (f"{MODULE}:nothing", "no such function"),
        (f"{MODULE}", "no such function"),
        (f"{MODULE}:NUMBER", "it is a int"),
        (f"{MODULE}:greedy", "takes no keyword"),
        (f"{MODULE}:odd", "has no JSON Schema"),
    ],
)
def test_what_is_no_tool_is_refused_with_its_cause(entry_point: str, part: str) -> None:
    with pytest.raises(ImportRefused, match=part):
        draft_function(entry_point)
