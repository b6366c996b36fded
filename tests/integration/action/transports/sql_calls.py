"""Statements that are run and what comes of them, for the tests of SQL tools."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.action.ports import TransportFault
from taoloop.tools.contract import ToolContract
from tests.integration.action.transports.databases import opened, statement
from tests.integration.action.transports.tool_calls import attempted, body_of

SQLITE_SLOW = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT count(i) AS n FROM n"
)


async def ran(url: str, tool: ToolContract, **arguments: Any) -> Any:
    async with opened(url) as transport:
        return body_of(await attempted(transport, tool, **arguments))


async def fault_of(url: str | None, tool: ToolContract, seconds: float = 20.0, **arguments: Any) -> TransportFault:
    async with opened(url) as transport:
        with pytest.raises(TransportFault) as caught:
            await attempted(transport, tool, seconds, **arguments)
        return caught.value


async def count(url: str) -> int:
    return int((await ran(url, statement("SELECT count(*) AS n FROM orders")))["rows"][0]["n"])
