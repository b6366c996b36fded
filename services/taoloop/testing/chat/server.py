"""A real HTTP server that plays an OpenAI-compatible one: scripted replies, faults included."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Self

from aiohttp import web

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.testing.chat.bodies import PROMPT_TOKENS, completion, events
from taoloop.testing.chat.probe import ServedModel, probe_answer
from taoloop.testing.ports import LOOPBACK

__all__ = ["ChatServer", "ReceivedChat", "ScriptedReply", "ServedModel", "completion", "events"]

REMEMBERED_REQUESTS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One answer of the server.

    Attributes:
        text: The model's reply.
        status: HTTP status; the body of every other status than 200 is an error's.
        finish_reason: Why the reply ends.
        body: The whole body in place of a chat completion; None for a regular one.
        delay_seconds: Pause before the answer.
        breaks_off: Whether the connection is closed within the body.
        hangs_up: Whether the connection is closed before a word of the answer.
        location: Header of a redirect; empty for none.
        retry_after: That header; empty for none.
        pieces: The body of a stream, piece by piece, in place of one of a chat completion; empty for a regular one.
        pause_seconds: Pause after each piece of a stream.
        is_whole: Whether it comes whole even when a stream was asked for.
    """

    text: str = ""
    status: int = 200
    finish_reason: str = "stop"
    body: bytes | None = None
    delay_seconds: float = 0.0
    breaks_off: bool = False
    hangs_up: bool = False
    location: str = ""
    retry_after: str = ""
    pieces: tuple[bytes, ...] = ()
    pause_seconds: float = 0.0
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class ReceivedChat:
    """One request as it came in.

    Attributes:
        path: Of the URL.
        authorization: The header; empty for none.
        body: The JSON body.
    """

    path: str
    authorization: str = field(repr=False)
    body: dict[str, JsonValue]


class ChatServer:
    """Serves `POST /v1/chat/completions` with the scripted replies, one after the other, the last one again and again.

    The questions of a readiness probe are answered by what `served` can do, and take no scripted reply.

    ```python
    async with ChatServer([ScriptedReply(text='{"status": "valid"}')]) as server:
        model = HttpChatModel(ModelServer(url=server.url, model="any"))
    ```

    Args:
        replies: What it answers; at least one.
        served: What its model can do.
        port: Where it listens; 0 takes a free port.

    Attributes:
        requests: The latest requests that were no probe's, oldest first.
        probes: How many questions of probes it answered.
        counted: How many prompts it counted.
        in_progress: Requests that it is answering now.
        served: What its model can do from now on.
    """

    def __init__(self, replies: Iterable[ScriptedReply], served: ServedModel | None = None, *, port: int = 0) -> None:
        self._replies = deque(replies)
        if not self._replies:
            raise ValueError("a chat server needs a reply")
        self._runner: web.AppRunner | None = None
        self._port = port
        self.served = served or ServedModel()
        self.requests: deque[ReceivedChat] = deque(maxlen=REMEMBERED_REQUESTS)
        self.probes = 0
        self.counted = 0
        self.in_progress = 0

    @property
    def url(self) -> str:
        """The base URL that a client is given."""
        return f"http://{LOOPBACK}:{self._port}/v1"

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._answer)
        # A client that goes away must end the handler, as it ends the generation of a real server.
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, LOOPBACK, self._port)
        await site.start()
        self._port = int(self._runner.addresses[0][1])
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.in_progress += 1
        try:
            return await self._answered(request)
        finally:
            self.in_progress -= 1

    async def _answered(self, request: web.Request) -> web.StreamResponse:
        if (request.method, request.path) == ("GET", "/v1/models"):
            return await _played(ScriptedReply(**self.served.listing()), request, is_stream=False)
        if (request.method, request.path) == ("POST", "/tokenize") and self.served.counts_prompts:
            self.counted += 1
            return web.json_response({"count": PROMPT_TOKENS, "max_model_len": self.served.context_tokens})
        if request.method != "POST" or request.path != "/v1/chat/completions":
            return web.json_response({"error": {"message": "not found"}}, status=404)
        try:
            body = exact_json.loads(await request.text())
        except JsonSyntaxError:
            body = None
        if not isinstance(body, dict):
            return web.json_response({"error": {"message": "the body is no JSON object"}}, status=400)
        is_stream = body.get("stream") is True
        asked = probe_answer(body, self.served)
        if asked is not None:
            self.probes += 1
            return await _played(ScriptedReply(**asked), request, is_stream=False)
        self.requests.append(ReceivedChat(request.path, request.headers.get("Authorization", ""), body))
        reply = self._replies[0] if len(self._replies) == 1 else self._replies.popleft()
        return await _played(reply, request, is_stream=is_stream)

    def __repr__(self) -> str:
        return f"<ChatServer {len(self.requests)} requests>"


async def _played(reply: ScriptedReply, request: web.Request, *, is_stream: bool) -> web.StreamResponse:
    await asyncio.sleep(reply.delay_seconds)
    if reply.hangs_up:
        _hang_up(request)
        return web.Response()
    pieces = reply.pieces
    if not pieces and is_stream and reply.status == 200 and reply.body is None and not reply.is_whole:
        pieces = events(reply.text, reply.finish_reason)
    headers = {"Location": reply.location} if reply.location else {}
    if reply.retry_after:
        headers["Retry-After"] = reply.retry_after
    if pieces:
        return await _streamed(reply, pieces, request)
    body = reply.body if reply.body is not None else completion(reply.text, reply.finish_reason)
    if not reply.breaks_off:
        return web.Response(status=reply.status, body=body, content_type="application/json", headers=headers)
    response = web.StreamResponse(status=reply.status, headers={"Content-Length": str(len(body) + 100)})
    await response.prepare(request)
    await response.write(body)
    _hang_up(request)
    return response


async def _streamed(reply: ScriptedReply, pieces: tuple[bytes, ...], request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    sent = pieces[: max(1, len(pieces) // 2)] if reply.breaks_off else pieces
    for piece in sent:
        await response.write(piece)
        await asyncio.sleep(reply.pause_seconds)
    if reply.breaks_off:
        _hang_up(request)
    else:
        await response.write_eof()
    return response


def _hang_up(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.close()
