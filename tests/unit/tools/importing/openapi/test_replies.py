"""Rules of the response schema and the known errors."""

from __future__ import annotations

from typing import Any

from tests.unit.tools.importing.openapi.documents import NEW_STYLE, NEWEST_STYLE, OLD_STYLE, codes, draft, operation


def test_the_first_success_with_json_is_the_response() -> None:
    spec = draft(OLD_STYLE, "getBookByID").document["spec"]
    assert spec["response"]["required"] == ["id", "title"]
    assert draft(NEW_STYLE, "get-trips").document["spec"]["response"]["items"] == {
        "type": ["object", "null"],
        "description": "A trip.",
    }


def test_a_success_without_a_body_is_no_failure() -> None:
    spec = draft(OLD_STYLE, "replaceBook").document["spec"]
    assert (spec["response"], spec["empty"]) == (True, "accept")


def test_a_body_that_is_no_json_is_told() -> None:
    made = draft(NEWEST_STYLE, "findDocuments")
    assert made.document["spec"]["response"] is True
    assert "RESPONSE" in codes(made)


def test_refusals_become_known_errors_with_what_is_said_of_them() -> None:
    assert draft(OLD_STYLE, "getBookByID").document["spec"]["errors"] == [
        {
            "when": {"===": [{"var": "status_code"}, 404]},
            "code": "NOT_FOUND",
            "retriable": False,
            "suggestion": "No such book.",
        }
    ]


def test_statuses_after_which_a_write_may_have_happened_are_left_to_the_executor() -> None:
    responses: dict[str, Any] = {
        status: {"description": "x"} for status in ("200", "401", "408", "429", "500", "503", "default")
    }
    assert "errors" not in operation({"responses": responses}).document["spec"]
