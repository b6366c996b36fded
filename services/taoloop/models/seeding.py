"""A chat model whose every sampled reply can be asked for again: no request that samples goes out without a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatModel, ChatReply, ChatRequest
from taoloop.models.profiles.model import ModelProfile


class SeededChatModel:
    """Gives a request that samples a seed, unless it has one or the server takes none; the reply tells it.

    Args:
        model: Replies.
        draw: Draws a seed of at most 31 bits: by chance in production, always the same in a replay.
    """

    def __init__(self, model: ChatModel, draw: Callable[[], int]) -> None:
        self._model = model
        self._draw = draw

    @property
    def name(self) -> str:
        """See `ChatModel.name`."""
        return self._model.name

    @property
    def profile(self) -> ModelProfile:
        """See `ChatModel.profile`."""
        return self._model.profile

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        """See `ChatModel.complete`."""
        if request.seed is None and request.temperature > 0 and self.profile.takes_seed:
            request = replace(request, seed=self._draw())
        return await self._model.complete(request, deadline)

    def __repr__(self) -> str:
        return f"SeededChatModel({self._model!r})"
