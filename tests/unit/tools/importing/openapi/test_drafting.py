"""Rules of contracts drafted from whole operations."""

from __future__ import annotations

import pytest

from taoloop.tools.importing.checking import check_draft
from taoloop.tools.importing.findings import ImportRefused
from taoloop.tools.importing.openapi import draft_openapi
from tests.unit.tools.importing.openapi.documents import (
    NEW_STYLE,
    NEWEST_STYLE,
    OLD_STYLE,
    codes,
    document,
    draft,
    report,
)


@pytest.mark.parametrize("style", [OLD_STYLE, NEW_STYLE, NEWEST_STYLE], ids=["3.0", "3.1", "3.2"])
def test_every_drafted_contract_loads(style: dict[str, object]) -> None:
    made = report(style, "*")
    assert made.drafts
    for each in made.drafts:
        assert [
            str(finding) for finding in check_draft(each, made.bases).blocks if finding.code != "NOT_YET_SUPPORTED"
        ] == []


@pytest.mark.parametrize(
    ("style", "include", "effect"),
    [
        (OLD_STYLE, "getBookByID", "read"),
        (OLD_STYLE, "replaceBook", "idempotent_write"),
        (OLD_STYLE, "placeOrder", "write"),
        (NEWEST_STYLE, "findDocuments", "read"),
    ],
)
def test_the_effect_is_guessed_from_the_method_and_left_to_a_person(
    style: dict[str, object], include: str, effect: str
) -> None:
    made = draft(style, include)
    assert made.document["spec"]["effect"] == effect
    (decision,) = [each for each in made.decisions if each.field == "/spec/effect"]
    assert decision.guess == effect
    assert "guessed from the method" in decision.why


def test_a_person_decides_what_no_document_knows() -> None:
    written = {each.field for each in draft(OLD_STYLE, "placeOrder").decisions}
    assert written >= {f"/spec/{name}" for name in ("use_when", "timeout", "idempotency", "reconcile", "approval")}
    assert "/spec/fallback" in {each.field for each in draft(OLD_STYLE, "getBookByID").decisions}


def test_decisions_and_findings_stand_as_comments_in_the_file() -> None:
    text = check_draft(draft(OLD_STYLE, "getBookByID"), ["book_shop"]).text
    assert "#   effect = read: What a call changes; guessed from the method GET." in text
    assert "#   use_when: " in text
    assert "[SCHEMA_RECURSION]" in text


def test_a_long_summary_is_cut_and_told() -> None:
    made = draft(OLD_STYLE, "placeOrder")
    assert len(made.document["spec"]["description"]) <= 100
    assert made.document["spec"]["description"].endswith("…")
    assert "DESCRIPTION" in codes(made)


def test_an_idempotency_header_becomes_the_place_of_the_key_and_no_parameter() -> None:
    spec = draft(OLD_STYLE, "placeOrder").document["spec"]
    assert spec["idempotency"] == {"in": "header", "name": "Idempotency-Key"}
    assert "idempotency_key" not in spec["parameters"]["properties"]


def test_the_contract_remembers_where_it_stood_and_a_change_there_changes_its_digest() -> None:
    labels = draft(OLD_STYLE, "getBookByID").document["metadata"]["labels"]
    assert labels["imported_from"] == "doc.json#/paths/~1books~1{bookId}/get"
    changed = document(OLD_STYLE)
    changed.value["components"]["schemas"]["Book"]["properties"]["pages"] = {"type": "integer"}
    (other,) = draft_openapi(changed, ["getBookByID"]).drafts
    assert other.document["metadata"]["labels"]["imported_digest"] != labels["imported_digest"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("getBook*", ["get_book_by_id"]),
        ("tag:books", ["get_book_by_id"]),
        ("* /books/*", ["get_book_by_id", "replace_book"]),
        ("*", ["get_book_by_id", "replace_book", "place_order"]),
    ],
)
def test_operations_are_chosen_by_id_tag_or_path(pattern: str, names: list[str]) -> None:
    assert [each.name for each in report(OLD_STYLE, pattern).drafts] == names


def test_a_pattern_that_names_nothing_is_refused() -> None:
    with pytest.raises(ImportRefused, match="no operation is called 'nothing'"):
        report(OLD_STYLE, "getBookByID", "nothing")


def test_more_operations_than_the_cap_are_refused_not_cut() -> None:
    with pytest.raises(ImportRefused, match="3 operations are chosen, more than 2"):
        draft_openapi(document(OLD_STYLE), ["*"], max_tools=2)


def test_a_method_that_cannot_be_sent_is_left_out_and_told() -> None:
    made = report(NEWEST_STYLE, "*")
    assert [each.name for each in made.drafts] == ["find_documents"]
    assert "METHOD" in [finding.code for finding in made.findings]


def test_names_that_meet_get_numbers() -> None:
    paths = {"/a": {"get": {"operationId": "a-b"}, "post": {"operationId": "aB"}}}
    assert [each.name for each in draft_openapi(document(OLD_STYLE, paths=paths), ["*"]).drafts] == ["a_b", "a_b_2"]
