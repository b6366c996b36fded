"""Servers for the contract of a chat model that stays true with a real engine: a played one, and vLLM's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from taoloop.models.profiles import ModelProfile
from taoloop.models.profiles.loading import load_profile
from taoloop.testing.chat.bodies import events
from taoloop.testing.chat.probe import ServedModel
from taoloop.testing.chat.server import ChatServer, ScriptedReply
from tests.vllm.server import NAME, VllmServer

_ENDLESS = ScriptedReply(pieces=events("one " * 200), pause_seconds=0.1)


class LiveModel(Protocol):
    """A server that can be looked into, killed and brought back at the same address."""

    name: str
    profile: ModelProfile

    @property
    def url(self) -> str: ...

    async def busy(self) -> int:
        """Return how many requests it works on."""
        ...

    async def kill(self) -> None: ...

    async def restart(self) -> None: ...


class PlayedLiveModel:
    """A played server; what is no probe's question gets a reply that takes 20 seconds."""

    name = "small"
    profile = load_profile("vllm")

    def __init__(self) -> None:
        self._server = ChatServer([_ENDLESS], ServedModel(names=("small",), context_tokens=2048))

    @property
    def url(self) -> str:
        return self._server.url

    async def busy(self) -> int:
        return self._server.in_progress

    async def kill(self) -> None:
        await self._server.__aexit__(None, None, None)

    async def restart(self) -> None:
        self._server = ChatServer([_ENDLESS], self._server.served, port=self._server.port)
        await self._server.__aenter__()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[PlayedLiveModel]:
        await self._server.__aenter__()
        try:
            yield self
        finally:
            await self.kill()


class VllmLiveModel:
    """The real one; its engine is shared by all tests."""

    name = NAME
    profile = load_profile("vllm")

    def __init__(self, server: VllmServer) -> None:
        self._server = server

    @property
    def url(self) -> str:
        return self._server.url

    async def busy(self) -> int:
        return await asyncio.to_thread(self._server.running)

    async def kill(self) -> None:
        await asyncio.to_thread(self._server.kill)

    async def restart(self) -> None:
        # In this thread, however long it takes: the server ends with the one that started it.
        self._server.start()
