"""From the security of an OpenAPI operation to credentials by the names of secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from taoloop.core import pointers
from taoloop.tools.importing.findings import Decision, Notes
from taoloop.tools.importing.naming import upper_snake
from taoloop.tools.importing.openapi.document import OpenApiDocument, Operation, as_list, as_object, as_text
from taoloop.tools.importing.openapi.servers import BaseBook

_AUTH = "/spec/transport/http/auth"


class CredentialReader:
    """Reads what an operation asks of its caller.

    Args:
        document: The whole.
        book: Takes the bases of token servers.
        notes: Takes the findings.

    Attributes:
        decisions: What a person must fill in.
    """

    def __init__(self, document: OpenApiDocument, book: BaseBook, notes: Notes) -> None:
        self.decisions: list[Decision] = []
        self._document, self._book, self._notes = document, book, notes

    def read(self, operation: Operation, base: str) -> dict[str, Any]:
        """Return `auth` for `transport.http`; empty when none is asked for."""
        written = operation.content.get("security", self._document.value.get("security"))
        ways = [as_object(each) for each in as_list(written)]
        if not ways or ways == [{}]:
            return {}
        for way in sorted(filter(None, ways), key=len):
            auth = self._of_way(way, base, operation)
            if auth is not None:
                return {"auth": auth}
        names = " or ".join("+".join(way) for way in ways if way)
        if {} not in ways:
            cause = f"the credentials {names!r} cannot be sent"
            self._notes.block("CREDENTIALS", operation.pointer, cause, "Write transport.http.auth by hand.")
        return {}

    def _of_way(self, way: Mapping[str, Any], base: str, operation: Operation) -> dict[str, Any] | None:
        schemes = as_object(as_object(self._document.value.get("components")).get("securitySchemes"))
        found = [(name, as_object(self._document.resolved(schemes.get(name))[0])) for name in way]
        carried = [(name, auth) for name, scheme in found if (auth := self._auth(name, scheme, way, base)) is not None]
        if not carried:
            return None
        for name in [name for name in way if name != carried[0][0]]:
            cause = f"the operation asks for {name!r} beside {carried[0][0]!r}, and a tool has one kind of credentials"
            self._notes.block("CREDENTIALS", operation.pointer, cause, "Ask the server's owner for one that suffices.")
        return carried[0][1]

    def _auth(self, name: str, scheme: Mapping[str, Any], way: Mapping[str, Any], base: str) -> dict[str, Any] | None:
        secret = upper_snake(base, name)
        kind = (as_text(scheme.get("type")), as_text(scheme.get("scheme")).lower())
        match kind:
            case ("http", "bearer") | ("openIdConnect", _):
                return {"bearer": {"secret": secret}}
            case ("http", "basic"):
                self._decide("/basic/user", "unknown", "The user's name; the password is the secret.")
                return {"basic": {"user": "unknown", "secret": secret}}
            case ("apiKey", _) if scheme.get("in") in ("header", "query"):
                return {"api_key": {"in": scheme["in"], "name": str(scheme.get("name", "")), "secret": secret}}
            case ("oauth2", _):
                return self._oauth2(name, scheme, way, secret)
            case ("mutualTLS", _):
                parts = {part: {"secret": f"{secret}_{part.upper()}"} for part in ("certificate", "key")}
                return {"mutual_tls": parts}
            case _:
                return None

    def _oauth2(self, name: str, scheme: Mapping[str, Any], way: Mapping[str, Any], secret: str) -> dict[str, Any]:
        flow = as_object(as_object(scheme.get("flows")).get("clientCredentials"))
        if not isinstance(flow.get("tokenUrl"), str):
            place = pointers.join("components", "securitySchemes", name)
            cause = f"{name!r} asks for a person's consent ({', '.join(_flows(scheme)) or 'no flow'})"
            self._notes.warn("CREDENTIALS", place, cause, "A token must be made elsewhere and given as the secret.")
            return {"bearer": {"secret": secret}}
        base, path = self._book.of_url(flow["tokenUrl"], "login")
        self._decide("/oauth2/client_id", "unknown", "The client's name; its secret is the secret.")
        scopes = " ".join(str(scope) for scope in as_list(way.get(name)))
        written = {"token_url": f"{{{{base.{base}}}}}{path}", "client_id": "unknown", "secret": secret}
        return {"oauth2": {**written, **({"scope": scopes} if scopes else {})}}

    def _decide(self, field: str, guess: str, why: str) -> None:
        self.decisions.append(Decision(_AUTH + field, guess, why))


def _flows(scheme: Mapping[str, Any]) -> Iterator[str]:
    yield from as_object(scheme.get("flows"))
