"""What surrounds one attempt over HTTP: its span, its headers, and contracts that cannot be called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.core.faults import FaultCode
from taoloop.tools.contract import HttpTransport
from tests.integration.action.http_calls import call, contract, fault_of, transport
from tests.integration.action.raw_server import answer, raw_server, says


async def test_a_tool_that_is_not_http_is_refused() -> None:
    async with transport("http://127.0.0.1:9") as under_test:
        fault = await fault_of(under_test, call(replace(contract(), transport=None)))
    assert (fault.code, fault.may_have_left) == (FaultCode.NOT_YET_SUPPORTED, False)


async def test_a_base_that_nobody_configured_is_named() -> None:
    tool = replace(contract(), transport=HttpTransport(method="GET", url="{{base.other}}/x"))
    async with transport("http://127.0.0.1:9") as under_test:
        fault = await fault_of(under_test, call(tool))
    assert fault.message == "There is no base URL other."
    assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)


@pytest.mark.parametrize("parts", [{}, {"method": "POST"}, {"headers": {"X-Key": "{key}"}}])
async def test_an_argument_that_cannot_be_sent_is_named(parts: dict[str, Any]) -> None:
    async with transport("http://127.0.0.1:9") as under_test:
        fault = await fault_of(under_test, call(contract("/things/{key}", **parts), key=".."))
    assert (fault.code, fault.pointer, fault.may_have_left) == (FaultCode.INVALID_PARAMETER, "/key", False)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_every_method_is_sent_with_the_ids_of_the_thought(method: str) -> None:
    reply = answer(b"" if method == "HEAD" else b"{}")
    async with raw_server(says(reply)) as server, transport(server.base_url) as under_test:
        assert (await under_test.attempt(replace(call(contract(method=method)), resend_count=1))).status_code == 200
        head = server.heads[0].decode()
    assert head.startswith(f"{method} /things HTTP/1.1\r\n")
    assert f"\r\nX-Request-ID: {'2' * 32}\r\n" in head
    assert "\r\nX-Trace-ID: " in head
    assert "\r\nAccept-Encoding: gzip, deflate\r\n" in head
