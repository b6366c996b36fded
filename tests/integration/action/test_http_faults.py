"""What becomes of every way in which an HTTP server can fail, for reads and for writes."""

from __future__ import annotations

import gzip
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from pydantic import SecretStr

from taoloop.action.executor import Executor
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import http_transport
from taoloop.core.clock import SystemClock
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from tests.integration.action.raw_server import (
    Behaviour,
    answer,
    raw_server,
    says,
    says_and_closes,
    says_and_hangs,
    says_and_resets,
)
from tests.unit.action.contracts import CHANGE, catalogue, context, request, telemetry

CLOCK = SystemClock()
LIMIT_BYTES = 8 * 1024 * 1024
SHORT_SECONDS = 0.2

OK, FAILED, TIMED_OUT, UNKNOWN = (
    ActionStatus.SUCCEEDED,
    ActionStatus.FAILED,
    ActionStatus.TIMED_OUT,
    ActionStatus.OUTCOME_UNKNOWN,
)

CASES: list[tuple[str, Behaviour, ActionStatus, str, ActionStatus]] = [
    # what the server does, how; what a read becomes, its code; what a write becomes
    ("good answer", says(answer(b'{"a":1}')), OK, "", OK),
    ("byte-order mark", says(answer(b'\xef\xbb\xbf{"a":1}')), OK, "", OK),
    ("204", says(b"HTTP/1.1 204 No Content\r\n\r\n"), OK, "", OK),
    ("charset lies", says(answer('{"a":"é"}'.encode("latin-1"))), FAILED, FaultCode.RESPONSE_MALFORMED, UNKNOWN),
    ("UTF-16", says(answer('{"a":1}'.encode("utf-16"))), FAILED, FaultCode.RESPONSE_MALFORMED, UNKNOWN),
    (
        "charset of another name",
        says(answer(b'{"a":1}', content_type="application/json; charset=klingon")),
        OK,
        "",
        OK,
    ),
    (
        "100 000 headers",
        says_and_closes(answer(headers="X-A: b\r\n" * 100_000)),
        FAILED,
        FaultCode.TOOL_PROTOCOL_FAULT,
        UNKNOWN,
    ),
    (
        "bad gzip",
        says(answer(b"no gzip", headers="Content-Encoding: gzip\r\n")),
        FAILED,
        FaultCode.RESPONSE_MALFORMED,
        UNKNOWN,
    ),
    ("204 with a status word of its own", says(b"HTTP/1.1 204 \r\n\r\n"), OK, "", OK),
    ("404 with JSON", says(answer(status="404 Not Found")), FAILED, FaultCode.NOT_FOUND, FAILED),
    ("404, empty", says(answer(b"", "404 Not Found")), FAILED, FaultCode.NOT_FOUND, FAILED),
    ("429", says(answer(status="429 Slow")), FAILED, FaultCode.RATE_LIMITED, FAILED),
    ("400", says(answer(status="400 Bad")), FAILED, FaultCode.UPSTREAM_REFUSED, FAILED),
    ("500", says(answer(status="500 Oops")), FAILED, FaultCode.UPSTREAM_UNAVAILABLE, UNKNOWN),
    (
        "302",
        says(answer(status="302 Found", headers="Location: /x\r\n")),
        FAILED,
        FaultCode.TOOL_PROTOCOL_FAULT,
        UNKNOWN,
    ),
    ("empty 200", says(answer(b"")), FAILED, FaultCode.RESPONSE_MALFORMED, UNKNOWN),
    ("HTML with 200", says(answer(b"<p>hi", content_type="text/html")), FAILED, FaultCode.RESPONSE_MALFORMED, UNKNOWN),
    ("broken JSON", says(answer(b'{"a":')), FAILED, FaultCode.RESPONSE_MALFORMED, UNKNOWN),
    ("body of 9 MB", says(answer(b" " * (9 * 1024 * 1024))), FAILED, FaultCode.RESPONSE_TOO_LARGE, UNKNOWN),
    ("body too short", says_and_closes(answer(b'{"a":1}', length=99)), FAILED, FaultCode.RESPONSE_INCOMPLETE, UNKNOWN),
    ("reset in the body", says_and_resets(answer(b'{"a"', length=99)), FAILED, FaultCode.RESPONSE_INCOMPLETE, UNKNOWN),
    ("closed, no answer", says_and_closes(b""), FAILED, FaultCode.RESPONSE_INCOMPLETE, UNKNOWN),
    ("reset, no answer", says_and_resets(b""), FAILED, FaultCode.RESPONSE_INCOMPLETE, UNKNOWN),
    ("no HTTP", says_and_closes(b"SSH-2.0-x\r\n\r\n"), FAILED, FaultCode.TOOL_PROTOCOL_FAULT, UNKNOWN),
    ("hang before headers", says_and_hangs(b""), TIMED_OUT, FaultCode.TOOL_TIMEOUT, UNKNOWN),
    ("hang in the body", says_and_hangs(answer(b'{"a"', length=99)), TIMED_OUT, FaultCode.TOOL_TIMEOUT, UNKNOWN),
]
IDS = [case[0] for case in CASES]


@asynccontextmanager
async def executor(base_url: str, **secrets: str) -> AsyncIterator[Executor]:
    tools = catalogue({"things": base_url})
    source = ConfiguredSecrets({name: SecretStr(value) for name, value in secrets.items()})
    seen = telemetry()
    async with http_transport(ToolHttpSettings(max_response_bytes=LIMIT_BYTES), tools.bases, source, seen) as transport:
        yield Executor(tools, transport, InMemoryEffectLedger(CLOCK), seen, CLOCK)


async def called(base_url: str, tool: str = "look_up", seconds: float = 5.0, **secrets: str) -> ActionResult:
    async with executor(base_url, **secrets) as under_test:
        return await under_test.execute(request(tool, timeout_seconds=seconds), context(CLOCK))


def limit_for(code: str) -> float:
    return SHORT_SECONDS if code == FaultCode.TOOL_TIMEOUT else 5.0


@pytest.mark.parametrize(("behave", "status", "code"), [case[1:4] for case in CASES], ids=IDS)
async def test_a_read_gets_one_envelope_and_is_sent_once(behave: Behaviour, status: ActionStatus, code: str) -> None:
    async with raw_server(behave) as server:
        result = await called(server.base_url, seconds=limit_for(code))
        assert (result.status, result.fault.code if result.fault else "") == (status, code)
        assert len(server.heads) == 1
    assert len(result.attempts) == 1
    assert result.raw is None or len(result.raw) <= 4096


@pytest.mark.parametrize(("behave", "code", "status"), [(case[1], case[3], case[4]) for case in CASES], ids=IDS)
async def test_a_write_that_may_have_happened_is_unknown_and_is_sent_once(
    behave: Behaviour, code: str, status: ActionStatus
) -> None:
    async with raw_server(behave) as server, executor(server.base_url) as under_test:
        wanted = request("change", timeout_seconds=limit_for(code))
        result = await under_test.execute(wanted, context(CLOCK))
        assert result.status is status
        if status in {OK, UNKNOWN}:
            await under_test.execute(wanted, context(CLOCK))
            assert len(server.heads) == 1


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_a_write_with_an_idempotent_method_is_not_repeated_by_the_library(method: str) -> None:
    assert CHANGE.http is not None
    contract = replace(CHANGE, name="put", transport=replace(CHANGE.http, method=method))
    async with raw_server(says_and_closes(b"")) as server:
        tools = catalogue({"things": server.base_url}, contract)
        seen = telemetry()
        async with http_transport(ToolHttpSettings(), tools.bases, ConfiguredSecrets({}), seen) as transport:
            under_test = Executor(tools, transport, InMemoryEffectLedger(CLOCK), seen, CLOCK)
            result = await under_test.execute(request("put"), context(CLOCK))
        assert result.status is UNKNOWN
        assert len(server.heads) == 1


@pytest.mark.parametrize("tool", ["look_up", "change"])
async def test_a_refused_connection_is_a_failure_that_surely_had_no_effect(tool: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: the port refuses
        result = await called(f"http://127.0.0.1:{taken.getsockname()[1]}", tool)
    assert (result.status, result.fault.code if result.fault else "") == (FAILED, FaultCode.TOOL_UNREACHABLE)
    assert result.status_code == 0


async def test_an_unknown_host_is_unreachable() -> None:
    result = await called("http://no-such-host.invalid")
    assert (result.status, result.fault.code if result.fault else "") == (FAILED, FaultCode.TOOL_UNREACHABLE)


async def test_the_size_limit_holds_for_the_decoded_body() -> None:
    packed = gzip.compress(b" " * (LIMIT_BYTES + 1))
    assert len(packed) < LIMIT_BYTES // 100
    async with raw_server(says(answer(packed, headers="Content-Encoding: gzip\r\n"))) as server:
        result = await called(server.base_url)
    assert result.fault is not None
    assert result.fault.code == FaultCode.RESPONSE_TOO_LARGE
    assert result.body is not None
    assert result.body.truncated


async def test_a_broken_encoding_is_malformed() -> None:
    async with raw_server(says(answer(b"no gzip at all", headers="Content-Encoding: gzip\r\n"))) as server:
        result = await called(server.base_url)
    assert result.fault is not None
    assert result.fault.code == FaultCode.RESPONSE_MALFORMED


async def test_a_second_call_uses_the_connection_of_the_first() -> None:
    async with raw_server(says(answer())) as server, executor(server.base_url) as under_test:
        first = await under_test.execute(request(), context(CLOCK))
        second = await under_test.execute(request(), context(CLOCK))
    assert [result.attempts[0].reused_connection for result in (first, second)] == [False, True]


async def test_a_cookie_and_a_redirect_are_not_followed() -> None:
    reply = answer(headers="Set-Cookie: a=1\r\n")
    async with raw_server(says(reply)) as server, executor(server.base_url) as under_test:
        await under_test.execute(request(), context(CLOCK))
        await under_test.execute(request(), context(CLOCK))
        assert b"cookie" not in server.heads[1].lower()


async def test_a_bearer_token_is_sent_and_a_missing_one_is_a_fault() -> None:
    async with raw_server(says(answer())) as server:
        good = await called(server.base_url, "sealed", THINGS_TOKEN="s3cret")
        assert b"Authorization: Bearer s3cret\r\n" in server.heads[0]
        bad = await called(server.base_url, "sealed")
        assert len(server.heads) == 1
    assert good.status is OK
    assert (bad.status, bad.fault.code if bad.fault else "") == (FAILED, FaultCode.CREDENTIAL_MISSING)
    assert bad.parsed is ABSENT
