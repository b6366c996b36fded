"""Calls a tool's real endpoint and says what its contract should have: pool, timeout, TLS."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from taoloop.action.faulting import transport_fault
from taoloop.action.ports import Reply, SecretSource, ToolCall, TransportFault
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.egress_guard import Egress
from taoloop.action.transports.http import AiohttpTransport
from taoloop.action.transports.http.pools import ToolPool
from taoloop.action.transports.http_request import with_base
from taoloop.core.clock import Clock
from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault
from taoloop.core.ids import new_id
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.tools.contract import Pool, ToolContract
from taoloop.tools.signature import Effect

DEFAULT_WATCH_SECONDS: Final = 75.0
"""How long a kept connection is watched for the server's close: a little more than nginx's, Apache's and Node's
defaults (75, 5 and 5 s)."""

CERTIFICATE_WARNING_DAYS: Final = 30

_LOOK_SECONDS: Final = 0.05
_KEEP_ALIVE_TIMEOUT: Final = re.compile(r"timeout\s*=\s*\"?([0-9]{1,6})", re.IGNORECASE)
_PROBE_TIMEOUT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where and how a tool is called."""

    bases: Mapping[str, str]
    secrets: SecretSource
    settings: ToolHttpSettings
    egress: Egress


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSeen:
    """The TLS of a connection.

    Attributes:
        version: Such as `TLSv1.3`.
        certificate_expires_at: Aware; None when the server's certificate was not checked.
    """

    version: str
    certificate_expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeAdvice:
    """What the contract, or the server, should have instead.

    Attributes:
        pointer: Field of the contract; empty when it is about the server.
        now: What stands there, or is in effect.
        should: What should.
        why: One sentence.
    """

    pointer: str
    now: str
    should: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """What a probe saw.

    Attributes:
        tool: Its name.
        fault: Why there was no whole answer; None when there was.
        status_code: Of the first answer; 0 when there was none.
        size_bytes: Of its decoded body.
        first_seconds: The first call, connecting included.
        second_seconds: The second one on the kept connection; None when none was made or kept.
        keeps_connections: Whether the server lets a connection be used again; None when that is not known.
        announced_keep_alive_seconds: What its `Keep-Alive` header says; None when it says nothing.
        measured_keep_alive_seconds: After how long it closed an idle connection; None when it did not in the
            time that was watched.
        watched_seconds: How long the idle connection was watched.
        tls: What TLS there was; None for plain text.
        advice: What should change.
    """

    tool: str
    fault: Fault | None = None
    status_code: int = 0
    size_bytes: int = 0
    first_seconds: float = 0.0
    second_seconds: float | None = None
    keeps_connections: bool | None = None
    announced_keep_alive_seconds: float | None = None
    measured_keep_alive_seconds: float | None = None
    watched_seconds: float = 0.0
    tls: TlsSeen | None = None
    advice: tuple[ProbeAdvice, ...] = ()


async def probe_tool(
    contract: ToolContract,
    arguments: dict[str, JsonValue],
    endpoint: Endpoint,
    clock: Clock,
    *,
    is_forced: bool = False,
    watch_seconds: float = DEFAULT_WATCH_SECONDS,
) -> ProbeReport:
    """Call the tool once, a read twice, and watch how long the server keeps the idle connection.

    Args:
        contract: The tool; over HTTP.
        arguments: Valid ones, such as those of its first sample.
        endpoint: Where it is.
        clock: Measures.
        is_forced: Whether a tool that writes is called too, once.
        watch_seconds: Longest wait for the server's close; 0 does not wait.

    Raises:
        InvalidRequest: The tool is not called over HTTP, or writes and `is_forced` is not set.
    """
    if contract.http is None:
        raise InvalidRequest(f"{contract.name} is not called over HTTP, so there is nothing to probe.")
    is_read = contract.effect is Effect.READ
    if not is_read and not is_forced:
        raise InvalidRequest(f"{contract.name} writes: a probe would have its effect. Force it if that is meant.")
    # One connection, kept by us for longer than it is watched, so that whoever closes it is the server.
    kept = Pool(size=1, idle_timeout_seconds=watch_seconds + 60.0)
    probed = replace(contract, pool=kept)
    transport = _WatchingTransport(endpoint)
    try:
        probe = _Probe(probed, arguments, transport, clock, with_base(contract.http, endpoint.bases).url)
        report = await probe.run(is_read=is_read, watch_seconds=watch_seconds)
    finally:
        await transport.aclose()
    return replace(report, advice=tuple(_advice(contract, endpoint.settings, report, clock.now())))


class _WatchingTransport(AiohttpTransport):
    """Remembers what the head of an answer tells."""

    def __init__(self, endpoint: Endpoint) -> None:
        telemetry = Telemetry.build(TelemetrySettings(), "taoloop-probe")
        super().__init__(endpoint.settings, endpoint.bases, endpoint.secrets, telemetry, egress=endpoint.egress)
        self.announced_seconds: float | None = None

    def watch(self, headers: Mapping[str, str]) -> None:
        found = _KEEP_ALIVE_TIMEOUT.search(headers.get("keep-alive", ""))
        self.announced_seconds = float(found[1]) if found else None


class _Probe:
    """The calls of one probe and what they showed."""

    def __init__(
        self,
        contract: ToolContract,
        arguments: dict[str, JsonValue],
        transport: _WatchingTransport,
        clock: Clock,
        url: str,
    ) -> None:
        self._contract = contract
        self._arguments = arguments
        self._transport = transport
        self._clock = clock
        self._url = url

    async def run(self, *, is_read: bool, watch_seconds: float) -> ProbeReport:
        report = ProbeReport(tool=self._contract.name)
        try:
            reply, seconds = await self._call()
        except TransportFault as fault:
            status = fault.received.status_code if fault.received is not None else 0
            return replace(report, fault=transport_fault(fault), status_code=status)
        report = replace(
            report,
            status_code=reply.status_code,
            size_bytes=len(reply.body),
            first_seconds=seconds,
            announced_keep_alive_seconds=self._transport.announced_seconds,
        )
        report = await self._kept_alive(report, is_read=is_read, watch_seconds=watch_seconds)
        return replace(report, tls=await _tls_of(self._pool(), self._url))

    async def _kept_alive(self, report: ProbeReport, *, is_read: bool, watch_seconds: float) -> ProbeReport:
        await self._clock.sleep(_LOOK_SECONDS)  # a connection that is given up closes a moment after the answer
        if self._kept() == 0:
            return replace(report, keeps_connections=False)
        if is_read:
            report = await self._again(report)
        return await self._watched(report, watch_seconds)

    async def _again(self, report: ProbeReport) -> ProbeReport:
        try:
            reply, seconds = await self._call()
        except TransportFault:
            return replace(report, keeps_connections=False)
        is_kept = reply.reused_connection
        return replace(report, second_seconds=seconds if is_kept else None, keeps_connections=is_kept)

    async def _watched(self, report: ProbeReport, limit_seconds: float) -> ProbeReport:
        began = self._clock.monotonic()
        while (waited := self._clock.monotonic() - began) < limit_seconds:
            if not self._kept():
                return replace(report, measured_keep_alive_seconds=waited, watched_seconds=waited)
            await self._clock.sleep(_LOOK_SECONDS)
        return replace(report, watched_seconds=waited)

    async def _call(self) -> tuple[Reply, float]:
        call = ToolCall(
            contract=self._contract,
            arguments=self._arguments,
            timeout_seconds=max(self._contract.timeout_seconds, _PROBE_TIMEOUT_SECONDS),
            thought_id=new_id(self._clock),
            idempotency_key=f"probe-{new_id(self._clock)}",
        )
        began = self._clock.monotonic()
        reply = await self._transport.attempt(call)
        return reply, self._clock.monotonic() - began

    def _pool(self) -> ToolPool:
        return self._transport.pools.pools[self._contract.name]

    def _kept(self) -> int:
        return self._pool().guard.open_connections


async def _tls_of(pool: ToolPool, base: str) -> TlsSeen | None:
    """Shake hands once more, since the client hides the connections that it has kept; None for plain text."""
    parts = urlsplit(base)
    host = parts.hostname or ""
    if parts.scheme != "https":
        return None
    context = pool.identity.context if pool.identity is not None else ssl.create_default_context()
    loop = asyncio.get_running_loop()
    infos = await loop.getaddrinfo(host, parts.port or 443, type=socket.SOCK_STREAM)
    made = pool.guard.make_socket(infos[0])
    try:
        async with asyncio.timeout(_PROBE_TIMEOUT_SECONDS):
            made.setblocking(False)
            await loop.sock_connect(made, infos[0][4])
            _, writer = await asyncio.open_connection(sock=made, ssl=context, server_hostname=host)
    except OSError:  # the calls before it succeeded: what is missing now is a detail
        made.close()
        return None
    tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
    expires = (tls.getpeercert() or {}).get("notAfter")
    writer.close()
    at = datetime.fromtimestamp(ssl.cert_time_to_seconds(expires), UTC) if isinstance(expires, str) else None
    return TlsSeen(version=tls.version() or "", certificate_expires_at=at)


def _advice(
    contract: ToolContract, settings: ToolHttpSettings, report: ProbeReport, now: datetime
) -> Iterator[ProbeAdvice]:
    if report.fault is not None:
        return
    yield from _pool_advice(contract, settings, report)
    slowest = max(report.first_seconds, report.second_seconds or 0.0)
    if slowest > contract.timeout_seconds / 2:
        why = f"A call took {slowest:.2f} s; a timeout that close to it turns slow moments into failures."
        yield ProbeAdvice(
            pointer="/spec/timeout", now=f"{contract.timeout_seconds:g}s", should=f"{slowest * 3:.1f}s", why=why
        )
    expires = report.tls.certificate_expires_at if report.tls is not None else None
    if expires is not None and (expires - now).days < CERTIFICATE_WARNING_DAYS:
        why = f"The server's certificate expires in {(expires - now).days} days."
        yield ProbeAdvice(pointer="", now=expires.date().isoformat(), should="a renewed certificate", why=why)


def _pool_advice(contract: ToolContract, settings: ToolHttpSettings, report: ProbeReport) -> Iterator[ProbeAdvice]:
    idle = contract.pool.idle_timeout_seconds if contract.pool is not None else settings.pool_idle_timeout_seconds
    if report.keeps_connections is False:
        why = "The server closes the connection after each answer, so every call connects anew."
        yield ProbeAdvice(pointer="", now="no keep-alive", should="keep-alive on the server", why=why)
        return
    known = [
        seconds
        for seconds in (report.announced_keep_alive_seconds, report.measured_keep_alive_seconds)
        if seconds is not None
    ]
    if known and idle >= min(known):
        should = min(known) * 0.8
        why = (
            f"The server closes an idle connection after {min(known):.1f} s; "
            "a call that is sent at that moment meets a closed one."
        )
        yield ProbeAdvice(pointer="/spec/pool/idle_timeout", now=f"{idle:g}s", should=f"{should:.2g}s", why=why)
