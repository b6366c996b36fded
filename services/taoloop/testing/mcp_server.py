"""A real MCP server on the protocol's official package, whose tools answer well, badly or never as they are asked."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from taoloop.core import exact_json

TOOLS: Final = ("echo", "text", "fail", "hang", "crash", "huge", "seen", "environment", "shout", "tall_tale")
"""`echo` returns its arguments as structured content, `text` the text it is given, `fail` says that it failed, `hang`
never answers, `crash` ends the process, `huge` writes as many bytes as it is told, `seen` tells metadata and headers of
the call, `environment` the names of the process's variables and
the value of one, `shout` writes to standard error and `tall_tale` to the protocol's
own output, as a program does that prints."""

COMMAND: Final = (sys.executable, "-m", "taoloop.testing.mcp_server")
"""Starts the server on its standard streams."""

Context = ServerRequestContext[Any, Any]


@dataclass(slots=True)
class McpTools:
    """The tools, and what became of calls to them.

    Attributes:
        calls: Names of the tools that were called, in order.
        cancelled: How many calls of `hang` were cancelled by their caller.
    """

    calls: list[str] = field(default_factory=list)
    cancelled: int = 0

    def server(self) -> Server[Any]:
        """Return a server with these tools."""
        return Server("mock", version="1.0", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, _context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        header = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
        tools = [Tool(name=name, input_schema={"type": "object"}) for name in TOOLS]
        return ListToolsResult(tools=[*tools, Tool(name="regional", input_schema=header)])

    async def _call(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        self.calls.append(params.name)
        arguments = params.arguments or {}
        match params.name:
            case "text":
                return _result(_texts(arguments["text"]))
            case "fail":
                return CallToolResult(content=_texts(arguments.get("text", "no such order")), is_error=True)
            case "hang":
                return await self._hang()
            case "crash":
                os._exit(3)
            case "huge":
                return _result(_texts("x" * int(arguments["bytes"])))
            case "seen":
                return _structured(_seen(context))
            case "environment":
                variables = os.environ  # noqa: TID251 - what the process was given is what is asked for
                return _structured({"names": sorted(variables), "value": variables.get(arguments.get("name", ""))})
            case "shout":
                sys.stderr.write(f"{arguments['text']}\n")
                sys.stderr.flush()
            case "tall_tale":
                os.write(1, b"Listening for requests.\n")
        return _structured(arguments)

    async def _hang(self) -> CallToolResult:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        raise AssertionError


@dataclass(frozen=True, slots=True)
class McpHttpMock:
    """A server that is reached over HTTP.

    Attributes:
        url: Where the protocol is spoken.
        tools: Its tools.
    """

    url: str
    tools: McpTools


@asynccontextmanager
async def mcp_http_server(*, json_response: bool = False, port: int = 0) -> AsyncIterator[McpHttpMock]:
    """Serve the tools over streamable HTTP on the loopback interface.

    Args:
        json_response: Whether it answers by one JSON document; else by a stream of events.
        port: 0 takes a free one.
    """
    tools = McpTools()
    app = tools.server().streamable_http_app(json_response=json_response)
    config = uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", port)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server._serve([listener]), name="mock-mcp")  # noqa: SLF001 - `serve` takes the signals of the process
            try:
                yield McpHttpMock(url, tools)
            finally:
                server.should_exit = True


async def serve_stdio() -> None:
    """Serve the tools on the standard streams until the input ends."""
    server = McpTools().server()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _seen(context: Context) -> dict[str, Any]:
    request = context.request
    return {
        "meta": dict(context.meta or {}),
        "protocol_version": context.protocol_version,
        "headers": dict(request.headers) if request is not None else {},
    }


def _texts(*texts: str) -> list[ContentBlock]:
    return [TextContent(type="text", text=text) for text in texts]


def _result(content: list[ContentBlock]) -> CallToolResult:
    return CallToolResult(content=content)


def _structured(value: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=_texts(exact_json.dumps(value)), structured_content=value)


if __name__ == "__main__":
    asyncio.run(serve_stdio())
