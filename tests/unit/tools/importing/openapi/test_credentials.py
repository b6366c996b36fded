"""Rules of credentials: always names of secrets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.tools.importing.openapi.documents import codes, operation

FLOW = {"clientCredentials": {"tokenUrl": "https://login.example/token", "scopes": {}}}


def made(security: Any, **schemes: Any) -> Any:
    """Import an operation with these schemes."""
    return operation({"security": security, "components": {"securitySchemes": schemes}})


@pytest.mark.parametrize(
    ("scheme", "auth"),
    [
        ({"type": "http", "scheme": "Bearer"}, {"bearer": {"secret": "X_S"}}),
        ({"type": "openIdConnect"}, {"bearer": {"secret": "X_S"}}),
        ({"type": "http", "scheme": "basic"}, {"basic": {"user": "unknown", "secret": "X_S"}}),
        ({"type": "apiKey", "in": "query", "name": "k"}, {"api_key": {"in": "query", "name": "k", "secret": "X_S"}}),
        (
            {"type": "oauth2", "flows": FLOW},
            {
                "oauth2": {
                    "token_url": "{{base.x_login}}/token",
                    "client_id": "unknown",
                    "secret": "X_S",
                    "scope": "a b",
                }
            },
        ),
        ({"type": "oauth2", "flows": {"implicit": {}}}, {"bearer": {"secret": "X_S"}}),
        (
            {"type": "mutualTLS"},
            {"mutual_tls": {"certificate": {"secret": "X_S_CERTIFICATE"}, "key": {"secret": "X_S_KEY"}}},
        ),
    ],
)
def test_each_scheme_refers_to_secrets_by_name(scheme: Any, auth: Any) -> None:
    assert made([{"s": ["a", "b"]}], s=scheme).document["spec"]["transport"]["http"]["auth"] == auth


@pytest.mark.parametrize("security", [[], [{}], None])
def test_an_operation_that_asks_for_nothing_sends_nothing(security: Any) -> None:
    assert "auth" not in made(security, s={"type": "http", "scheme": "bearer"}).document["spec"]["transport"]["http"]


def test_credentials_that_cannot_be_sent_are_an_error() -> None:
    assert codes(made([{"s": []}], s={"type": "apiKey", "in": "cookie", "name": "k"})).count("CREDENTIALS") == 1


def test_a_second_kind_of_credentials_is_an_error() -> None:
    draft = made(
        [{"s": [], "t": []}], s={"type": "http", "scheme": "bearer"}, t={"type": "apiKey", "in": "header", "name": "k"}
    )
    assert [each.level for each in draft.findings if each.code == "CREDENTIALS"] == ["error"]


def test_what_the_document_does_not_tell_of_the_caller_is_left_to_a_person() -> None:
    draft = made([{"s": []}], s={"type": "http", "scheme": "basic"})
    assert "/spec/transport/http/auth/basic/user" in [each.field for each in draft.decisions]
