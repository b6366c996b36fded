"""A proxy before one server, whose connections can be cut."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self

from taoloop.testing.ports import LOOPBACK

READ_BYTES = 65_536


class CuttingProxy:
    """Passes on what comes, until it is cut. Use it as a context manager.

    Args:
        port: Of the server.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._is_cut = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> str:
        """Where clients connect, `host:port`."""
        assert self._server is not None
        return f"{LOOPBACK}:{self._server.sockets[0].getsockname()[1]}"

    @property
    def url(self) -> str:
        """Where clients of Redis connect."""
        return f"redis://{self.address}/0"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._pass_on, LOOPBACK, 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.drop()

    async def cut(self, seconds: float) -> None:
        """Drop every connection, and let none be made for so long."""
        self._is_cut = True
        try:
            self.drop()
            await asyncio.sleep(seconds)
        finally:
            self._is_cut = False

    def drop(self) -> None:
        """Drop every connection in the middle of whatever it carries."""
        for writer in self._writers:
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection(LOOPBACK, self._port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, back}
        # Cancelled at the end of the run, when nobody asks any more how it went.
        with suppress(asyncio.CancelledError):
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(reader, back), name="to the server")
                group.create_task(_copy(there, writer), name="from the server")
        self._writers -= {writer, back}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(READ_BYTES):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()
