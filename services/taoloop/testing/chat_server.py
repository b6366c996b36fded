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
from taoloop.testing.ports import LOOPBACK

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
        location: Header of a redirect; empty for none.
    """

    text: str = ""
    status: int = 200
    finish_reason: str = "stop"
    body: bytes | None = None
    delay_seconds: float = 0.0
    breaks_off: bool = False
    location: str = ""


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

    ```python
    async with ChatServer([ScriptedReply(text='{"status": "valid"}')]) as server:
        model = HttpChatModel(ModelServer(url=server.url, model="any"))
    ```

    Args:
        replies: What it answers; at least one.

    Attributes:
        requests: The latest requests, oldest first.
    """

    def __init__(self, replies: Iterable[ScriptedReply]) -> None:
        self._replies = deque(replies)
        if not self._replies:
            raise ValueError("a chat server needs a reply")
        self._runner: web.AppRunner | None = None
        self._port = 0
        self.requests: deque[ReceivedChat] = deque(maxlen=REMEMBERED_REQUESTS)

    @property
    def url(self) -> str:
        """The base URL that a client is given."""
        return f"http://{LOOPBACK}:{self._port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, LOOPBACK, 0)
        await site.start()
        self._port = int(self._runner.addresses[0][1])
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.method != "POST" or request.path != "/v1/chat/completions":
            return web.json_response({"error": {"message": "not found"}}, status=404)
        try:
            body = exact_json.loads(await request.text())
        except JsonSyntaxError:
            body = None
        if not isinstance(body, dict):
            return web.json_response({"error": {"message": "the body is no JSON object"}}, status=400)
        self.requests.append(ReceivedChat(request.path, request.headers.get("Authorization", ""), body))
        reply = self._replies[0] if len(self._replies) == 1 else self._replies.popleft()
        await asyncio.sleep(reply.delay_seconds)
        return await _played(reply, request)

    def __repr__(self) -> str:
        return f"<ChatServer {len(self.requests)} requests>"


async def _played(reply: ScriptedReply, request: web.Request) -> web.StreamResponse:
    body = reply.body if reply.body is not None else completion(reply.text, reply.finish_reason)
    headers = {"Location": reply.location} if reply.location else {}
    if not reply.breaks_off:
        return web.Response(status=reply.status, body=body, content_type="application/json", headers=headers)
    response = web.StreamResponse(status=reply.status, headers={"Content-Length": str(len(body) + 100)})
    await response.prepare(request)
    await response.write(body)
    if request.transport is not None:
        request.transport.close()
    return response


def completion(text: str, finish_reason: str = "stop") -> bytes:
    """Return the body of a chat completion with one choice."""
    message: JsonValue = {"role": "assistant", "content": text}
    answer: JsonValue = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19},
    }
    return exact_json.dumps(answer).encode()
