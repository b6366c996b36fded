"""The transport to gRPC services: arguments as a message, the reply or the status as an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.trace import Span, SpanKind

from taoloop.action.egress.rules import EgressRules
from taoloop.action.ports import Reply, SecretSource, ToolCall, TransportFault
from taoloop.action.transports.bound_keys import with_body_key
from taoloop.action.transports.grpc_methods.credentials import identity_of, metadata_of
from taoloop.action.transports.grpc_methods.links import Link, LinkKey, Links
from taoloop.action.transports.grpc_methods.servers import judged_addresses, server_of
from taoloop.action.transports.grpc_methods.statuses import status_reply
from taoloop.action.transports.secret_echoes import masked, secrets_of
from taoloop.core import exact_json, pointers
from taoloop.core.faults import FaultCode
from taoloop.core.settings import GrpcSettings
from taoloop.core.telemetry import Telemetry, names, tracing
from taoloop.core.telemetry.names import Attribute
from taoloop.tools.contract import GrpcTransport, KeyLocation
from taoloop.wire.foreign.channel import ForeignStatus
from taoloop.wire.foreign.errors import AnswerUnreadable, NotConnected, RequestUnfit
from taoloop.wire.foreign.messages import decode_reply, encode_request

Metadata = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Progress:
    """How far one attempt came."""

    has_sent: bool = False

    def fault(self, code: FaultCode, message: str, *, is_retriable: bool = False) -> TransportFault:
        return TransportFault(code, message, may_have_left=self.has_sent, is_retriable=is_retriable)


class GrpcMethodTransport:
    """A `Transport` to unary methods of servers of any make.

    Tools of one server and identity share one channel. Nothing is repeated, and no name is resolved by the library:
    a connection goes to an address that was judged.

    Args:
        settings: Sizes and keepalive.
        bases: Name → base URL.
        secrets: Where credentials come from.
        telemetry: Counts what was refused and makes the client span.
        rules: Where connections may go.
        directory: Where descriptor sets are.
    """

    def __init__(
        self,
        settings: GrpcSettings,
        bases: Mapping[str, str],
        secrets: SecretSource,
        telemetry: Telemetry,
        *,
        rules: EgressRules,
        directory: Path,
    ) -> None:
        self._max_message_bytes = settings.max_message_bytes
        self._bases = bases
        self._secrets = secrets
        self._rules = rules
        self._links = Links(settings, directory)
        self._tracing = telemetry.tracing
        self._refused = telemetry.metrics.counter(names.RESPONSE_REFUSED)
        self._forbidden = telemetry.metrics.counter(names.EGRESS_REFUSED)

    async def attempt(self, call: ToolCall) -> Reply:
        """Make one attempt; see `Transport.attempt`."""
        transport = call.contract.transport
        assert isinstance(transport, GrpcTransport)
        attributes = {Attribute.RPC_SYSTEM: "grpc", Attribute.RPC_METHOD: transport.method}
        with self._tracing.span(transport.method, attributes, kind=SpanKind.CLIENT) as span:
            return await self._bounded(call, transport, span)

    async def _bounded(self, call: ToolCall, transport: GrpcTransport, span: Span) -> Reply:
        progress = _Progress()
        try:
            async with asyncio.timeout(call.timeout_seconds):
                return await self._called(call, transport, progress, span)
        except TimeoutError as exc:
            raise _late(call, progress) from exc
        except AnswerUnreadable as exc:
            message = f"{str(exc)[:1].upper()}{str(exc)[1:]}."
            if exc.is_too_large:
                self._refused.labels(tool=call.contract.name, limit="max_message_bytes").inc()
                raise progress.fault(FaultCode.RESPONSE_TOO_LARGE, message) from exc
            raise progress.fault(FaultCode.RESPONSE_MALFORMED, message) from exc
        except TransportFault as fault:
            if fault.code == FaultCode.EGRESS_FORBIDDEN:
                self._forbidden.labels(tool=call.contract.name, reason="egress_forbidden").inc()
            raise

    async def _called(self, call: ToolCall, transport: GrpcTransport, progress: _Progress, span: Span) -> Reply:
        server = server_of(transport.base, self._bases)
        credentials = await metadata_of(transport.auth, server, self._secrets)
        identity = await identity_of(transport.auth, server, self._secrets)
        addresses = await judged_addresses(server, self._rules)
        span.set_attribute(Attribute.SERVER_ADDRESS, server.host)
        span.set_attribute(Attribute.SERVER_PORT, server.port)
        scheme = "https" if server.is_secure else "http"
        key: LinkKey = (f"{scheme}://{server.authority}", addresses, identity.fingerprint)
        async with self._links.held(key, server.authority, identity.tls) as link:
            try:
                await link.channel.connected()
            except NotConnected as exc:
                self._links.drop(key, link)
                message = "No connection to the tool could be made."
                raise progress.fault(FaultCode.TOOL_UNREACHABLE, message, is_retriable=True) from exc
            reply = await self._exchanged(call, transport, link, credentials, progress, span)
            return masked(reply, secrets_of(*(value for _, value in credentials))) if credentials else reply

    async def _exchanged(
        self,
        call: ToolCall,
        transport: GrpcTransport,
        link: Link,
        credentials: Metadata,
        progress: _Progress,
        span: Span,
    ) -> Reply:
        method = await self._links.method(link, transport, credentials)
        arguments, keys = _with_key(call)
        try:
            request = encode_request(method, arguments)
        except RequestUnfit as exc:
            raise _unfit(str(exc), exc.field) from exc
        if len(request) > self._max_message_bytes:
            raise _unfit(f"the request has more than {self._max_message_bytes} bytes", "")
        metadata = (*_trace_metadata(call), *keys, *credentials)
        progress.has_sent = True
        answer = await link.channel.unary(method.path, request, metadata, call.timeout_seconds)
        if isinstance(answer, ForeignStatus):
            return self._failed(call, link, answer, progress, span)
        span.set_attribute(Attribute.RPC_STATUS_CODE, "OK")
        body = exact_json.dumps(decode_reply(method, answer)).encode()
        is_reused, link.has_carried = link.has_carried, True
        return Reply(status_code=200, content_type="application/json", body=body, reused_connection=is_reused)

    def _failed(self, call: ToolCall, link: Link, status: ForeignStatus, progress: _Progress, span: Span) -> Reply:
        span.set_attribute(Attribute.RPC_STATUS_CODE, status.code)
        if status.code == "UNIMPLEMENTED":
            link.methods.clear()  # the server may have been replaced: the next attempt asks again what it has
        if status.code == "DEADLINE_EXCEEDED":
            raise _late(call, progress)
        return status_reply(status)

    async def aclose(self) -> None:
        """Close every channel."""
        await self._links.aclose()

    def __repr__(self) -> str:
        return f"GrpcMethodTransport({self._links!r})"


@asynccontextmanager
async def grpc_transport(
    settings: GrpcSettings,
    bases: Mapping[str, str],
    secrets: SecretSource,
    telemetry: Telemetry,
    *,
    rules: EgressRules,
    directory: Path,
) -> AsyncIterator[GrpcMethodTransport]:
    """Open the transport and close its channels at the end."""
    transport = GrpcMethodTransport(settings, bases, secrets, telemetry, rules=rules, directory=directory)
    try:
        yield transport
    finally:
        await transport.aclose()


def _late(call: ToolCall, progress: _Progress) -> TransportFault:
    message = f"No answer came within {call.timeout_seconds:g} s."
    return progress.fault(FaultCode.TOOL_TIMEOUT, message, is_retriable=True)


def _unfit(cause: str, field: str) -> TransportFault:
    message = f"The arguments are no request of the method: {cause}."
    pointer = pointers.join(*field.split(".")) if field else ""
    return TransportFault(FaultCode.INVALID_PARAMETER, message, may_have_left=False, pointer=pointer)


def _with_key(call: ToolCall) -> tuple[dict[str, exact_json.JsonValue], Metadata]:
    """Return the arguments and the metadata with the idempotency key in the one that the contract declares."""
    place = call.contract.idempotency
    if place is not None and call.idempotency_key and place.location is KeyLocation.HEADER:
        return call.arguments, ((place.name.lower(), call.idempotency_key),)
    return with_body_key(call), ()


def _trace_metadata(call: ToolCall) -> Metadata:
    carrier: dict[str, str] = {}
    tracing.inject(carrier)
    return (*carrier.items(), ("x-request-id", call.thought_id), ("x-trace-id", tracing.current_trace_id()))
