"""A chat model behind any OpenAI-compatible server, reached over HTTP by aiohttp."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Self

import aiohttp

from taoloop.core.clock import Clock, SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.models.chat_answer import ReplyInPieces, refusal
from taoloop.models.chat_wire import body_of, surely_exceeds
from taoloop.models.event_stream import DONE, EventStream
from taoloop.models.ports import ChatReply, ChatRequest, ModelFailed, ModelFailureKind
from taoloop.models.profiles.model import ModelProfile

_READ_BYTES: Final = 64 * 1024
_MAX_ERROR_BYTES: Final = 16 * 1024
_MAX_RETRY_AFTER_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """Where a model is served.

    Attributes:
        url: Base URL, such as `http://127.0.0.1:8000/v1`; `/chat/completions` is added.
        model: The model's name there.
        api_key: Bearer token; empty for none.
        timeout_seconds: Longest time of one reply.
        silence_seconds: Longest pause within a streamed reply, once it has begun.
        max_reply_bytes: Largest answer that is read.
        max_in_flight: Most requests at the same time; further ones wait, which counts as their time.
        profile: What the model can do.
    """

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = 30.0
    silence_seconds: float = 10.0
    max_reply_bytes: int = 1024 * 1024
    max_in_flight: int = 64
    profile: ModelProfile = field(default_factory=ModelProfile)


class HttpChatModel:
    """Asks one server; use it as an async context manager, which owns the connections.

    A reply that nobody waits for any more, because the caller was cancelled, its time is over or what came was of no
    use, ends by closing the connection: that is how the server knows to stop generating.
    The address comes from the settings alone. Redirects are not followed: they would carry the prompt elsewhere.

    Args:
        server: Where the model is served.
        clock: Measures the time to the first token.
    """

    def __init__(self, server: ModelServer, clock: Clock | None = None) -> None:
        self._server = server
        self._profile = server.profile
        self._clock = clock or SystemClock()
        self._base = server.url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None
        self._in_flight = 0

    @property
    def name(self) -> str:
        """See `ChatModel.name`."""
        return self._server.model

    @property
    def profile(self) -> ModelProfile:
        """See `ChatModel.profile`."""
        return self._profile

    def adopt(self, profile: ModelProfile) -> None:
        """Ask by this profile from now on: a probe found out what the server can do."""
        self._profile = profile

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        """See `ChatModel.complete`; the time is the smaller of the server's limit and what is left."""
        return await self.asked(request, deadline.bounded(self._server.timeout_seconds), self._profile)

    async def asked(self, request: ChatRequest, seconds: float, profile: ModelProfile) -> ChatReply:
        """Ask as this profile says, within a time.

        Raises:
            ModelFailed: There is no reply.
        """
        body = body_of(request, self._server.model, profile)
        if surely_exceeds(body, profile):
            message = "The prompt is larger than the model's context; it was not sent."
            raise ModelFailed(ModelFailureKind.TOO_LARGE, message)
        async with self._bounded(seconds):
            reply = await self._posted(body)
        is_seeded = profile.takes_seed and request.seed is not None
        return replace(reply, seed=request.seed) if is_seeded else reply

    async def listed(self, seconds: float) -> bytes:
        """Return the body of `GET /models`.

        Raises:
            ModelFailed: There is none; REFUSED with the status where the server has no such list.
        """
        async with self._bounded(seconds), self._open.get(f"{self._base}/models", allow_redirects=False) as response:
            await _check_status(response)
            return await self._whole(response.content)

    async def aclose(self) -> None:
        """Close the connections; what is in flight fails."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def __aenter__(self) -> Self:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._server.api_key:
            headers["Authorization"] = f"Bearer {self._server.api_key}"
        self._session = aiohttp.ClientSession(
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(limit=self._server.max_in_flight),
        )
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    @property
    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the model is not open")
        return self._session

    @asynccontextmanager
    async def _bounded(self, seconds: float) -> AsyncIterator[None]:
        """Bound what is done in the block, and tell its failures as the model's."""
        if seconds <= 0:
            raise _timeout()
        self._in_flight += 1
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as exc:  # also the library's own, which derive from it
            raise _timeout() from exc
        except (aiohttp.ClientError, OSError) as exc:
            raise ModelFailed(ModelFailureKind.UNREACHABLE, _cause(exc)) from exc
        finally:
            self._in_flight -= 1

    async def _posted(self, body: bytes) -> ChatReply:
        sent = self._clock.monotonic()
        async with self._open.post(f"{self._base}/chat/completions", data=body, allow_redirects=False) as response:
            await _check_status(response)
            if response.content_type != "text/event-stream":  # some servers do not stream, whatever is asked
                pieces = ReplyInPieces()
                pieces.take(await self._whole(response.content))
                return pieces.reply()
            return await self._streamed(response.content, sent)

    async def _streamed(self, content: aiohttp.StreamReader, sent: float) -> ChatReply:
        pieces, events = ReplyInPieces(), EventStream()
        received_bytes = 0
        first: float | None = None
        while chunk := await self._next(content, pieces.has_begun):
            received_bytes += len(chunk)
            self._check_size(received_bytes)
            for data in events.feed(chunk):
                if data == DONE:
                    return replace(pieces.reply(), first_token_seconds=first)
                pieces.take(data)
            if first is None and pieces.has_begun:
                first = self._clock.monotonic() - sent
        for data in events.close():
            if data != DONE:
                pieces.take(data)
        if received_bytes and not pieces.is_finished:
            message = "The connection to the model's server broke before the reply was whole."
            raise ModelFailed(ModelFailureKind.UNREACHABLE, message, status_code=200)
        return replace(pieces.reply(), first_token_seconds=first)

    async def _next(self, content: aiohttp.StreamReader, has_begun: bool) -> bytes:
        if not has_begun:  # it may wait for its turn in the server; the request's own time bounds that
            return await content.read(_READ_BYTES)
        async with asyncio.timeout(self._server.silence_seconds):
            return await content.read(_READ_BYTES)

    async def _whole(self, content: aiohttp.StreamReader) -> bytes:
        received = bytearray()
        while chunk := await content.read(_READ_BYTES):
            received += chunk
            self._check_size(len(received))
        return bytes(received)

    def _check_size(self, size_bytes: int) -> None:
        limit = self._server.max_reply_bytes
        if size_bytes > limit:
            message = f"The answer of the model's server is larger than {limit} bytes."
            raise ModelFailed(ModelFailureKind.TOO_LARGE, message, status_code=200)

    def __repr__(self) -> str:
        return f"<HttpChatModel {self._server.model} in_flight={self._in_flight}>"


async def _check_status(response: aiohttp.ClientResponse) -> None:
    if response.status == 200:
        return
    told = await response.content.read(_MAX_ERROR_BYTES)  # its words may quote the prompt: codes alone are kept
    raise refusal(told, response.status, _retry_after(response.headers.get("Retry-After", "")))


def _retry_after(header: str) -> float | None:
    """Return the seconds of a `Retry-After`; a date is left to whoever serves dates."""
    text = header.strip()
    if not text.isascii() or not text.isdigit():
        return None
    return min(float(text[:10]), _MAX_RETRY_AFTER_SECONDS)


def _timeout() -> ModelFailed:
    return ModelFailed(ModelFailureKind.TIMEOUT, "The model did not reply in time.")


def _cause(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return "No connection to the model's server could be made."
    if isinstance(error, aiohttp.InvalidURL):
        return "The URL of the model's server cannot be requested."
    return "The connection to the model's server broke before the reply was whole."
