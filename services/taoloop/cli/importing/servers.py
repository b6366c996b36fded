"""Asks live servers what they offer, for imports: MCP servers for their tools, gRPC servers for their descriptors."""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from taoloop.core.errors import BackendUnavailable, ConfigurationError, InvalidRequest

if TYPE_CHECKING:
    from taoloop.tools.importing.grpc_methods import GrpcMethod

_MAX_PAGES: Final = 100
_TIMEOUT_SECONDS: Final = 20.0


async def list_mcp_tools(server: str) -> list[dict[str, Any]]:
    """Return the tools of a server as `tools/list` gives them.

    Args:
        server: `http(s)://…` for streamable HTTP, else the command of a server on standard streams.

    Raises:
        BackendUnavailable: The server does not answer as the protocol says.
        ConfigurationError: The package for the protocol is not installed.
    """
    import asyncio

    try:
        from mcp import Client, StdioServerParameters
    except ImportError as exc:
        message = "The import of MCP tools needs the extra `action`."
        raise ConfigurationError(message, metadata={"extra": "action"}) from exc
    words = shlex.split(server)
    target: Any = server
    if not server.startswith(("http://", "https://")):
        environment = {"PATH": os.defpath}
        target = StdioServerParameters(command=words[0], args=words[1:], env=environment)
    found: list[dict[str, Any]] = []
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS), Client(target) as client:
            cursor: str | None = None
            for _ in range(_MAX_PAGES):
                page = await client.list_tools(cursor=cursor)
                found += [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    break
    except (Exception, BaseExceptionGroup) as exc:
        message = f"The MCP server {server!r} did not list its tools ({type(exc).__name__})."
        raise BackendUnavailable(message, metadata={"server": server}) from exc
    return found


def methods_of_set(path: Path, service: str) -> tuple[GrpcMethod, ...]:
    """Return the unary methods of a service in a descriptor set.

    Raises:
        InvalidRequest: The file cannot be read, or has no such service.
    """
    from taoloop.wire.foreign.descriptors import files_of_set
    from taoloop.wire.foreign.errors import MethodUnusable
    from taoloop.wire.foreign.method_schemas import describe_service

    try:
        return describe_service(files_of_set(path.read_bytes()), service)
    except (OSError, MethodUnusable) as exc:
        raise InvalidRequest(f"{path}: {exc}.", metadata={"path": str(path), "service": service}) from exc


async def methods_of_server(url: str, service: str) -> tuple[GrpcMethod, ...]:
    """Return the unary methods of a service by the server's reflection.

    Args:
        url: `https://host:port` for TLS with the system's authorities, `http://host:port` for plain text.
        service: `package.Service`.

    Raises:
        BackendUnavailable: The server does not answer.
        InvalidRequest: It has no such service, or no reflection.
    """
    import asyncio

    from taoloop.core.settings import GrpcSettings
    from taoloop.wire.foreign.channel import ForeignChannel, ForeignStatus, Tls
    from taoloop.wire.foreign.errors import MethodUnusable, NotConnected
    from taoloop.wire.foreign.method_schemas import describe_service

    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            addresses = await _addresses(host, port)
            tls = Tls() if parts.scheme == "https" else None
            channel = ForeignChannel(addresses, f"{host}:{port}", tls, GrpcSettings())
            try:
                await channel.connected()
                files = await channel.files(service, ())
            finally:
                await channel.aclose()
    except (OSError, TimeoutError, NotConnected) as exc:
        raise BackendUnavailable(f"The server at {url} does not answer.", metadata={"address": url}) from exc
    except MethodUnusable as exc:
        raise InvalidRequest(f"{exc}.", metadata={"service": service}) from exc
    if isinstance(files, ForeignStatus):
        message = f"The server's reflection answered {files.code}."
        raise BackendUnavailable(message, metadata={"address": url, "status": files.code})
    return describe_service(files, service)


async def _addresses(host: str, port: int) -> Sequence[str]:
    import asyncio

    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    plain = [f"{each[4][0]}:{port}" for each in found if each[0] is socket.AF_INET]
    return plain or [f"[{each[4][0]}]:{port}" for each in found]
