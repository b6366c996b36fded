"""Rules of bases made from servers."""

from __future__ import annotations

import pytest

from taoloop.tools.importing.openapi import draft_openapi
from tests.unit.tools.importing.openapi.documents import NEWEST_STYLE, OLD_STYLE, document, draft, report


def test_the_first_server_is_the_base_with_its_variables_at_their_defaults() -> None:
    assert report(OLD_STYLE, "getBookByID").bases == {"book_shop": "https://eu.shop.example/api"}


def test_an_address_that_the_document_does_not_tell_is_an_error() -> None:
    made = report(NEWEST_STYLE, "findDocuments")
    assert made.bases == {"search": "https://unknown.invalid/v1"}
    assert [finding.code for finding in made.findings] == ["BASE"]


def test_the_user_tells_name_and_address_of_the_base() -> None:
    made = draft_openapi(document(NEWEST_STYLE), ["findDocuments"], base=("docs", "https://docs.internal/v1/"))
    assert made.bases == {"docs": "https://docs.internal/v1"}
    assert made.findings == ()


def test_an_operation_with_a_server_of_its_own_has_a_base_of_its_own() -> None:
    paths = {
        "/a": {"get": {"operationId": "a"}},
        "/b": {"servers": [{"url": "https://b.example"}], "get": {"operationId": "b"}},
    }
    made = draft_openapi(document(OLD_STYLE, paths=paths), ["*"])
    assert made.bases == {"book_shop": "https://eu.shop.example/api", "book_shop_2": "https://b.example"}


@pytest.mark.parametrize(("url", "reach"), [("https://shop.example", "outward"), ("http://shop.svc", "internal")])
def test_the_reach_is_guessed_from_the_address(url: str, reach: str) -> None:
    value = {**OLD_STYLE, "servers": [{"url": url}]}
    assert draft(value, "getBookByID").document["spec"]["reach"] == reach
