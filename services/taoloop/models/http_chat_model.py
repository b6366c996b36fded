"""A chat model behind any OpenAI-compatible server, reached over HTTP by aiohttp."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final, Self

import aiohttp

from taoloop.core.deadlines import Deadline
from taoloop.models.chat_wire import body_of, reply_of
from taoloop.models.ports import ChatReply, ChatRequest, ModelFailed, ModelFailureKind
from taoloop.models.profiles import ModelProfile

MOST_BYTES_PER_TOKEN: Final = 16
"""No tokenizer is at hand; text has fewer bytes a token, so that only what surely does not fit is not sent."""

_READ_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """Where a model is served.

    Attributes:
        url: Base URL, such as `http://127.0.0.1:8000/v1`; `/chat/completions` is added.
        model: The model's name there.
        api_key: Bearer token; empty for none.
        timeout_seconds: Longest time of one reply.
        max_reply_bytes: Largest answer that is read.
        profile: What the model can do.
    """

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = 30.0
    max_reply_bytes: int = 1024 * 1024
    profile: ModelProfile = field(default_factory=ModelProfile)


class HttpChatModel:
    """Asks one server; use it as an async context manager, which owns the connections.

    The address comes from the settings alone. Redirects are not followed: they would carry the prompt elsewhere.

    Args:
        server: Where the model is served.
    """

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._url = f"{server.url.rstrip('/')}/chat/completions"
        self._session: aiohttp.ClientSession | None = None
        self._in_flight = 0

    @property
    def name(self) -> str:
        """See `ChatModel.name`."""
        return self._server.model

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        """See `ChatModel.complete`; the time is the smaller of the server's limit and what is left."""
        body = body_of(request, self._server.model, self._server.profile)
        if len(body) > MOST_BYTES_PER_TOKEN * self._server.profile.context_tokens:
            message = "The prompt is larger than the model's context; it was not sent."
            raise ModelFailed(ModelFailureKind.TOO_LARGE, message)
        seconds = deadline.bounded(self._server.timeout_seconds)
        if seconds <= 0:
            raise _timeout()
        self._in_flight += 1
        try:
            async with asyncio.timeout(seconds):
                status, answer = await self._posted(body)
        except TimeoutError as exc:
            raise _timeout() from exc
        except aiohttp.ServerTimeoutError as exc:
            raise _timeout() from exc
        except (aiohttp.ClientError, OSError) as exc:
            raise ModelFailed(ModelFailureKind.UNREACHABLE, _cause(exc)) from exc
        finally:
            self._in_flight -= 1
        if status != 200:
            message = f"The model's server answered with status {status}."
            raise ModelFailed(ModelFailureKind.REFUSED, message, status_code=status)
        return reply_of(answer)

    async def aclose(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def __aenter__(self) -> Self:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._server.api_key:
            headers["Authorization"] = f"Bearer {self._server.api_key}"
        self._session = aiohttp.ClientSession(
            headers=headers, timeout=aiohttp.ClientTimeout(total=None), cookie_jar=aiohttp.DummyCookieJar()
        )
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def _posted(self, body: bytes) -> tuple[int, bytes]:
        if self._session is None:
            raise RuntimeError("the model is not open")
        async with self._session.post(self._url, data=body, allow_redirects=False) as response:
            if response.status != 200:
                return response.status, b""  # an error's text may quote the prompt
            return 200, await self._read(response.content)

    async def _read(self, content: aiohttp.StreamReader) -> bytes:
        received = bytearray()
        while chunk := await content.read(_READ_BYTES):
            received += chunk
            if len(received) > self._server.max_reply_bytes:
                message = f"The answer of the model's server is larger than {self._server.max_reply_bytes} bytes."
                raise ModelFailed(ModelFailureKind.TOO_LARGE, message, status_code=200)
        return bytes(received)

    def __repr__(self) -> str:
        return f"<HttpChatModel {self._server.model} in_flight={self._in_flight}>"


def _timeout() -> ModelFailed:
    return ModelFailed(ModelFailureKind.TIMEOUT, "The model did not reply in time.")


def _cause(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return "No connection to the model's server could be made."
    if isinstance(error, aiohttp.InvalidURL):
        return "The URL of the model's server cannot be requested."
    return "The connection to the model's server broke before the reply was whole."
