"""The versions of the protocol that are spoken, and how client and server agree on one."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from mcp.client import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    ClientCapabilities,
    Implementation,
    InitializedNotification,
    InitializeRequest,
    InitializeRequestParams,
    InitializeResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from taoloop.action.ports import TransportFault
from taoloop.core.faults import FaultCode

SPOKEN: Final = ("2026-07-28", "2025-11-25", "2025-06-18")
"""Newest first; the first has no handshake, the others begin with `initialize`."""

CLIENT: Final = Implementation(name="taoloop", version=version("taoloop"))


async def negotiate(session: ClientSession, pinned: str | None) -> None:
    """Bring a session to a version that both sides speak, or to the pinned one.

    Raises:
        TransportFault: TOOL_PROTOCOL_FAULT, there is none.
        MCPError: The server did not answer in the protocol.
    """
    try:
        if pinned is None:
            await _newest(session)
        elif pinned in MODERN_PROTOCOL_VERSIONS:
            await session.discover()
        else:
            await _initialize(session, pinned)
    except (RuntimeError, ValidationError) as exc:
        raise _mismatch(None, pinned) from exc
    agreed = session.protocol_version
    if agreed not in SPOKEN or pinned not in {None, agreed}:
        raise _mismatch(agreed, pinned)


async def _newest(session: ClientSession) -> None:
    """Ask whether the server speaks without a handshake; whatever else it answers, shake hands."""
    try:
        await session.discover()
    except (MCPError, RuntimeError, ValidationError):
        await session.initialize()


async def _initialize(session: ClientSession, wanted: str) -> None:
    """Shake hands on one version; the session's own handshake offers the newest alone."""
    parameters = InitializeRequestParams(protocol_version=wanted, capabilities=ClientCapabilities(), client_info=CLIENT)
    result = await session.send_request(InitializeRequest(params=parameters), InitializeResult)
    if result.protocol_version != wanted:
        raise _mismatch(result.protocol_version, wanted)
    session.adopt(result)
    await session.send_notification(InitializedNotification())


def _mismatch(offered: str | None, pinned: str | None) -> TransportFault:
    wanted = pinned or " or ".join(SPOKEN)
    told = f"speaks {offered}" if offered in SPOKEN else "speaks another version of the protocol"
    message = f"The server {told}, and {wanted} is wanted."
    return TransportFault(FaultCode.TOOL_PROTOCOL_FAULT, message, may_have_left=False)
