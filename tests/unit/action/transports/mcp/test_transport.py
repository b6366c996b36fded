"""Rules of the MCP transport that need no server."""

from __future__ import annotations

import asyncio
import importlib
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mcp.client import ClientSession

from taoloop.action.ports import ToolCall, TransportFault
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.transports.mcp.links import ServerLinks
from taoloop.action.transports.mcp.transport import McpClientTransport, _read_list
from taoloop.core.errors import ConfigurationError
from taoloop.core.faults import FaultCode
from taoloop.testing.clock import FakeClock
from tests.unit.action.contracts import LOOK_UP, telemetry


async def test_a_tool_of_another_kind_is_refused() -> None:
    found = telemetry()
    async with asyncio.TaskGroup() as tasks:
        links = ServerLinks(tasks, FakeClock(), found.metrics)
        transport = McpClientTransport(cast(Any, None), {}, ConfiguredSecrets({}), links, found, limit_bytes=10)
        with pytest.raises(TransportFault) as caught:
            await transport.attempt(ToolCall(contract=LOOK_UP, arguments={}, timeout_seconds=1.0, thought_id="t"))
        assert repr(transport) == f"McpClientTransport({links!r})"  # nobody's session was opened
    assert (caught.value.code, caught.value.may_have_left) == (FaultCode.NOT_YET_SUPPORTED, False)


@pytest.mark.parametrize(("pages", "read"), [(3, 3), (1000, 100)])
async def test_a_list_of_tools_is_read_page_by_page_and_not_for_ever(pages: int, read: int) -> None:
    seen: list[str | None] = []

    async def list_tools(*, params: Any) -> SimpleNamespace:
        seen.append(params.cursor)
        return SimpleNamespace(next_cursor=str(len(seen)) if len(seen) < pages else None)

    await _read_list(cast(ClientSession, SimpleNamespace(list_tools=list_tools)))
    assert seen == [None, *map(str, range(1, read))]


def test_without_its_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "taoloop.action.transports.mcp")
    with pytest.raises(ConfigurationError, match="extra `action`"):
        importlib.import_module("taoloop.action.transports.mcp")
