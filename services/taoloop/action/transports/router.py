"""Leads a call to the transport of its contract's kind; only the kinds that a catalogue uses are opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from taoloop.action.ports import Reply, ToolCall, Transport, TransportFault
from taoloop.core.faults import FaultCode
from taoloop.tools.catalogue import Catalogue

TransportKind = type
"""A record of `taoloop.tools.contract` such as `HttpTransport`."""

OpenTransport = Callable[[], AbstractAsyncContextManager[Transport]]
"""Opens a transport and closes it at the end; imports its library when it is called, not before."""


class TransportRouter:
    """A `Transport` for every kind that it was given.

    Args:
        transports: Kind of a contract's transport → the way to its tools.
    """

    def __init__(self, transports: Mapping[TransportKind, Transport]) -> None:
        self._transports = dict(transports)

    def attempt(self, call: ToolCall) -> Coroutine[Any, Any, Reply]:
        """Make one attempt; see `Transport.attempt`."""
        transport = self._transports.get(type(call.contract.transport))
        if transport is None:
            message = f"The transport of the tool {call.contract.name} is not served here."
            raise TransportFault(FaultCode.NOT_YET_SUPPORTED, message, may_have_left=False)
        return transport.attempt(call)

    def __repr__(self) -> str:
        return f"TransportRouter({', '.join(sorted(kind.__name__ for kind in self._transports))})"


def kinds_used(catalogue: Catalogue) -> tuple[TransportKind, ...]:
    """Return the kinds of transports that a catalogue's tools have, each once, in the order of their names."""
    kinds = {type(tool.contract.transport) for tool in catalogue if tool.contract.transport is not None}
    return tuple(sorted(kinds, key=lambda kind: kind.__name__))


@asynccontextmanager
async def transport_router(
    catalogue: Catalogue, openers: Mapping[TransportKind, OpenTransport]
) -> AsyncIterator[TransportRouter]:
    """Open the transports that the catalogue uses, and close them in reverse order at the end.

    Args:
        catalogue: The tools that are served.
        openers: Kind → how its transport is opened; a kind that nobody uses is not opened.

    Raises:
        ConfigurationError: The library of a kind that is used is not installed; the message names the extra.
    """
    async with AsyncExitStack() as stack:
        kinds = [kind for kind in kinds_used(catalogue) if kind in openers]
        yield TransportRouter({kind: await stack.enter_async_context(openers[kind]()) for kind in kinds})
