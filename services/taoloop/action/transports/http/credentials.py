"""Credentials put into a request: by the names of secrets, for the tool's own origin alone."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote_plus, urlencode

from taoloop.action.ports import SecretSource, TransportFault
from taoloop.action.transports.http.access_tokens import AccessToken, AccessTokens, TokenKey
from taoloop.action.transports.http.secret_texts import header_secret
from taoloop.action.transports.http_request import HttpRequest, RequestRefused, url_with_base, with_query
from taoloop.action.transports.secret_echoes import secrets_of
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import ApiKeyAuth, Auth, BasicAuth, BearerAuth, KeyPlace, OAuth2ClientCredentials

TokenFetch = Callable[[HttpRequest], Awaitable[AccessToken]]
"""Sends a request to a token endpoint and reads the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorisation:
    """What a request carries so that the tool lets it in.

    Attributes:
        headers: Put over those of the request.
        query: Put behind the query of the URL.
        token_key: Whose access token it is; None when it is none, so that a 401 is final.
        token: The access token; empty for none.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    token_key: TokenKey | None = None
    token: str = field(default="", repr=False)

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """What must not be told when the tool sends it back."""
        return secrets_of(*self.headers.values(), *(value for _, value in self.query))

    def applied(self, request: HttpRequest) -> HttpRequest:
        """Return the request with the credentials; they replace headers of the same name."""
        if not self.headers and not self.query:
            return request
        names = {name.lower() for name in self.headers}
        kept = {name: value for name, value in request.headers.items() if name.lower() not in names}
        return replace(request, url=with_query(request.url, list(self.query)), headers={**kept, **self.headers})


class Credentials:
    """Turns the `auth` of a contract into what is sent.

    Args:
        secrets: Where the secrets come from.
        bases: Name → base URL, for token endpoints.
        tokens: Keeps access tokens.
    """

    def __init__(self, secrets: SecretSource, bases: Mapping[str, str], tokens: AccessTokens) -> None:
        self._secrets = secrets
        self._bases = bases
        self._tokens = tokens

    async def authorise(self, tool: str, auth: Auth | None, fetch: TokenFetch) -> Authorisation:
        """Return what the request carries.

        Args:
            tool: Whose contract.
            auth: Its credentials; a client certificate is part of the connection and adds nothing here.
            fetch: Asks the token endpoint when there is no fresh token.

        Raises:
            TransportFault: CREDENTIAL_MISSING or CREDENTIAL_REFUSED.
        """
        match auth:
            case BearerAuth():
                return _bearer(await header_secret(self._secrets, auth.secret))
            case BasicAuth():
                return Authorisation(headers={"Authorization": await self._basic(auth.user, auth.secret)})
            case ApiKeyAuth():
                key = await header_secret(self._secrets, auth.secret)
                if auth.location is KeyPlace.QUERY:
                    return Authorisation(query=((auth.name, key),))
                return Authorisation(headers={auth.name: key})
            case OAuth2ClientCredentials():
                return await self._oauth2(tool, auth, fetch)
            case _:
                return Authorisation()

    def forget(self, refused: Authorisation) -> bool:
        """Drop an access token that the tool refused.

        Returns:
            Whether there was one, so that a new one may help.
        """
        if refused.token_key is None:
            return False
        self._tokens.forget(refused.token_key, refused.token)
        return True

    async def _oauth2(self, tool: str, auth: OAuth2ClientCredentials, fetch: TokenFetch) -> Authorisation:
        key = (tool, auth.token_url, auth.client_id, auth.scope)

        async def fetched() -> AccessToken:
            return await fetch(await self._token_request(auth))

        token = await self._tokens.token(key, fetched)
        return replace(_bearer(token), token_key=key, token=token)

    async def _token_request(self, auth: OAuth2ClientCredentials) -> HttpRequest:
        """Return the request for a token.

        Source: RFC 6749, 4.4.2 and 2.3.1: the client's name and secret are form-encoded before they are joined.
        """
        try:
            url = url_with_base(auth.token_url, self._bases)
        except RequestRefused as exc:
            message = f"The token endpoint cannot be called: {exc.message}."
            raise TransportFault(FaultCode.CREDENTIAL_REFUSED, message, may_have_left=False) from exc
        secret = await header_secret(self._secrets, auth.secret)
        fields = {"grant_type": "client_credentials"} | ({"scope": auth.scope} if auth.scope else {})
        return HttpRequest(
            method="POST",
            url=url,
            headers={
                "Authorization": _basic_header(quote_plus(auth.client_id), quote_plus(secret)),
                "Accept": "application/json",
                "Content-Type": "application/x-www-form-urlencoded",
            },
            body=urlencode(fields).encode(),
        )

    async def _basic(self, user: str, secret: str) -> str:
        if ":" in user:
            message = "A user name with a colon has no basic authentication."
            raise TransportFault(FaultCode.CREDENTIAL_REFUSED, message, may_have_left=False)
        return _basic_header(user, await header_secret(self._secrets, secret))


def _bearer(token: str) -> Authorisation:
    return Authorisation(headers={"Authorization": f"Bearer {token}"})


def _basic_header(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"
