"""Rules of requests and parameters made from an operation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.tools.importing.openapi.documents import NEW_STYLE, OLD_STYLE, codes, draft, operation


def query(schema: Any, **more: Any) -> dict[str, Any]:
    """Return an operation with one query parameter."""
    return {"parameters": [{"name": "q", "in": "query", "schema": schema, **more}]}


def body(media: str, schema: Any, *, is_required: bool = True, **more: Any) -> dict[str, Any]:
    """Return an operation with a body."""
    return {"requestBody": {"required": is_required, "content": {media: {"schema": schema, **more}}}}


def test_parameters_come_from_path_query_header_and_body() -> None:
    spec = draft(OLD_STYLE, "getBookByID").document["spec"]
    assert spec["transport"]["http"] == {
        "method": "GET",
        "url": "{{base.book_shop}}/books/{book_id}",
        "query": {"expand": "{expand}"},
        "headers": {"X-Shop-Language": "{x_shop_language}"},
        "auth": {"api_key": {"in": "header", "name": "X-Api-Key", "secret": "BOOK_SHOP_KEY"}},
    }
    assert spec["parameters"]["required"] == ["book_id"]
    assert spec["parameters"]["additionalProperties"] is False


def test_every_parameter_has_a_description() -> None:
    parameters = draft(OLD_STYLE, "getBookByID").document["spec"]["parameters"]
    assert all(each["description"] for each in parameters["properties"].values())


def test_the_properties_of_a_json_body_become_parameters_with_names_of_their_own() -> None:
    schema = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "string"}, "itemNo": {"type": "integer"}},
    }
    content = {"parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]}
    made = operation({**content, **body("application/json", schema)}, path="/x/{id}")
    http = made.document["spec"]["transport"]["http"]
    assert http["url"] == "{{base.x}}/x/{id}"
    assert http["json"] == {"id": "{id_2}", "itemNo": "{item_no}"}
    assert made.document["spec"]["parameters"]["required"] == ["id", "id_2"]


def test_a_body_joined_of_objects_is_flat_and_another_is_one_parameter() -> None:
    joined = {
        "allOf": [
            {"type": "object", "properties": {"a": {}}},
            {"type": "object", "properties": {"b": {}}, "required": ["b"]},
        ]
    }
    assert operation(body("application/json", joined)).document["spec"]["transport"]["http"]["json"] == {
        "a": "{a}",
        "b": "{b}",
    }
    made = operation(body("application/json", {"type": "array", "items": {"type": "string"}}))
    assert made.document["spec"]["transport"]["http"]["json"] == "{body}"
    assert made.document["spec"]["parameters"]["required"] == ["body"]


def test_a_kind_of_json_keeps_its_media_type() -> None:
    made = operation(body("application/merge-patch+json", {"type": "object", "properties": {"a": {}}}))
    assert made.document["spec"]["transport"]["http"]["headers"] == {"Content-Type": "application/merge-patch+json"}


def test_a_form_carries_scalars_and_lists_and_tells_what_it_does_not() -> None:
    made = draft(OLD_STYLE, "placeOrder")
    assert made.document["spec"]["transport"]["http"]["form"] == {"book": "{book}", "copies": "{copies}"}
    assert made.document["spec"]["parameters"]["properties"]["copies"]["exclusiveMinimum"] == 0
    assert "FORM_FIELD" in codes(made)


def test_files_of_a_multipart_body_are_base64() -> None:
    schema = {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary"}, "note": {"type": "string"}},
    }
    parts = operation(body("multipart/form-data", schema)).document["spec"]["transport"]["http"]["multipart"]
    assert parts["note"] == "{note}"
    assert parts["file"] == {
        "content": "{file}",
        "file_name": "file",
        "content_type": "application/octet-stream",
        "encoding": "base64",
    }


def test_a_text_body_is_one_parameter() -> None:
    made = operation(body("text/plain", {"type": "string"}))
    assert made.document["spec"]["transport"]["http"]["text"] == "{body}"


@pytest.mark.parametrize(("is_required", "level"), [(True, "error"), (False, "warning")])
def test_a_body_that_cannot_be_sent_is_an_error_only_if_it_must_be(is_required: bool, level: str) -> None:
    made = operation(body("application/octet-stream", {}, is_required=is_required))
    assert [(each.code, each.level) for each in made.findings if each.code == "BODY"] == [("BODY", level)]


def test_a_list_that_travels_as_one_text_is_a_text() -> None:
    via = draft(NEW_STYLE, "get-trips").document["spec"]["parameters"]["properties"]["via"]
    assert via == {"type": "string", "description": "values of a, b joined by ','"}


@pytest.mark.parametrize(
    "content",
    [
        query({"type": "object"}, style="deepObject"),
        query({"type": "object"}),
        {"parameters": [{"name": "q", "in": "query", "content": {"application/json": {}}}]},
        {"parameters": [{"name": "q", "in": "cookie", "schema": {"type": "string"}}]},
        {"parameters": [{"name": "q q", "in": "header", "schema": {"type": "string"}}]},
    ],
)
def test_a_parameter_that_cannot_be_sent_is_left_out_or_an_error(content: dict[str, Any]) -> None:
    made = operation(content, method="get")
    assert [(each.code, each.level) for each in made.findings if each.code == "PARAMETER"] == [("PARAMETER", "warning")]
    assert made.document["spec"]["parameters"]["properties"] == {}
    needed = {"parameters": [{**content["parameters"][0], "required": True}]}
    made = operation(needed, method="get")
    assert [each.level for each in made.findings if each.code == "PARAMETER"] == ["error"]


def test_a_path_parameter_that_nobody_declared_is_a_text() -> None:
    made = operation({}, method="get", path="/x/{some-id}.json")
    assert made.document["spec"]["transport"]["http"]["url"] == "{{base.x}}/x/{some_id}.json"
    assert made.document["spec"]["parameters"]["required"] == ["some_id"]
    assert "PATH_PARAMETER" in codes(made)


def test_an_operation_replaces_a_parameter_of_its_path() -> None:
    content = {"parameters": [{"name": "bookId", "in": "path", "required": True, "schema": {"type": "string"}}]}
    value = {
        **OLD_STYLE,
        "paths": {
            "/b/{bookId}": {
                "parameters": [{"$ref": "#/components/parameters/BookId"}],
                "get": {"operationId": "x", **content},
            }
        },
    }
    assert draft(value, "x").document["spec"]["parameters"]["properties"]["book_id"]["type"] == "string"
