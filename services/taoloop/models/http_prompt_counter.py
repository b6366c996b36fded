"""Prompts counted by the server of the model: by its own tokenizer and template, so that the count is exact."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, Self

import aiohttp

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonSyntaxError, JsonValue, dumps, loads
from taoloop.core.logs import EventLog
from taoloop.models.ports import ChatMessage
from taoloop.models.profiles.model import ModelProfile

_TIMEOUT_SECONDS: Final = 0.5
"""How long a count may take: it is worth less than the thought that waits for it."""
_REST_SECONDS: Final = 30.0
"""How long a server that did not count is not asked."""
_MAX_BYTES: Final = 8 * 1024 * 1024

_log: Final = EventLog(__name__)


class HttpPromptCounter:
    """Asks vLLM's `/tokenize`; a server that fails to answer is left alone for half a minute.

    Use it as an async context manager, which owns the connections.

    Args:
        url: Base URL of the model's server; what stands before its `/v1` has `/tokenize`.
        model: The model's name there.
        api_key: Bearer token; empty for none.
        profile: For what rides in every body.
        clock: Measures the rest.
    """

    def __init__(self, url: str, model: str, api_key: str, profile: ModelProfile, clock: Clock) -> None:
        self._url = f"{url.rstrip('/').removesuffix('/v1')}/tokenize"
        self._model = model
        self._api_key = api_key
        self._session: aiohttp.ClientSession | None = None
        self._extra = {key: value for key, value in profile.extra.items() if key == "chat_template_kwargs"}
        self._clock = clock
        self._rests_until = 0.0

    def __repr__(self) -> str:
        return f"<HttpPromptCounter {self._url}>"

    async def __aenter__(self) -> Self:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        self._session = aiohttp.ClientSession(
            headers=headers, timeout=aiohttp.ClientTimeout(total=None), cookie_jar=aiohttp.DummyCookieJar()
        )
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def count(self, messages: Sequence[ChatMessage], deadline: Deadline) -> int | None:
        """Return the tokens of a prompt, its template included; None where the server does not count."""
        if self._clock.monotonic() < self._rests_until:
            return None
        told = [{"role": message.role.value, "content": message.content} for message in messages]
        body = dumps({"model": self._model, "messages": told, **self._extra}).encode("utf-8", "replace")
        try:
            async with asyncio.timeout(deadline.bounded(_TIMEOUT_SECONDS)):
                count = await self._counted(body)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            count, cause = None, type(error).__name__
        else:
            cause = "no count in the answer"
        if count is None and not deadline.is_expired:
            self._rests_until = self._clock.monotonic() + _REST_SECONDS
            _log.warning("prompt_not_counted", url=self._url, cause=cause)
        return count

    async def _counted(self, body: bytes) -> int | None:
        if self._session is None:
            raise RuntimeError("the counter is not open")
        async with self._session.post(self._url, data=body, allow_redirects=False) as response:
            if response.status != 200:
                return None
            received = bytearray()
            while chunk := await response.content.readany():
                received += chunk
                if len(received) > _MAX_BYTES:
                    response.close()
                    return None
        return _count_in(bytes(received))


def _count_in(body: bytes) -> int | None:
    try:
        answer: JsonValue = loads(body)
    except (JsonSyntaxError, ValueError):
        return None
    count = answer.get("count") if isinstance(answer, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None
