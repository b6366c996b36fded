"""Channels to the servers of tools and the methods that are known of them, kept as long as they serve."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from taoloop.action.ports import TransportFault
from taoloop.core.faults import FaultCode
from taoloop.core.settings import GrpcSettings
from taoloop.tools.contract import GrpcTransport
from taoloop.wire.foreign.channel import ForeignChannel, ForeignStatus, Tls
from taoloop.wire.foreign.descriptors import ForeignMethod, files_of_set, find_method
from taoloop.wire.foreign.errors import MethodUnusable

LinkKey = tuple[str, tuple[str, ...], str]
"""Authority with scheme, addresses, fingerprint of the TLS identity."""


@dataclass(slots=True)
class Link:
    """A channel with the methods that were found over it.

    Attributes:
        channel: Shared by all tools of one server and identity.
        has_carried: Whether a call was answered over it before.
        calls: In progress.
        is_dropped: Whether it is closed when they have ended.
    """

    channel: ForeignChannel
    has_carried: bool = False
    calls: int = 0
    is_dropped: bool = False
    methods: dict[tuple[str, str | None], ForeignMethod] = field(default_factory=dict)


class Links:
    """Keeps one link for each server and identity.

    Args:
        settings: Sizes and keepalive.
        directory: Where descriptor sets are.
    """

    def __init__(self, settings: GrpcSettings, directory: Path) -> None:
        self._settings = settings
        self._directory = directory
        self._links: dict[LinkKey, Link] = {}

    def of(self, key: LinkKey, authority: str, tls: Tls | None) -> Link:
        """Return the link, made if it is not there; connecting begins with the first call."""
        if key not in self._links:
            channel = ForeignChannel(key[1], authority, tls, self._settings)
            self._links[key] = Link(channel)
        return self._links[key]

    @asynccontextmanager
    async def held(self, key: LinkKey, authority: str, tls: Tls | None) -> AsyncIterator[Link]:
        """Hold the link for one call; a link that was dropped is closed when its last call has ended."""
        link = self.of(key, authority, tls)
        link.calls += 1
        try:
            yield link
        finally:
            link.calls -= 1
            if link.is_dropped and not link.calls:
                await link.channel.aclose()

    def drop(self, key: LinkKey, link: Link) -> None:
        """Forget a link that could not connect, so that the next call tries afresh, without the library's pause."""
        link.is_dropped = True
        if self._links.get(key) is link:
            del self._links[key]

    async def method(
        self, link: Link, transport: GrpcTransport, metadata: tuple[tuple[str, str], ...]
    ) -> ForeignMethod:
        """Return the method of a contract.

        Raises:
            TransportFault: TOOL_PROTOCOL_FAULT, there is no such method that can be called; TOOL_UNREACHABLE, the
                server's reflection failed.
        """
        key = (transport.method, transport.descriptor_set)
        if key in link.methods:
            return link.methods[key]
        try:
            if transport.descriptor_set is not None:
                files = files_of_set(await self._read(transport.descriptor_set))
            else:
                service = transport.method.partition("/")[0]
                found = await link.channel.files(service, metadata)
                if isinstance(found, ForeignStatus) and found.code == "INTERNAL":
                    # The library says so of a stream that broke on the way, too; asking again is a read.
                    found = await link.channel.files(service, metadata)
                if isinstance(found, ForeignStatus):
                    raise _unreflected(found)
                files = found
            method = link.methods[key] = find_method(files, transport.method)
        except MethodUnusable as exc:
            message = f"The method {transport.method} cannot be called: {exc}."
            raise TransportFault(FaultCode.TOOL_PROTOCOL_FAULT, message, may_have_left=False) from exc
        return method

    async def _read(self, name: str) -> bytes:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise MethodUnusable(f"the descriptor set {name} lies outside the catalogue")
        try:
            return await asyncio.to_thread((self._directory / name).read_bytes)
        except OSError as exc:
            raise MethodUnusable(f"the descriptor set {name} cannot be read") from exc

    async def aclose(self) -> None:
        """Close every channel."""
        links = list(self._links.values())
        self._links.clear()
        for link in links:
            await link.channel.aclose()

    def __repr__(self) -> str:
        return f"<Links [{'; '.join(repr(link.channel) for link in self._links.values())}]>"


def _unreflected(status: ForeignStatus) -> TransportFault:
    """Return the fault of a method that was not called, since the server did not say what it is."""
    message = f"The server's reflection answered {status.code}; the method was not called."
    is_retriable = status.code in {"UNAVAILABLE", "RESOURCE_EXHAUSTED", "ABORTED"}
    return TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False, is_retriable=is_retriable)
