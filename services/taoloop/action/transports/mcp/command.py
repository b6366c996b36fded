"""A server as a child process: its standard streams carry messages, its environment holds what the contract says."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from taoloop.action.ports import TransportFault
from taoloop.core import exact_json
from taoloop.core.exact_json import JsonSyntaxError
from taoloop.core.faults import FaultCode
from taoloop.core.logs import EventLog
from taoloop.core.redaction import redact_text

_log = EventLog(__name__)

FAREWELL_SECONDS: Final = 1.0
"""How long a process may take to end by itself once its input is closed, and again after it was asked to."""

MAX_WAITING_MESSAGES: Final = 1000
"""Messages that wait for the process to read them; a call whose message finds no room waits, and runs out of time."""

BROKEN_ANSWER: Final = -39_999
"""Code of the error that stands for an answer which was no exact JSON; beyond what the protocol gives out."""

_READ_BYTES: Final = 64 * 1024
_LONGEST_LOG_TEXT: Final = 500

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """How a server is started.

    Attributes:
        name: What the log calls it.
        command: Program and arguments.
        environment: All of the process's environment.
        limit_bytes: Longest message that it may write.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    limit_bytes: int


@asynccontextmanager
async def command_streams(server: ServerCommand, on_end: Callable[[TransportFault], None]) -> AsyncIterator[Streams]:
    """Start the process and end it, with all of its descendants in its group, when the block is left.

    Args:
        server: What is started.
        on_end: Told when the process stops talking, why.

    Raises:
        TransportFault: TOOL_UNREACHABLE, it cannot be started.
    """
    process = await _started(server)
    talk = _Conversation(server, process, on_end)
    try:
        async with asyncio.TaskGroup() as tasks:
            jobs = [
                tasks.create_task(talk.read(), name=f"mcp-read-{server.name}"),
                tasks.create_task(talk.write(), name=f"mcp-write-{server.name}"),
                tasks.create_task(talk.log(), name=f"mcp-log-{server.name}"),
            ]
            try:
                yield talk.incoming, talk.outgoing
            finally:
                await asyncio.shield(_ended(process))
                for job in jobs:
                    job.cancel()
    finally:
        talk.close()


class _Conversation:
    """The messages to and from one process."""

    def __init__(
        self, server: ServerCommand, process: asyncio.subprocess.Process, on_end: Callable[[TransportFault], None]
    ) -> None:
        self._server = server
        self._process = process
        self._on_end = on_end
        self._received, self.incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self.outgoing, self._waiting = anyio.create_memory_object_stream[SessionMessage](MAX_WAITING_MESSAGES)

    async def read(self) -> None:
        """Pass on every line that the process writes, until it stops or writes one that is too long."""
        assert self._process.stdout is not None
        line = bytearray()
        try:
            while chunk := await self._process.stdout.read(_READ_BYTES):
                parts = chunk.split(b"\n")
                for place, part in enumerate(parts, 1):
                    line += part
                    if len(line) > self._server.limit_bytes:
                        self._on_end(_too_long(self._server.limit_bytes))
                        return
                    if place < len(parts):
                        await self._pass_on(bytes(line))
                        line.clear()
            self._on_end(_stopped())
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the session is over, and nobody listens
        finally:
            self._received.close()

    async def write(self) -> None:
        """Write every message that the session sends, one a line."""
        assert self._process.stdin is not None
        try:
            async for sent in self._waiting:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._process.stdin.write(text.encode() + b"\n")
                await self._process.stdin.drain()
        except (OSError, anyio.ClosedResourceError):
            return  # the reader sees the end too, and tells it

    async def log(self) -> None:
        """Put what the process says beside the protocol into the log, without what looks like a secret."""
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(_READ_BYTES):
            for line in chunk.decode("utf-8", "replace").splitlines():
                _log.info("mcp_server_said", server=self._server.name, text=redact_text(line[:_LONGEST_LOG_TEXT]))

    def close(self) -> None:
        """Close all ends; one that is left open warns when it is collected."""
        for stream in (self._received, self.incoming, self.outgoing, self._waiting):
            stream.close()

    async def _pass_on(self, line: bytes) -> None:
        if not line.strip():
            return
        message = read_line(line)
        if message is None:
            _log.warning("mcp_line_ignored", server=self._server.name, size_bytes=len(line))
            return
        await self._received.send(SessionMessage(message))


def read_line(line: bytes) -> JSONRPCMessage | None:
    """Return the message in a line with its numbers as they were; None for what is no message.

    A response that is lax JSON, such as with NaN, becomes an error for the call that it answers: what the call got
    is known to be broken, and nobody need wait.
    """
    try:
        return jsonrpc_message_adapter.validate_python(exact_json.loads(line), by_name=False)
    except ValidationError:
        return None
    except JsonSyntaxError:
        pass
    try:
        lax = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return None
    if not isinstance(lax, JSONRPCResponse):
        return None
    return JSONRPCError(jsonrpc="2.0", id=lax.id, error=ErrorData(code=BROKEN_ANSWER, message="not exact JSON"))


async def _started(server: ServerCommand) -> asyncio.subprocess.Process:
    program = shutil.which(server.command[0])
    if program is None:
        raise _not_started(server, "there is no such program")
    try:
        return await asyncio.create_subprocess_exec(
            program,
            *server.command[1:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(server.environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as exc:
        raise _not_started(server, "the system refused it") from exc


def _not_started(server: ServerCommand, cause: str) -> TransportFault:
    message = f"The server {server.name} could not be started: {cause}."
    return TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False)


def _too_long(limit_bytes: int) -> TransportFault:
    message = f"The server wrote a message of more than {limit_bytes} bytes."
    return TransportFault(FaultCode.RESPONSE_TOO_LARGE, message, may_have_left=True)


def _stopped() -> TransportFault:
    message = "The server's process ended before it had answered."
    return TransportFault(FaultCode.RESPONSE_INCOMPLETE, message, may_have_left=True, is_retriable=True)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End a process: close its input, then ask it, then kill it.

    Source: the protocol's specification, lifecycle, shutdown of stdio.
    """
    assert process.stdin is not None
    process.stdin.close()
    if not await _has_ended(process):
        _signal_group(process, signal.SIGTERM)
        await _has_ended(process)
    _signal_group(process, signal.SIGKILL)  # if it did not listen, and its descendants that outlived it
    await _has_ended(process)
    # A descendant that left the group may hold a pipe and keep it open; nothing public closes our end.
    process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(process.wait(), name="mcp-farewell")
        ended, _ = await asyncio.wait([waiting], timeout=FAREWELL_SECONDS)
        waiting.cancel()
    return bool(ended)


def _signal_group(process: asyncio.subprocess.Process, signal_number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal_number)
