"""A channel that somebody closed."""

from __future__ import annotations

import asyncio
import socket

import pytest

from taoloop.core.settings import GrpcSettings
from taoloop.wire.foreign.channel import ForeignChannel
from taoloop.wire.foreign.errors import NotConnected


async def test_a_channel_that_was_closed_does_not_connect() -> None:
    channel = ForeignChannel(["127.0.0.1:1"], "localhost:1", None, GrpcSettings())
    await channel.aclose()
    with pytest.raises(NotConnected):
        await channel.connected()


async def test_a_channel_closed_while_it_connects_does_not_connect() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        channel = ForeignChannel([f"127.0.0.1:{silent.getsockname()[1]}"], "localhost:1", None, GrpcSettings())
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            waits = group.create_task(_outcome(channel))
            await asyncio.sleep(0.05)  # it waits for a server that says nothing
            await channel.aclose()
        assert waits.result() is NotConnected


async def _outcome(channel: ForeignChannel) -> type[BaseException] | None:
    try:
        await channel.connected()
    except NotConnected as exc:
        return type(exc)
    return None
