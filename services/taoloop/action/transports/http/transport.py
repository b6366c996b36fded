"""The HTTP transport: one attempt from a contract to an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, Final

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from opentelemetry.trace import SpanKind

from taoloop.action.egress.redirects import (
    MAX_REDIRECTS,
    REDIRECT_STATUSES,
    REPEATING_STATUSES,
    Hop,
    redirect_decision,
)
from taoloop.action.ports import Reply, SecretSource, ToolCall, TransportFault
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.egress_guard import Egress
from taoloop.action.transports.http.access_tokens import AccessToken, AccessTokens, read_token, token_fault
from taoloop.action.transports.http.answering import Outbox, read_body, took_whole
from taoloop.action.transports.http.certificates import ClientCertificates
from taoloop.action.transports.http.channel import Channel
from taoloop.action.transports.http.credentials import Authorisation, Credentials
from taoloop.action.transports.http.decoding import ACCEPTED_ENCODINGS, BodyTooLarge, EncodingBroken
from taoloop.action.transports.http.failures import LIBRARY_FAILURES, Progress, exceeds_headers, fault_of, translated
from taoloop.action.transports.http.plain_answers import HeadLimits
from taoloop.action.transports.http.pools import ToolPool, ToolPools
from taoloop.action.transports.http.preparing import Prepared, prepare, request_of
from taoloop.action.transports.http.time_limits import NEVER, TimeLimits
from taoloop.action.transports.http.wire import Route, is_interim
from taoloop.action.transports.http_request import (
    HttpRequest,
)
from taoloop.core.clock import Clock, SystemClock
from taoloop.core.faults import FaultCode
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import Telemetry, names, tracing
from taoloop.core.telemetry.names import Attribute
from taoloop.tools.contract import Auth, HttpTransport, MutualTls, Pool, Redirects, ToolContract

_log = EventLog(__name__)

_MAX_TOKEN_RESPONSE_BYTES: Final = 64 * 1024


class AiohttpTransport:
    """A `Transport` with a connection pool of its own for every tool.

    Redirects are followed as the contract allows, cookies not kept, proxies of the environment not used.

    Args:
        settings: Sizes and limits.
        bases: Name → base URL, from the catalogue and the operator, never from a request.
        secrets: Where credentials come from.
        telemetry: Counts what was refused and makes the client span that the tool's own trace hangs on.
        egress: Where connections may go; None for public addresses and what the bases name as addresses.
        clock: Tells the age of access tokens; None for the system's.

    Attributes:
        limit_bytes: Largest decoded body of a tool's answer.
        watch: Sees the headers of each answer, for those who study a server.
    """

    watch: Callable[[Mapping[str, str]], None] | None = None

    def __init__(
        self,
        settings: ToolHttpSettings,
        bases: Mapping[str, str],
        secrets: SecretSource,
        telemetry: Telemetry,
        *,
        egress: Egress | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.limit_bytes = settings.max_response_bytes
        self._contracts: dict[str, Prepared] = {}
        self._bases = bases
        default = Pool(size=settings.pool_size, idle_timeout_seconds=settings.pool_idle_timeout_seconds)
        heads = HeadLimits(max_header_bytes=settings.max_header_bytes, max_headers=settings.max_headers)
        self._pools = ToolPools(default, egress or Egress(), telemetry.metrics, heads)
        tokens = AccessTokens(clock or SystemClock())
        self._credentials = Credentials(secrets, bases, tokens)
        self._certificates = ClientCertificates(secrets)
        self._refused = telemetry.metrics.counter(names.RESPONSE_REFUSED)
        self._exhausted = telemetry.metrics.counter(names.POOL_EXHAUSTED)
        self._stale = telemetry.metrics.counter(names.STALE_CONNECTIONS)
        self._forbidden = telemetry.metrics.counter(names.EGRESS_REFUSED)
        self._token_requests = telemetry.metrics.counter(names.TOKEN_REQUESTS)
        self._tracing = telemetry.tracing
        self._limits = TimeLimits()
        self._outbox = Outbox()

    @property
    def pools(self) -> ToolPools:
        """The connections, for those who look at their state."""
        return self._pools

    def attempt(self, call: ToolCall) -> Coroutine[Any, Any, Reply]:
        """Make one attempt; see `Transport.attempt`.

        The request is sent again only where the server said that it was not carried out: on a redirect that the
        contract allows, and once on a 401 to an access token, which may have aged.
        """
        contract = call.contract
        prepared = self._contracts.get(contract.name)
        if prepared is None or prepared.contract is not contract:
            prepared = self._contracts[contract.name] = prepare(contract, self._bases)
        request = request_of(prepared, call)
        span = self._tracing.unrecorded()
        if span is None:
            return self._recorded(call, prepared, request)
        _trace(request, call.thought_id, span.headers, span.trace_id)
        return self._bounded(call, prepared, request)

    async def _recorded(self, call: ToolCall, prepared: Prepared, request: HttpRequest) -> Reply:
        with self._tracing.span(prepared.span_name, prepared.attributes, kind=SpanKind.CLIENT) as span:
            _trace(request, call.thought_id, tracing.headers_of(span), tracing.trace_id_of(span))
            if call.resend_count:
                span.set_attribute(Attribute.HTTP_RESEND_COUNT, call.resend_count)
            reply = await self._bounded(call, prepared, request)
            span.set_attribute(Attribute.HTTP_STATUS_CODE, reply.status_code)
            span.set_attribute(Attribute.HTTP_RESPONSE_BODY_BYTES, len(reply.body))
            return reply

    async def aclose(self) -> None:
        """Close every pool."""
        self._limits.close()
        await self._pools.aclose()

    async def _bounded(self, call: ToolCall, prepared: Prepared, request: HttpRequest) -> Reply:
        progress, contract = Progress(), call.contract
        try:
            if not prepared.is_one_exchange:
                return await self._led(call, prepared.template, request, progress)
            ends_at = asyncio.get_running_loop().time() + call.timeout_seconds
            # Only a change of TLS identity retires a pool: one without any need not be held.
            pool = self._pools.known(contract.name) or await self._pools.of_tool(contract.name, contract.pool)
            route = pool.routes.get(prepared.origin) or pool.admit(request.url, is_base=True)
            await self.send(pool, route, request, progress, self.limit_bytes, ends_at)
            return progress.reply()
        except TimeoutError as exc:
            raise self._timed_out(call, progress) from exc
        except LIBRARY_FAILURES as exc:
            raise self._counted(fault_of(exc, progress), contract) from exc
        except TransportFault as fault:
            self._counted(fault, contract)
            raise

    async def _led(self, call: ToolCall, template: HttpTransport, request: HttpRequest, progress: Progress) -> Reply:
        """Make an attempt that may take several requests, all of them within its time."""
        with self._limits.within(call.timeout_seconds):
            if template.auth is not None:
                return await self._authorised(call, template.auth, request, progress)
            async with await self._pools.of_tool(call.contract.name, call.contract.pool) as pool:
                return await _Exchange(self, call, template.redirects, pool, progress).run(request)

    def _counted(self, fault: TransportFault, contract: ToolContract) -> TransportFault:
        if fault.code in {FaultCode.EGRESS_FORBIDDEN, FaultCode.REDIRECT_FORBIDDEN}:
            self._forbidden.labels(tool=contract.name, reason=str(fault.code).lower()).inc()
        return fault

    def _timed_out(self, call: ToolCall, progress: Progress) -> TransportFault:
        seconds = f"{call.timeout_seconds:g} s"
        if progress.is_queued:
            self._exhausted.labels(tool=call.contract.name).inc()
            message = f"No connection of the tool's pool was free within {seconds}."
            return progress.fault(FaultCode.POOL_EXHAUSTED, message, is_retriable=True)
        what = "The answer did not end" if progress.status_code else "No answer came"
        return progress.fault(FaultCode.TOOL_TIMEOUT, f"{what} within {seconds}.", is_retriable=True)

    async def _authorised(self, call: ToolCall, auth: Auth, request: HttpRequest, progress: Progress) -> Reply:
        contract, http = call.contract, call.contract.http
        assert http is not None
        async with self.channel(contract.name, request.url, auth, contract.pool) as channel:
            first = await channel.authorise()
            progress.secrets = first.secrets
            exchange = _Exchange(self, call, http.redirects, channel.pool, progress)
            reply = await exchange.run(first.applied(request))
            if reply.status_code != 401 or not channel.forget(first) or exchange.has_followed:
                return reply  # behind a redirect, 401 is no answer to the request: that may have been carried out
            second = await channel.authorise()
            progress.secrets += second.secrets
            return await exchange.run(second.applied(request)) if second.token != first.token else reply

    @asynccontextmanager
    async def channel(self, name: str, url: str, auth: Auth | None, limits: Pool | None) -> AsyncIterator[Channel]:
        """Open the way to a server, whose pool has the name of its tool.

        Raises:
            TransportFault: EGRESS_FORBIDDEN, CREDENTIAL_MISSING or CREDENTIAL_REFUSED.
        """
        identity = await self._certificates.identity(auth) if isinstance(auth, MutualTls) else None
        async with await self._pools.of_tool(name, limits, identity) as pool:
            pool.admit(url, is_base=True)

            async def authorise() -> Authorisation:
                return await self._credentials.authorise(name, auth, lambda wanted: self._fetch_token(pool, wanted))

            yield Channel(pool, authorise, self._credentials.forget)

    async def _fetch_token(self, pool: ToolPool, request: HttpRequest) -> AccessToken:
        outcome = self._token_requests.labels
        progress = Progress()
        try:
            with translated(progress):
                route = pool.admit(request.url, is_base=True)
                await self.send(pool, route, request, progress, _MAX_TOKEN_RESPONSE_BYTES)
            token = read_token(progress.status_code, bytes(progress.received))
        except TransportFault as fault:
            outcome(tool=pool.name, outcome="failed").inc()
            if fault.code in {FaultCode.CREDENTIAL_REFUSED, FaultCode.EGRESS_FORBIDDEN}:
                raise
            cause = fault.message[:1].lower() + fault.message[1:].rstrip(".")
            raise token_fault(cause, is_retriable=fault.is_retriable) from fault
        outcome(tool=pool.name, outcome="fetched").inc()
        return token

    async def send(
        self,
        pool: ToolPool,
        route: Route,
        request: HttpRequest,
        progress: Progress,
        limit_bytes: int,
        ends_at: float = NEVER,
    ) -> None:
        """Send a request once and read the answer into `progress`, decoded, until a moment of the event loop's clock.

        Raises:
            TransportFault: The body is too large, or not in its encoding.
            TimeoutError: The time was over before the answer had ended.
            aiohttp.ClientError: The connection broke, or none could be made.
            HttpProcessingError: The answer is no HTTP.
        """
        head, limits = route.head(request), self._limits
        connection = pool.kept(route, progress)
        if connection is None:
            with limits.until(ends_at):
                connection = await pool.connection(route, progress)
        try:
            # A request that has none beside it is not kept waiting.
            outbox = self._outbox if limits.open else None
            arrival = connection.ask(request.method, head, request.body, pool.head, outbox)
            connection.ends_at = ends_at
            limits.watch(connection)
            try:
                await arrival
            finally:
                limits.open.discard(connection)
            status_code, headers, content = connection.answered()
            while status_code < 200 and is_interim(status_code):
                with limits.until(ends_at):
                    message, content = await connection.read()
                status_code, headers = message.code, message.headers
            if self.watch is not None:
                self.watch(headers)
            encoding = _see(status_code, headers, progress)
            if not took_whole(content, encoding, progress, limit_bytes):
                with limits.until(ends_at):
                    await read_body(content, encoding, progress, limit_bytes)
        except BaseException as exc:
            pool.drop(route, connection)
            failure = self._failure(exc, pool, progress)
            if failure is not None:
                raise failure from exc
            raise
        pool.give_back(route, connection, request.body, status_code)

    def _failure(self, error: BaseException, pool: ToolPool, progress: Progress) -> TransportFault | None:
        """Count what broke an exchange; return its fault where the answer itself is at fault."""
        if isinstance(error, BodyTooLarge):
            self._refused.labels(tool=pool.name, limit="max_response_bytes").inc()
            return progress.fault(FaultCode.RESPONSE_TOO_LARGE, str(error))
        if isinstance(error, EncodingBroken):
            return progress.fault(FaultCode.RESPONSE_MALFORMED, f"The body's encoding is broken: {error}.")
        if isinstance(error, HttpProcessingError) and exceeds_headers(error):
            self._refused.labels(tool=pool.name, limit="response_headers").inc()
        has_no_answer = progress.reused_connection and not progress.status_code
        if isinstance(error, aiohttp.ClientConnectionError) and has_no_answer:
            # Server and client may both give up an idle connection. Whether the request may be sent again is for the
            # one layer that repeats: it is counted here, never made up for.
            self._stale.labels(tool=pool.name).inc()
        return None

    def __repr__(self) -> str:
        return f"AiohttpTransport(pools={self._pools!r})"


@asynccontextmanager
async def http_transport(
    settings: ToolHttpSettings,
    bases: Mapping[str, str],
    secrets: SecretSource,
    telemetry: Telemetry,
    *,
    egress: Egress | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[AiohttpTransport]:
    """Open the transport and close its pools at the end."""
    transport = AiohttpTransport(settings, bases, secrets, telemetry, egress=egress, clock=clock)
    try:
        yield transport
    finally:
        await transport.aclose()


class _Exchange:
    """One request with the redirects that its contract lets it follow.

    Attributes:
        has_followed: Whether there was one.
    """

    def __init__(
        self, transport: AiohttpTransport, call: ToolCall, redirects: Redirects, pool: ToolPool, progress: Progress
    ) -> None:
        self._transport = transport
        self._call = call
        self._redirects = redirects
        self._pool = pool
        self._progress = progress
        self.has_followed = False

    async def run(self, request: HttpRequest) -> Reply:
        """Return the answer that is no redirect, or any answer when none is followed."""
        progress, pool = self._progress, self._pool
        route = pool.admit(request.url, is_base=True)
        for _ in range(MAX_REDIRECTS + 1):
            progress.begin_hop()
            await self._transport.send(pool, route, request, progress, self._transport.limit_bytes)
            is_redirect = progress.status_code in REDIRECT_STATUSES and self._redirects is not Redirects.NONE
            if not is_redirect:
                return progress.reply()
            request, pool, route = self._next(request, pool)
            self.has_followed = True
            progress.is_aftermath = progress.is_aftermath or progress.status_code not in REPEATING_STATUSES
        raise self._forbidden(f"there were more than {MAX_REDIRECTS}")

    def _next(self, request: HttpRequest, pool: ToolPool) -> tuple[HttpRequest, ToolPool, Route]:
        hop = Hop(
            method=request.method,
            url=request.url,
            headers=tuple(request.headers.items()),
            status=self._progress.status_code,
            location=self._progress.location,
        )
        decision = redirect_decision(hop, allows_other_origins=self._redirects is Redirects.ANY_ORIGIN)
        if not decision.is_followed:
            raise self._forbidden(decision.reason)
        if decision.is_other_origin:
            contract = self._call.contract
            pool = self._transport.pools.elsewhere(contract.name, contract.pool)
            _log.info("credentials_dropped", tool=contract.name, headers=", ".join(decision.dropped)[:200])
        try:
            route = pool.admit(decision.url, is_base=False)
        except TransportFault as fault:
            raise self._forbidden(fault.message.rstrip(".")) from fault
        body = request.body if decision.keeps_body else None
        headers = dict(decision.headers)
        return HttpRequest(method=decision.method, url=decision.url, headers=headers, body=body), pool, route

    def _forbidden(self, reason: str) -> TransportFault:
        return self._progress.fault(FaultCode.REDIRECT_FORBIDDEN, f"A redirect was not followed: {reason}.")


def _trace(request: HttpRequest, thought_id: str, headers_of_trace: Mapping[str, str], trace_id: str) -> None:
    """Add what ties the request to its thought and its trace."""
    headers = request.headers
    headers["X-Request-ID"] = thought_id
    headers.update(headers_of_trace)
    headers["X-Trace-ID"] = trace_id
    headers.setdefault("Accept-Encoding", ACCEPTED_ENCODINGS)


def _see(status_code: int, headers: Mapping[str, str], progress: Progress) -> str:
    """Note the head of an answer, whose headers are found by their lower-case names; return the body's encoding."""
    find = headers.get
    progress.status_code = status_code
    progress.content_type = _media_type(find("content-type", ""))
    progress.retry_after = find("retry-after", "")
    if status_code in REDIRECT_STATUSES:
        progress.location = find("location", "")
    return find("content-encoding", "")


@lru_cache(maxsize=1024)
def _media_type(header: str) -> str:
    return header.partition(";")[0].strip().lower()
