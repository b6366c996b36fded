"""What credentials are sent, and what becomes of them when they do not help."""

from __future__ import annotations

import asyncio
import base64
import json
import logging

import pytest
from aiohttp import web

from taoloop.core.faults import FaultCode
from taoloop.testing.clock import FakeClock
from taoloop.tools.contract import (
    ApiKeyAuth,
    Auth,
    BasicAuth,
    BearerAuth,
    Idempotency,
    KeyLocation,
    KeyPlace,
    OAuth2ClientCredentials,
    Redirects,
)
from taoloop.tools.signature import Effect
from tests.integration.action.http_calls import call, contract, fault_of, server, transport
from tests.unit.action.contracts import telemetry

OAUTH = OAuth2ClientCredentials(
    token_url="{{base.auth}}/token", client_id="me & co", secret="CLIENT_SECRET", scope="read"
)
LONG = 'l0ng"sécret/x+='
SECRETS = {"TOKEN": "t0ken", "PASSWORD": "pässword", "CLIENT_SECRET": "s3cret/+"}


class Company:
    """A tool and a token endpoint in one server."""

    def __init__(self) -> None:
        self.requests: list[web.Request] = []
        self.token_requests: list[tuple[str, str]] = []
        self.issued = 0
        self.accepts_from = 1
        self.token_answer: tuple[dict[str, str], int] | None = None
        self.token_delay = asyncio.Event()
        self.token_delay.set()

    async def __call__(self, request: web.Request) -> web.Response:
        if request.path == "/token":
            return await self.token(request)
        self.requests.append(request)
        wanted = [f"Bearer token-{number}" for number in range(self.accepts_from, self.issued + 1)]
        is_open = not request.path.startswith("/oauth") or request.headers.get("Authorization") in wanted
        return web.json_response({"ok": is_open}, status=200 if is_open else 401)

    async def token(self, request: web.Request) -> web.Response:
        self.token_requests.append((request.headers["Authorization"], await request.text()))
        await self.token_delay.wait()
        if self.token_answer is not None:
            body, status = self.token_answer
            return web.json_response(body, status=status)
        self.issued += 1
        return web.json_response({"access_token": f"token-{self.issued}", "token_type": "Bearer", "expires_in": 100})


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        (BearerAuth(secret="TOKEN"), "Authorization", "Bearer t0ken"),
        (
            BasicAuth(user="ana", secret="PASSWORD"),
            "Authorization",
            "Basic " + base64.b64encode("ana:pässword".encode()).decode(),
        ),
        (ApiKeyAuth(location=KeyPlace.HEADER, name="X-Api-Key", secret="TOKEN"), "X-Api-Key", "t0ken"),
    ],
)
async def test_a_secret_goes_into_its_header_and_replaces_what_the_contract_wrote(
    auth: Auth, header: str, value: str
) -> None:
    company = Company()
    async with server(company) as url, transport(url, SECRETS) as under_test:
        await under_test.attempt(call(contract(auth=auth, headers={header.lower(): "mine"})))
    assert company.requests[0].headers.getall(header) == [value]


async def test_a_key_goes_into_the_query_behind_the_arguments() -> None:
    company = Company()
    auth = ApiKeyAuth(location=KeyPlace.QUERY, name="key", secret="PASSWORD")
    async with server(company) as url, transport(url, SECRETS) as under_test:
        await under_test.attempt(call(contract(auth=auth), word="a b"))
    assert company.requests[0].raw_path == "/things?word=a%20b&key=p%C3%A4ssword"


@pytest.mark.parametrize(
    ("auth", "secrets", "code"),
    [
        (BearerAuth(secret="NONE"), {}, FaultCode.CREDENTIAL_MISSING),
        (BearerAuth(secret="BAD"), {"BAD": "a\r\nX-Evil: 1"}, FaultCode.CREDENTIAL_REFUSED),
        (BasicAuth(user="a:b", secret="TOKEN"), SECRETS, FaultCode.CREDENTIAL_REFUSED),
        (OAUTH, {}, FaultCode.CREDENTIAL_MISSING),
    ],
)
async def test_a_secret_that_cannot_be_sent_is_a_fault_before_the_call(
    auth: Auth, secrets: dict[str, str], code: str
) -> None:
    company = Company()
    async with server(company) as url, transport({"things": url, "auth": url}, secrets) as under_test:
        fault = await fault_of(under_test, call(contract(auth=auth)))
    assert (fault.code, fault.may_have_left) == (code, False)
    assert "X-Evil" not in fault.message
    assert company.requests == []


async def test_an_access_token_is_fetched_once_for_many_calls_and_again_shortly_before_its_end() -> None:
    company, clock = Company(), FakeClock()
    seen = telemetry()
    tool = contract("/oauth", auth=OAUTH)
    async with (
        server(company) as url,
        transport({"things": url, "auth": url}, SECRETS, clock=clock, seen=seen) as under_test,
    ):
        replies = await asyncio.gather(*(under_test.attempt(call(tool)) for _ in range(20)))
        assert {reply.status_code for reply in replies} == {200}
        assert len(company.token_requests) == 1
        clock.advance(81)
        await under_test.attempt(call(tool))
    client = base64.b64encode(b"me+%26+co:s3cret%2F%2B").decode()
    assert company.token_requests == [(f"Basic {client}", "grant_type=client_credentials&scope=read")] * 2
    assert 'taoloop_action_token_requests_total{outcome="fetched",tool="look_up"} 2.0' in seen.metrics.exposition()


@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
async def test_a_refused_access_token_is_renewed_once(effect: Effect) -> None:
    company = Company()
    company.accepts_from = 2
    tool = contract("/oauth", "POST", auth=OAUTH, effect=effect)
    async with server(company) as url, transport({"things": url, "auth": url}, SECRETS) as under_test:
        assert (await under_test.attempt(call(tool))).status_code == 200
        company.accepts_from = 99
        assert (await under_test.attempt(call(tool))).status_code == 401
    assert (len(company.requests), len(company.token_requests)) == (4, 3)


async def test_a_token_that_is_refused_behind_a_redirect_is_renewed_for_the_next_call_alone() -> None:
    company = Company()

    async def handle(request: web.Request) -> web.Response:
        if request.path != "/to":
            return await company(request)
        company.requests.append(request)
        return web.Response(status=303, headers={"Location": "/oauth"})

    company.accepts_from = 2
    tool = contract("/to", "POST", auth=OAUTH, redirects=Redirects.SAME_ORIGIN, effect=Effect.WRITE)
    async with server(handle) as url, transport({"things": url, "auth": url}, SECRETS) as under_test:
        assert (await under_test.attempt(call(tool))).status_code == 401
        assert [request.method for request in company.requests] == ["POST", "GET"]
        assert (await under_test.attempt(call(tool))).status_code == 200
    assert len(company.token_requests) == 2


async def test_the_same_token_again_is_not_sent_again() -> None:
    company = Company()
    company.token_answer = ({"access_token": "same"}, 200)
    tool = contract("/oauth", auth=OAUTH)
    async with server(company) as url, transport({"things": url, "auth": url}, SECRETS) as under_test:
        assert (await under_test.attempt(call(tool))).status_code == 401
    assert len(company.requests) == 1


async def test_a_refused_bearer_is_final() -> None:
    company = Company()
    tool = contract("/oauth", auth=BearerAuth(secret="TOKEN"))
    async with server(company) as url, transport(url, SECRETS) as under_test:
        assert (await under_test.attempt(call(tool))).status_code == 401
    assert len(company.requests) == 1


async def test_a_failing_token_endpoint_is_a_clear_fault_and_nothing_secret_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    company, seen = Company(), telemetry()
    company.token_answer = ({"error": "invalid_client"}, 401)
    async with server(company) as url, transport({"things": url, "auth": url}, SECRETS, seen=seen) as under_test:
        fault = await fault_of(under_test, call(contract("/oauth", auth=OAUTH)))
        assert repr(under_test) == "AiohttpTransport(pools=<ToolPools [look_up: 0 busy, 1 idle of 50]>)"
    assert fault.message == "The token endpoint gave no access token: it answered 401 (invalid_client)."
    assert (fault.code, fault.may_have_left) == (FaultCode.CREDENTIAL_REFUSED, False)
    assert 'taoloop_action_token_requests_total{outcome="failed",tool="look_up"} 1.0' in seen.metrics.exposition()
    assert not any(secret in caplog.text for secret in (*SECRETS.values(), "token-1", "s3cret"))


@pytest.mark.parametrize(
    ("base", "cause", "code"),
    [
        ("http://127.0.0.1:9", "no connection to the tool could be made", FaultCode.CREDENTIAL_REFUSED),
        ("http://169.254.169.254", "metadata", FaultCode.EGRESS_FORBIDDEN),
        (None, "there is no base URL auth", FaultCode.CREDENTIAL_REFUSED),
    ],
)
async def test_a_token_endpoint_out_of_reach_is_a_fault_without_a_call(base: str | None, cause: str, code: str) -> None:
    company = Company()
    async with (
        server(company) as url,
        transport({"things": url, **({"auth": base} if base else {})}, SECRETS) as under_test,
    ):
        fault = await fault_of(under_test, call(contract("/oauth", auth=OAUTH)))
    assert (fault.code, fault.may_have_left) == (code, False)
    assert cause in fault.message
    assert company.requests == []


async def test_a_hanging_token_endpoint_ends_with_the_attempt_and_the_tool_was_not_called() -> None:
    company = Company()
    company.token_delay.clear()
    async with server(company) as url, transport({"things": url, "auth": url}, SECRETS) as under_test:
        fault = await fault_of(under_test, call(contract("/oauth", auth=OAUTH), seconds=0.1))
        company.token_delay.set()
    assert (fault.code, fault.may_have_left, company.requests) == (FaultCode.TOOL_TIMEOUT, False, [])


async def test_the_idempotency_key_is_sent_where_the_contract_says_and_only_then() -> None:
    company = Company()
    place = Idempotency(location=KeyLocation.HEADER, name="Idempotency-Key")
    tool = contract(method="POST", policies={"idempotency": place})
    async with server(company) as url, transport(url) as under_test:
        await under_test.attempt(call(tool, idempotency_key="k1"))
        await under_test.attempt(call(contract(method="POST"), idempotency_key="k1"))
    assert [request.headers.get("Idempotency-Key") for request in company.requests] == ["k1", None]


@pytest.mark.parametrize("status", [200, 401, 500])
@pytest.mark.parametrize(
    "auth",
    [
        BearerAuth(secret="LONG"),
        BasicAuth(user="ana", secret="LONG"),
        ApiKeyAuth(location=KeyPlace.HEADER, name="X-Api-Key", secret="LONG"),
        ApiKeyAuth(location=KeyPlace.QUERY, name="key", secret="LONG"),
        OAuth2ClientCredentials(token_url="{{base.auth}}/token", client_id="me", secret="LONG"),
    ],
)
async def test_a_credential_that_a_tool_sends_back_is_masked(auth: Auth, status: int) -> None:
    told: list[str] = []

    async def echo(request: web.Request) -> web.Response:
        if request.path == "/token":
            return web.json_response({"access_token": 'long"er+token', "token_type": "Bearer"})
        sent = request.headers.get("Authorization") or request.headers.get("X-Api-Key") or request.query["key"]
        told.append(sent)
        seen = {"n": 1, "headers": dict(request.headers), "url": str(request.rel_url), "said": sent, "bare": LONG}
        return web.json_response(seen, status=status)

    async with server(echo) as url, transport({"things": url, "auth": url}, {"LONG": LONG}) as under_test:
        reply = await under_test.attempt(call(contract(auth=auth)))

    assert reply.has_masked
    body = json.loads(reply.body)
    assert (body["n"], body["said"].rpartition(" ")[2]) == (1, "***")
    for text in told:
        assert text.rpartition(" ")[2] not in reply.body.decode()
    assert isinstance(auth, OAuth2ClientCredentials) or body["bare"] == "***"


async def test_a_credential_in_an_answer_that_breaks_off_is_masked() -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(request.headers["Authorization"].encode())
        assert request.transport is not None
        request.transport.close()
        return response

    async with server(echo) as url, transport(url, {"LONG": LONG}) as under_test:
        fault = await fault_of(under_test, call(contract(auth=BearerAuth(secret="LONG"))))

    assert fault.received is not None
    assert fault.received.body == b"Bearer ***"


async def test_an_answer_without_the_credential_or_with_a_short_one_is_left_as_it_is() -> None:
    async def echo(request: web.Request) -> web.Response:
        return web.Response(text="t0ken and words")

    secrets = {"LONG": LONG, "SHORT": "t0ken"}
    async with server(echo) as url, transport(url, secrets) as under_test:
        for name in secrets:
            reply = await under_test.attempt(call(contract(auth=BearerAuth(secret=name))))
            assert (reply.body, reply.has_masked) == (b"t0ken and words", False)
