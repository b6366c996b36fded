"""A language model as the services see it: messages in, one reply or one typed failure out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonValue


class Role(StrEnum):
    """Whose words a message holds."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class JsonForm:
    """The form that the reply must have.

    Attributes:
        name: 1 to 64 letters, digits, `_` or `-`; some servers show it to the model.
        schema: JSON Schema of the reply, an object.
    """

    name: str
    schema: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What is asked of a model.

    Attributes:
        messages: The conversation, at least one message.
        max_tokens: Longest reply, in tokens of the model.
        temperature: 0 takes the likeliest token each time.
        seed: Makes a reply repeatable where the server knows how.
        form: The form of the reply; None for free text. The caller parses all the same: a server may ignore it.
    """

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    form: JsonForm | None = None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that a reply took; 0 where the server does not say."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What a model said, whole.

    Attributes:
        text: The reply.
        finish_reason: Why it ends, in the server's word, such as `stop`.
        usage: What it took.
        response_id: The server's id of it; empty when there is none.
    """

    text: str
    finish_reason: str = ""
    usage: TokenUsage = TokenUsage()
    response_id: str = ""


class ModelFailureKind(StrEnum):
    """How a model failed to reply."""

    UNREACHABLE = "unreachable"
    """No connection, or it broke before the reply was whole."""
    TIMEOUT = "timeout"
    """The reply did not come in time."""
    REFUSED = "refused"
    """The server answered with another status than 200."""
    MALFORMED = "malformed"
    """The answer is no reply of a chat model."""
    TOO_LARGE = "too_large"
    """The answer is larger than allowed, or the prompt surely does not fit into the model's context."""
    CUT_OFF = "cut_off"
    """The reply ended at its longest length, or was filtered; half a reply is never used."""


class ModelFailed(Exception):
    """A model gave no reply; the message holds no text of the server's.

    Attributes:
        kind: How.
        message: One sentence.
        status_code: The HTTP status; 0 when none came.
        is_retriable: Whether the same request may succeed later.
    """

    def __init__(self, kind: ModelFailureKind, message: str, *, status_code: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status_code = status_code

    @property
    def is_retriable(self) -> bool:
        """Whether the same request may succeed later."""
        if self.kind is ModelFailureKind.REFUSED:
            return self.status_code == 429 or self.status_code >= 500
        return self.kind in {ModelFailureKind.UNREACHABLE, ModelFailureKind.TIMEOUT}


class ChatModel(Protocol):
    """Replies to conversations; safe for concurrent use."""

    @property
    def name(self) -> str:
        """The model's name, from the settings."""
        ...

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        """Return the whole reply; nothing is tried twice.

        Raises:
            ModelFailed: There is none.
        """
        ...
