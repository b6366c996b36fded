"""The HTTP transport: one attempt from a contract to an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import aiohttp
from opentelemetry.trace import Span, SpanKind
from yarl import URL

from taoloop.action.egress.redirects import MAX_REDIRECTS, REDIRECT_STATUSES, Hop, redirect_decision
from taoloop.action.ports import Reply, SecretSource, ToolCall, TransportFault
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.egress_guard import Egress
from taoloop.action.transports.http.access_tokens import AccessToken, AccessTokens, read_token, token_fault
from taoloop.action.transports.http.certificates import ClientCertificates
from taoloop.action.transports.http.channel import Channel
from taoloop.action.transports.http.credentials import Authorisation, Credentials
from taoloop.action.transports.http.decoding import ACCEPTED_ENCODINGS, BodyTooLarge, EncodingBroken
from taoloop.action.transports.http.failures import Progress, exceeds_headers, translated
from taoloop.action.transports.http.pools import PooledCall, ToolPool, ToolPools
from taoloop.action.transports.http.sending import read_body
from taoloop.action.transports.http_request import (
    HttpRequest,
    RequestRefused,
    SentKey,
    build_request,
    path_template,
    placed_names,
    with_base,
)
from taoloop.core import pointers
from taoloop.core.clock import Clock, SystemClock
from taoloop.core.faults import FaultCode
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import Telemetry, names, tracing
from taoloop.core.telemetry.names import Attribute
from taoloop.tools.contract import Auth, HttpTransport, MutualTls, Pool, Redirects, ToolContract

_log = EventLog(__name__)

_MAX_TOKEN_RESPONSE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What every call of one contract has in common."""

    contract: ToolContract
    template: HttpTransport
    path: str
    span_name: str
    attributes: Mapping[Attribute, str | int | None]
    placed: frozenset[str]


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
    """

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
        self._settings = settings
        self._contracts: dict[str, _Prepared] = {}
        self._bases = bases
        default = Pool(size=settings.pool_size, idle_timeout_seconds=settings.pool_idle_timeout_seconds)
        self._pools = ToolPools(default, egress or Egress(), telemetry.metrics)
        tokens = AccessTokens(clock or SystemClock())
        self._credentials = Credentials(secrets, bases, tokens)
        self._certificates = ClientCertificates(secrets)
        self._refused = telemetry.metrics.counter(names.RESPONSE_REFUSED)
        self._exhausted = telemetry.metrics.counter(names.POOL_EXHAUSTED)
        self._stale = telemetry.metrics.counter(names.STALE_CONNECTIONS)
        self._forbidden = telemetry.metrics.counter(names.EGRESS_REFUSED)
        self._token_requests = telemetry.metrics.counter(names.TOKEN_REQUESTS)
        self._tracing = telemetry.tracing

    @property
    def pools(self) -> ToolPools:
        """The connections, for those who look at their state."""
        return self._pools

    async def attempt(self, call: ToolCall) -> Reply:
        """Make one attempt; see `Transport.attempt`.

        The request is sent again only where the server said that it was not carried out: on a redirect that the
        contract allows, and once on a 401 to an access token, which may have aged.
        """
        prepared = self._prepared(call.contract)
        built = _request(prepared, call)
        with self._tracing.span(prepared.span_name, prepared.attributes, kind=SpanKind.CLIENT) as span:
            request = _traced(built, call.thought_id, span)
            if not span.is_recording():
                return await self._bounded(call, prepared.template, request)
            if call.resend_count:
                span.set_attribute(Attribute.HTTP_RESEND_COUNT, call.resend_count)
            reply = await self._bounded(call, prepared.template, request)
            span.set_attribute(Attribute.HTTP_STATUS_CODE, reply.status_code)
            span.set_attribute(Attribute.HTTP_RESPONSE_BODY_BYTES, len(reply.body))
            return reply

    async def aclose(self) -> None:
        """Close every pool."""
        await self._pools.aclose()

    def _prepared(self, contract: ToolContract) -> _Prepared:
        """Return what every call of a contract has in common, worked out at its first."""
        prepared = self._contracts.get(contract.name)
        if prepared is None or prepared.contract is not contract:
            template = self._template(contract)
            placed = frozenset(placed_names(template))
            path = path_template(template.url)
            span_name = names.http_span(template.method.upper(), path)
            prepared = _Prepared(contract, template, path, span_name, _attributes(contract, template, path), placed)
            self._contracts[contract.name] = prepared
        return prepared

    def _template(self, contract: ToolContract) -> HttpTransport:
        if contract.http is None:
            message = f"The tool {contract.name} has no HTTP transport."
            raise TransportFault(FaultCode.NOT_YET_SUPPORTED, message, may_have_left=False)
        try:
            return with_base(contract.http, self._bases)
        except RequestRefused as exc:
            raise TransportFault(FaultCode.TOOL_UNREACHABLE, _sentence(exc.message), may_have_left=False) from exc

    async def _bounded(self, call: ToolCall, template: HttpTransport, request: HttpRequest) -> Reply:
        progress = Progress()
        try:
            async with asyncio.timeout(call.timeout_seconds):
                with translated(progress):
                    return await self._authorised(call, template, request, progress)
        except TimeoutError as exc:
            raise self._timed_out(call, progress) from exc
        except TransportFault as fault:
            if fault.code in {FaultCode.EGRESS_FORBIDDEN, FaultCode.REDIRECT_FORBIDDEN}:
                self._forbidden.labels(tool=call.contract.name, reason=str(fault.code).lower()).inc()
            raise

    def _timed_out(self, call: ToolCall, progress: Progress) -> TransportFault:
        seconds = f"{call.timeout_seconds:g} s"
        if progress.is_queued:
            self._exhausted.labels(tool=call.contract.name).inc()
            message = f"No connection of the tool's pool was free within {seconds}."
            return progress.fault(FaultCode.POOL_EXHAUSTED, message, is_retriable=True)
        what = "The answer did not end" if progress.status_code else "No answer came"
        return progress.fault(FaultCode.TOOL_TIMEOUT, f"{what} within {seconds}.", is_retriable=True)

    async def _authorised(
        self, call: ToolCall, template: HttpTransport, request: HttpRequest, progress: Progress
    ) -> Reply:
        contract = call.contract
        if template.auth is None:
            async with await self._pools.of_tool(contract.name, contract.pool) as pool:
                pool.admit(request.url, is_base=True)
                return await _Exchange(self, call, template.redirects, pool, progress).run(request)
        async with self.channel(contract.name, request.url, template.auth, contract.pool) as channel:
            first = await channel.authorise()
            exchange = _Exchange(self, call, template.redirects, channel.pool, progress)
            reply = await exchange.run(first.applied(request))
            if reply.status_code != 401 or not channel.forget(first):
                return reply
            second = await channel.authorise()
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
                pool.admit(request.url, is_base=True)
                await self.send(pool, request, progress, _MAX_TOKEN_RESPONSE_BYTES)
            token = read_token(progress.status_code, bytes(progress.received))
        except TransportFault as fault:
            outcome(tool=pool.name, outcome="failed").inc()
            if fault.code in {FaultCode.CREDENTIAL_REFUSED, FaultCode.EGRESS_FORBIDDEN}:
                raise
            cause = fault.message[:1].lower() + fault.message[1:].rstrip(".")
            raise token_fault(cause, is_retriable=fault.is_retriable) from fault
        outcome(tool=pool.name, outcome="fetched").inc()
        return token

    async def send(self, pool: ToolPool, request: HttpRequest, progress: Progress, limit_bytes: int) -> None:
        """Send a request once and read the answer into `progress`, decoded.

        Raises:
            TransportFault: The body is too large, or not in its encoding.
            aiohttp.ClientError: Whatever else went wrong.
        """
        progress.begin_hop()
        with PooledCall(pool, progress):
            async with pool.session.request(
                request.method,
                URL(request.url, encoded=True),
                headers=request.headers,
                data=request.body,
                allow_redirects=False,
            ) as response:
                self.watch(response.headers)
                progress.status_code = response.status
                progress.content_type = _media_type(response.headers.get("Content-Type", ""))
                progress.retry_after = response.headers.get("Retry-After", "")
                progress.location = response.headers.get("Location", "")
                try:
                    await read_body(response, progress, limit_bytes)
                except BodyTooLarge as exc:
                    self._refused.labels(tool=pool.name, limit="max_response_bytes").inc()
                    response.close()
                    raise progress.fault(FaultCode.RESPONSE_TOO_LARGE, str(exc)) from exc
                except EncodingBroken as exc:
                    response.close()
                    message = f"The body's encoding is broken: {exc}."
                    raise progress.fault(FaultCode.RESPONSE_MALFORMED, message) from exc

    def watch(self, headers: Mapping[str, str]) -> None:
        """See the headers of each answer: for those who study a server, nothing here."""

    async def exchange(self, pool: ToolPool, request: HttpRequest, progress: Progress) -> None:
        """Send a tool's request; a kept connection that turned out to be closed is counted, never made up for here.

        Server and client may both give up an idle connection. Whether the request may be sent again is for the
        one layer that repeats.
        """
        try:
            await self.send(pool, request, progress, self._settings.max_response_bytes)
        except aiohttp.ClientResponseError as exc:
            if exceeds_headers(exc):
                self._refused.labels(tool=pool.name, limit="response_headers").inc()
            raise
        except aiohttp.ClientConnectionError:
            if progress.reused_connection and not progress.status_code:
                self._stale.labels(tool=pool.name).inc()
            raise

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
    """One request with the redirects that its contract lets it follow."""

    def __init__(
        self, transport: AiohttpTransport, call: ToolCall, redirects: Redirects, pool: ToolPool, progress: Progress
    ) -> None:
        self._transport = transport
        self._call = call
        self._redirects = redirects
        self._pool = pool
        self._progress = progress

    async def run(self, request: HttpRequest) -> Reply:
        """Return the answer that is no redirect, or any answer when none is followed."""
        progress, pool = self._progress, self._pool
        for _ in range(MAX_REDIRECTS + 1):
            await self._transport.exchange(pool, request, progress)
            is_redirect = progress.status_code in REDIRECT_STATUSES and self._redirects is not Redirects.NONE
            if not is_redirect:
                return progress.reply()
            request, pool = self._next(request, pool)
        raise self._forbidden(f"there were more than {MAX_REDIRECTS}")

    def _next(self, request: HttpRequest, pool: ToolPool) -> tuple[HttpRequest, ToolPool]:
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
            pool.admit(decision.url, is_base=False)
        except TransportFault as fault:
            raise self._forbidden(fault.message.rstrip(".")) from fault
        body = request.body if decision.keeps_body else None
        return HttpRequest(method=decision.method, url=decision.url, headers=dict(decision.headers), body=body), pool

    def _forbidden(self, reason: str) -> TransportFault:
        return self._progress.fault(FaultCode.REDIRECT_FORBIDDEN, f"A redirect was not followed: {reason}.")


def _request(prepared: _Prepared, call: ToolCall) -> HttpRequest:
    place = call.contract.idempotency
    key = SentKey(place, call.idempotency_key) if place is not None and call.idempotency_key else None
    try:
        return build_request(prepared.template, call.arguments, key, prepared.placed)
    except RequestRefused as exc:
        pointer = pointers.join(exc.parameter) if exc.parameter else ""
        raise TransportFault(
            FaultCode.INVALID_PARAMETER, _sentence(exc.message), may_have_left=False, pointer=pointer
        ) from exc


def _attributes(contract: ToolContract, template: HttpTransport, path: str) -> Mapping[Attribute, str | int | None]:
    """Return what the span of each call tells; no argument of a call changes the server."""
    try:
        target = URL(template.url.removesuffix(path) if path != "/" else template.url)
        port = target.port
    except ValueError as exc:
        message = f"The URL of the tool {contract.name} is malformed."
        raise TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False) from exc
    return {
        Attribute.HTTP_METHOD: template.method.upper(),
        Attribute.URL_TEMPLATE: path,
        Attribute.URL_SCHEME: target.scheme,
        Attribute.SERVER_ADDRESS: target.host,
        Attribute.SERVER_PORT: port,
    }


def _traced(request: HttpRequest, thought_id: str, span: Span) -> HttpRequest:
    headers = {**request.headers, "X-Request-ID": thought_id, **tracing.headers_of(span)}
    headers["X-Trace-ID"] = tracing.trace_id_of(span)
    headers.setdefault("Accept-Encoding", ACCEPTED_ENCODINGS)
    return HttpRequest(method=request.method, url=request.url, headers=headers, body=request.body)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _media_type(header: str) -> str:
    return header.partition(";")[0].strip().lower()
