"""A service that calls a function which never returns, to be ended by a signal."""

from __future__ import annotations

import asyncio
import sys

from taoloop.action.settings import ToolPythonSettings
from taoloop.action.transports.python.transport import python_transport
from taoloop.core.clock import SystemClock
from taoloop.tools.contract import PythonTransport
from tests.integration.action.transports.tool_calls import attempted, contract
from tests.unit.action.contracts import telemetry


async def main(search_path: str, pid_file: str) -> None:
    settings = ToolPythonSettings(search_path=(search_path,))
    async with python_transport(settings, telemetry(), SystemClock()) as transport:
        tool = contract(PythonTransport(entry_point="functions_under_test:hangs"))
        await attempted(transport, tool, 600.0, pid_file=pid_file)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
