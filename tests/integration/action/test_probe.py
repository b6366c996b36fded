"""What a probe sees of a server, and what it advises."""

from __future__ import annotations

import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trustme
from aiohttp import web
from pydantic import SecretStr

from taoloop.action.probe import Endpoint, ProbeReport, _tls_of, probe_tool
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.egress_guard import Egress
from taoloop.core.clock import SystemClock
from taoloop.core.errors import InvalidRequest
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import MutualTls, Pool, ToolContract
from taoloop.tools.signature import Effect
from tests.integration.action.http_calls import contract, server, transport
from tests.integration.action.raw_server import Behaviour, answer, raw_server, says, says_and_closes


async def probed(base: str, tool: ToolContract, secrets: dict[str, str] | None = None, **options: Any) -> ProbeReport:
    endpoint = Endpoint(
        bases={"things": base},
        secrets=ConfiguredSecrets({name: SecretStr(text) for name, text in (secrets or {}).items()}),
        settings=ToolHttpSettings(),
        egress=Egress(),
    )
    return await probe_tool(tool, {}, endpoint, SystemClock(), **{"watch_seconds": 0.0, **options})


async def test_a_server_that_closes_before_the_pool_does_is_found() -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response({"a": 1})

    app = web.Application()
    app.router.add_get("/things", handler)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=0.3)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    report = await probed(f"http://127.0.0.1:{runner.addresses[0][1]}", contract(), watch_seconds=3.0)
    await runner.cleanup()
    assert (report.status_code, report.size_bytes, report.keeps_connections) == (200, 8, True)
    assert report.measured_keep_alive_seconds == pytest.approx(report.watched_seconds)
    assert report.measured_keep_alive_seconds is not None
    assert 0.1 < report.measured_keep_alive_seconds < 2.0
    assert report.second_seconds is not None
    (advice,) = report.advice
    assert (advice.pointer, advice.now) == ("/spec/pool/idle_timeout", "4s")
    assert float(advice.should.removesuffix("s")) < report.measured_keep_alive_seconds


@pytest.mark.parametrize(
    ("pool", "pointers"), [(None, ["/spec/pool/idle_timeout"]), (Pool(idle_timeout_seconds=2.0), [])]
)
async def test_an_announced_keep_alive_is_believed_without_waiting(pool: Pool | None, pointers: list[str]) -> None:
    reply = answer(headers="Keep-Alive: timeout=4, max=100\r\n")
    async with raw_server(says(reply)) as there:
        report = await probed(there.base_url, contract(policies={"pool": pool}), watch_seconds=0.1)
    assert (report.announced_keep_alive_seconds, report.measured_keep_alive_seconds) == (4.0, None)
    assert report.watched_seconds >= 0.1
    assert [advice.pointer for advice in report.advice] == pointers


def answers_once() -> Behaviour:
    count = 0

    async def behave(writer: Any) -> None:
        nonlocal count
        count += 1
        if count == 1:
            writer.write(answer())
        else:
            writer.close()

    return behave


@pytest.mark.parametrize(
    "behave", [says(answer(headers="Connection: close\r\n")), says_and_closes(answer()), answers_once()]
)
async def test_a_server_that_keeps_no_connection_is_told(behave: Behaviour) -> None:
    async with raw_server(behave) as there:
        report = await probed(there.base_url, contract())
    assert report.keeps_connections is False
    assert [advice.should for advice in report.advice] == ["keep-alive on the server"]


async def test_a_write_is_probed_only_by_force_and_once() -> None:
    tool = contract(method="POST", effect=Effect.WRITE)
    async with raw_server(says(answer())) as there:
        with pytest.raises(InvalidRequest, match="writes"):
            await probed(there.base_url, tool)
        assert there.heads == []
        report = await probed(there.base_url, tool, is_forced=True)
        assert len(there.heads) == 1
    assert (report.status_code, report.keeps_connections, report.second_seconds) == (200, None, None)


async def test_a_tool_that_is_not_http_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="not called over HTTP"):
        await probed("http://127.0.0.1:9", replace(contract(), transport=None))


@pytest.mark.parametrize(
    ("behave", "code", "status"),
    [(says_and_closes(b""), FaultCode.RESPONSE_INCOMPLETE, 0), (says_and_closes(answer(length=9)), "", 200)],
)
async def test_a_failure_is_part_of_the_report(behave: Behaviour, code: str, status: int) -> None:
    async with raw_server(behave) as there:
        report = await probed(there.base_url, contract())
    assert report.fault is not None
    assert report.fault.code == (code or FaultCode.RESPONSE_INCOMPLETE)
    assert report.status_code == status
    assert report.advice == ()


async def test_a_slow_tool_needs_a_longer_timeout() -> None:
    tool = replace(contract(), timeout_seconds=0.0001)
    async with raw_server(says(answer())) as there:
        report = await probed(there.base_url, tool)
    assert "/spec/timeout" in [advice.pointer for advice in report.advice]


async def test_a_handshake_that_fails_after_the_calls_is_a_detail() -> None:
    async with transport("https://127.0.0.1:9") as under_test:
        pool = await under_test.pools.of_tool("look_up", None)
        pool.guard.admit_base("127.0.0.1")
        assert await _tls_of(pool, "https://127.0.0.1:9") is None


@pytest.mark.parametrize(("days", "advised"), [(10, ["a renewed certificate"]), (300, [])])
async def test_tls_and_the_end_of_the_certificate_are_seen(days: int, advised: list[str]) -> None:
    authority = trustme.CA()
    expires = datetime.now(UTC).replace(microsecond=0) + timedelta(days=days)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1", not_after=expires).configure_cert(context)
    client = authority.issue_cert("taoloop.test")
    secrets = {
        "CERT": "".join(blob.bytes().decode() for blob in client.cert_chain_pems),
        "KEY": client.private_key_pem.bytes().decode(),
        "CA": authority.cert_pem.bytes().decode(),
    }

    async def handler(_: web.Request) -> web.Response:
        return web.json_response({})

    async with server(handler, context) as url:
        tool = contract(auth=MutualTls(certificate="CERT", key="KEY", ca="CA"))
        report = await probed(url, tool, secrets)
    assert report.tls is not None
    assert (report.tls.version, report.tls.certificate_expires_at) == ("TLSv1.3", expires)
    assert [advice.should for advice in report.advice if not advice.pointer] == advised
