"""Which redirects are followed, and what goes along."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest
from aiohttp import web

from taoloop.action import faulting
from taoloop.action.egress.rules import EgressRules
from taoloop.action.transports.egress_guard import Egress
from taoloop.core.faults import FaultCode
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import ApiKeyAuth, KeyPlace, Redirects
from taoloop.tools.signature import Effect
from tests.integration.action.http_calls import call, contract, fault_of, server, transport
from tests.integration.action.test_egress import Names
from tests.unit.action.contracts import telemetry

AUTH = ApiKeyAuth(location=KeyPlace.HEADER, name="X-Company-Key", secret="KEY")
SECRETS = {"KEY": "k3y"}


class Redirecting:
    """Answers `/to` by a redirect and everything else by what it got."""

    def __init__(self, location: str = "/end", status: int = 302) -> None:
        self.location = location
        self.status = status
        self.requests: list[tuple[str, str, str, str]] = []

    async def __call__(self, request: web.Request) -> web.Response:
        key = request.headers.get("X-Company-Key", "")
        self.requests.append((request.method, request.path, key, await request.text()))
        if request.path != "/end":
            return web.Response(status=self.status, headers={"Location": self.location})
        return web.json_response({"end": True})


async def test_no_redirect_is_followed_unless_the_contract_says_so() -> None:
    there = Redirecting()
    async with server(there) as url, transport(url) as under_test:
        assert (await under_test.attempt(call(contract("/to")))).status_code == 302
    assert len(there.requests) == 1


@pytest.mark.parametrize(("status", "method", "body"), [(302, "GET", ""), (307, "POST", '{"a":1}')])
async def test_a_redirect_to_the_same_origin_keeps_the_credentials(status: int, method: str, body: str) -> None:
    there = Redirecting(status=status)
    tool = contract("/to", "POST", auth=AUTH, redirects=Redirects.SAME_ORIGIN)
    async with server(there) as url, transport(url, SECRETS) as under_test:
        reply = await under_test.attempt(call(tool, a=1))
    assert reply.body == b'{"end": true}'
    assert there.requests[1] == (method, "/end", "k3y", body)


async def test_a_redirect_to_another_origin_is_refused() -> None:
    here = Redirecting()
    seen = telemetry()
    async with server(here) as other:
        there = Redirecting(f"{other}/end")
        tool = contract("/to", auth=AUTH, redirects=Redirects.SAME_ORIGIN)
        async with server(there) as url, transport(url, SECRETS, seen=seen) as under_test:
            fault = await fault_of(under_test, call(tool))
    assert fault.code == FaultCode.REDIRECT_FORBIDDEN
    assert fault.message == "A redirect was not followed: it leads to another origin."
    assert fault.may_have_left
    assert fault.received is not None
    assert fault.received.status_code == 302
    assert here.requests == []
    assert 'refused_total{reason="redirect_forbidden",tool="look_up"} 1.0' in seen.metrics.exposition()


@pytest.mark.parametrize("location", ["http://169.254.169.254/end", "http://127.0.0.1:{port}/end", "http://10.0.0.1/"])
async def test_a_redirect_never_reaches_private_space_even_where_the_base_is_private(location: str) -> None:
    here = Redirecting()
    async with server(here) as other:
        there = Redirecting(location.format(port=other.rpartition(":")[2]))
        tool = contract("/to", redirects=Redirects.ANY_ORIGIN)
        async with server(there) as url, transport(url) as under_test:
            fault = await fault_of(under_test, call(tool))
    assert fault.code == FaultCode.REDIRECT_FORBIDDEN
    assert "must not be called there" in fault.message
    assert here.requests == []


async def test_another_origin_gets_no_credentials_and_the_drop_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    here = Redirecting()
    async with server(here) as other:
        there = Redirecting(f"{other}/end")
        tool = contract("/to", auth=AUTH, redirects=Redirects.ANY_ORIGIN)
        egress = Egress(EgressRules.of(["127.0.0.0/8"]))
        async with server(there) as url, transport(url, SECRETS, egress=egress) as under_test:
            for _ in range(2):
                assert (await under_test.attempt(call(tool))).body == b'{"end": true}'
    assert here.requests == [("GET", "/end", "", "")] * 2
    record = next(record for record in caplog.records if record.message == "credentials_dropped")
    assert "X-Company-Key" in str(record.__dict__)
    assert "k3y" not in str(record.__dict__)


async def test_a_write_is_not_sent_to_another_origin() -> None:
    there = Redirecting("https://b.test/end", status=307)
    tool = contract("/to", "POST", redirects=Redirects.ANY_ORIGIN, effect=Effect.WRITE)
    async with server(there) as url, transport(url) as under_test:
        fault = await fault_of(under_test, call(tool))
    assert "a write to another origin" in fault.message


async def test_a_circle_ends() -> None:
    there = Redirecting("/round")
    tool = contract("/to", redirects=Redirects.SAME_ORIGIN)
    async with server(there) as url, transport(url) as under_test:
        fault = await fault_of(under_test, call(tool))
    assert fault.message == "A redirect was not followed: there were more than 5."
    assert len(there.requests) == 6


@pytest.mark.parametrize(
    ("redirect", "method", "status", "is_certain"),
    [
        (301, "POST", 403, False),
        (302, "POST", 404, False),
        (303, "POST", 404, False),
        (303, "POST", 409, False),  # which the contract's errors name
        (303, "PUT", 429, False),
        (307, "POST", 404, True),
        (308, "POST", 409, True),
    ],
)
async def test_a_refusal_behind_a_redirect_says_nothing_of_a_write_that_was_made_before_it(
    redirect: int, method: str, status: int, *, is_certain: bool
) -> None:
    async def handle(request: web.Request) -> web.Response:
        if request.path == "/end":
            return web.json_response({}, status=status)
        return web.Response(status=redirect, headers={"Location": "/end"})

    tool = contract("/to", method, redirects=Redirects.SAME_ORIGIN, effect=Effect.WRITE)
    async with server(handle) as url, transport(url) as under_test:
        reply = await under_test.attempt(call(tool, a=1))
    verdict = faulting.judge_reply(CompiledTool.compile(tool), reply, {}, datetime(2026, 3, 1, tzinfo=UTC))
    assert verdict is not None
    assert (reply.status_code, verdict.is_certain) == (status, is_certain)
    assert verdict.failure.is_declared is (status == 409)


async def test_a_broken_refusal_behind_a_redirect_says_no_more() -> None:
    async def handle(request: web.Request) -> web.Response:
        if request.path == "/end":
            return web.Response(status=404, body=b"no gzip", headers={"Content-Encoding": "gzip"})
        return web.Response(status=303, headers={"Location": "/end"})

    tool = contract("/to", "POST", redirects=Redirects.SAME_ORIGIN, effect=Effect.WRITE)
    async with server(handle) as url, transport(url) as under_test:
        fault = await fault_of(under_test, call(tool))
    assert fault.received is not None
    assert fault.received.status_code == 404
    assert not faulting.judge_absence(fault).is_certain


async def test_a_redirect_to_a_name_that_leads_to_private_space_comes_after_the_request() -> None:
    there, seen = Redirecting("http://cdn.example.com/end", status=303), telemetry()
    tool = contract("/to", "POST", redirects=Redirects.ANY_ORIGIN, effect=Effect.WRITE)
    egress = Egress(resolver=Names(("10.1.2.3",)))
    async with server(there) as url, transport(url, egress=egress, seen=seen) as under_test:
        fault = await fault_of(under_test, call(tool))
    assert (fault.code, fault.may_have_left) == (FaultCode.REDIRECT_FORBIDDEN, True)
    assert fault.message.startswith("A redirect was not followed: The tool must not be called there: 10.1.2.3")
    assert not faulting.judge_absence(fault).is_certain
    assert len(there.requests) == 1
    assert 'refused_total{reason="redirect_forbidden",tool="look_up"} 1.0' in seen.metrics.exposition()
