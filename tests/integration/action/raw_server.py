"""A server that writes the bytes it is told to, and misbehaves on purpose."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Behaviour = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class RawServer:
    """What a test can see of the server."""

    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    """The head of every request, as it came in."""
    bodies: list[bytes] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first whole request has been read."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def raw_server(behave: Behaviour) -> AsyncIterator[RawServer]:
    """Read each request whole, then behave."""
    seen = RawServer()
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                seen.heads.append(head)
                seen.bodies.append(await reader.readexactly(_length(head)))
                seen.arrived.set()
                await behave(writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client went, or the test is over
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving)


def answer(
    body: bytes = b"{}",
    status: str = "200 OK",
    content_type: str = "application/json",
    length: int | None = None,
    headers: str = "",
) -> bytes:
    """Return a whole HTTP answer, its length true unless it is given."""
    announced = len(body) if length is None else length
    kind = f"Content-Type: {content_type}\r\n" if content_type else ""
    head = f"HTTP/1.1 {status}\r\n{kind}Content-Length: {announced}\r\n{headers}\r\n"
    return head.encode() + body


def says(data: bytes) -> Behaviour:
    """Return a behaviour that answers and keeps the connection."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return behave


def says_and_closes(data: bytes) -> Behaviour:
    """Return a behaviour that answers and closes in good order."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    return behave


def says_and_resets(data: bytes) -> Behaviour:
    """Return a behaviour that answers and breaks the connection."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.transport.abort()

    return behave


def says_and_hangs(data: bytes) -> Behaviour:
    """Return a behaviour that answers a part and stays silent."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.Event().wait()

    return behave


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0
