"""How a command reaches a service: settings, channel, deadline."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from taoloop.cli.settings import CliSettings
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import JsonSyntaxError, JsonValue, loads
from taoloop.core.settings import load_settings
from taoloop.core.telemetry import Telemetry
from taoloop.wire.clients import (
    ActionClient,
    LoopClient,
    ObservationClient,
    ThoughtClient,
    action_client,
    loop_client,
    observation_client,
    thought_client,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """What the command line says about a call.

    Attributes:
        address: `host:port` of the service; None takes the setting.
        tenant: None takes the setting.
        deadline_seconds: How long the whole call may take.
        request_id: Sent as `x-request-id`; empty sends a new one.
    """

    address: str | None = None
    tenant: str | None = None
    deadline_seconds: float = 60.0
    request_id: str = ""


@asynccontextmanager
async def calling_loop(options: CallOptions) -> AsyncIterator[tuple[LoopClient, CallContext]]:
    """Give a client of the loop service and the context of calls."""
    settings = load_settings(CliSettings)
    telemetry = Telemetry.build(settings.telemetry, "taoloop-cli")
    try:
        async with loop_client(options.address or settings.loop_address, settings.grpc, telemetry) as client:
            yield client, _context(options, settings)
    finally:
        await telemetry.aclose()


@asynccontextmanager
async def calling_action(options: CallOptions) -> AsyncIterator[tuple[ActionClient, CallContext]]:
    """Give a client of the action service and the context of calls."""
    settings = load_settings(CliSettings)
    telemetry = Telemetry.build(settings.telemetry, "taoloop-cli")
    try:
        async with action_client(options.address or settings.action_address, settings.grpc, telemetry) as client:
            yield client, _context(options, settings)
    finally:
        await telemetry.aclose()


@asynccontextmanager
async def calling_observation(options: CallOptions) -> AsyncIterator[tuple[ObservationClient, CallContext]]:
    """Give a client of the observation service and the context of calls."""
    settings = load_settings(CliSettings)
    telemetry = Telemetry.build(settings.telemetry, "taoloop-cli")
    try:
        address = options.address or settings.observation_address
        async with observation_client(address, settings.grpc, telemetry) as client:
            yield client, _context(options, settings)
    finally:
        await telemetry.aclose()


@asynccontextmanager
async def calling_thought(options: CallOptions) -> AsyncIterator[tuple[ThoughtClient, CallContext]]:
    """Give a client of the thought service, which has no setting: the options name its address."""
    settings = load_settings(CliSettings)
    telemetry = Telemetry.build(settings.telemetry, "taoloop-cli")
    assert options.address is not None
    try:
        async with thought_client(options.address, settings.grpc, telemetry) as client:
            yield client, _context(options, settings)
    finally:
        await telemetry.aclose()


def read_json_file(path: Path, what: str) -> JsonValue:
    """Read a JSON file that the user named.

    Raises:
        InvalidRequest: It cannot be read, or is not JSON; the message says where.
    """
    try:
        return loads(path.read_bytes())
    except OSError as exc:
        raise _unusable(what, f"{path}: {exc.strerror or exc}") from exc
    except JsonSyntaxError as exc:
        raise _unusable(what, f"{path}:{exc.line}:{exc.column}: {exc.message}") from exc


def read_text_file(path: Path, what: str) -> str:
    """Read a text file that the user named.

    Raises:
        InvalidRequest: It cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as exc:
        raise _unusable(what, f"{path}: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise _unusable(what, f"{path}: byte {exc.start} is not UTF-8") from exc


def _context(options: CallOptions, settings: CliSettings) -> CallContext:
    return CallContext(
        deadline=Deadline.after(options.deadline_seconds, SystemClock()),
        tenant=options.tenant or settings.tenant,
        request_id=options.request_id or uuid.uuid4().hex,
    )


def _unusable(what: str, cause: str) -> InvalidRequest:
    return InvalidRequest(f"The {what} cannot be used: {cause}.", violations=(FieldViolation(what, cause),))
