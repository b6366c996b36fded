"""A process that begins a write and waits to be killed; a test starts it: `LEDGER_URL TOOL_URL`."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

from taoloop.action.executor import Executor
from taoloop.action.ledger.sql.sql_ledger import sql_ledger
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import http_transport
from taoloop.core.clock import SystemClock
from tests.unit.action.contracts import CHANGE, catalogue, context, request, telemetry


async def main(ledger_url: str, tool_url: str) -> None:
    """Call a tool that never answers."""
    clock, seen, tools = (
        SystemClock(),
        telemetry(),
        catalogue({"things": tool_url}, replace(CHANGE, timeout_seconds=60.0)),
    )
    async with (
        sql_ledger(ledger_url, clock) as ledger,
        http_transport(ToolHttpSettings(), tools.bases, ConfiguredSecrets({}), seen) as transport,
    ):
        executor = Executor(tools, transport, ledger, seen, clock)
        await executor.execute(request("change"), context(clock, 60.0))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
