"""A chat model in process that says what a script says."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatReply, ChatRequest, ModelFailed, ModelFailureKind
from taoloop.models.profiles.model import ModelProfile
from taoloop.testing.clock import FakeClock


class ScriptedChatModel:
    """Gives the scripted replies, one after the other, the last one again and again; a failure is raised.

    Args:
        replies: Texts, replies or failures; at least one.
        profile: What it is said to be able to do.
        clock: Moved on by each reply; None for replies that take no time.
        reply_seconds: By how much.

    Attributes:
        requests: What it was asked, oldest first.
    """

    def __init__(
        self,
        replies: Iterable[str | ChatReply | ModelFailed],
        profile: ModelProfile | None = None,
        *,
        clock: FakeClock | None = None,
        reply_seconds: float = 0.0,
    ) -> None:
        self._clock = clock
        self._reply_seconds = reply_seconds
        self._replies = deque(replies)
        if not self._replies:
            raise ValueError("a scripted model needs a reply")
        self._profile = profile or ModelProfile()
        self.requests: list[ChatRequest] = []

    @property
    def name(self) -> str:
        """See `ChatModel.name`."""
        return "scripted"

    @property
    def profile(self) -> ModelProfile:
        """See `ChatModel.profile`."""
        return self._profile

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        """See `ChatModel.complete`."""
        if deadline.is_expired:
            raise ModelFailed(ModelFailureKind.TIMEOUT, "The model did not reply in time.")
        self.requests.append(request)
        if self._clock is not None:
            self._clock.advance(self._reply_seconds)
        reply = self._replies[0] if len(self._replies) == 1 else self._replies.popleft()
        if isinstance(reply, ModelFailed):
            raise reply
        if isinstance(reply, ChatReply):
            return reply
        return ChatReply(text=reply, finish_reason="stop", seed=request.seed)

    def __repr__(self) -> str:
        return f"<ScriptedChatModel {len(self.requests)} requests>"
