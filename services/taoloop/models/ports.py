"""A language model as the services see it: messages in, one reply or one typed failure out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonValue

if TYPE_CHECKING:
    from taoloop.models.profiles.model import ModelProfile


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
        grammar: The same language in EBNF as xgrammar and llama.cpp read it, from `root ::=` on; empty for none. It
            goes to a server whose profile takes grammars, in place of the schema.
        is_told: Whether the messages say the form already, so that a server that takes no schema needs none in words.
    """

    name: str
    schema: Mapping[str, JsonValue]
    grammar: str = ""
    is_told: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What is asked of a model.

    Attributes:
        messages: The conversation, at least one message.
        max_tokens: Longest reply, in tokens of the model.
        temperature: 0 takes the likeliest token each time.
        top_p: The share of likely tokens that is chosen from, above 0 and at most 1.
        seed: Makes a reply repeatable where the server knows how.
        stop: Texts at which the reply ends, themselves left out; a server without the parameter writes on.
        top_logprobs: How many likelihoods are wanted beside each token; 0 for none.
        form: The form of the reply; None for free text. The caller parses all the same: a server may ignore it.
        attempt: How often this conversation has been asked, this time included; told in traces, never sent.
    """

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    top_logprobs: int = 0
    form: JsonForm | None = None
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that a reply took; 0 where the server does not say.

    Attributes:
        input_tokens: Of the prompt.
        output_tokens: Of the reply, reasoning included.
        cached_tokens: Of the prompt's, those that the server had read before.
        reasoning_tokens: Of the reply's, those that were reasoning.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """How likely one token of a reply was.

    Attributes:
        token: Its text.
        logprob: Natural logarithm of its likelihood.
        alternatives: The likeliest tokens at its place, itself mostly among them.
    """

    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What a model said, whole.

    Attributes:
        text: The reply.
        finish_reason: Why it ends, in the server's word, such as `stop`.
        usage: What it took.
        response_id: The server's id of it; empty when there is none.
        model: The server's name for the model; empty when it does not say.
        reasoning: What the server itself set apart as reasoning.
        logprobs: One for each token, where they were wanted and the server tells them.
        seed: What was sent, so that the reply can be asked for again; None when none was.
        first_token_seconds: From the request to the first token; None where the reply came whole.
    """

    text: str
    finish_reason: str = ""
    usage: TokenUsage = TokenUsage()
    response_id: str = ""
    model: str = ""
    reasoning: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()
    seed: int | None = None
    first_token_seconds: float | None = None


class ModelFailureKind(StrEnum):
    """How a model failed to reply."""

    UNREACHABLE = "unreachable"
    """No connection, or it broke before the reply was whole."""
    TIMEOUT = "timeout"
    """The reply did not come in time."""
    REFUSED = "refused"
    """The server answered with another status than 200, or told of a failure within its reply."""
    MALFORMED = "malformed"
    """The answer is no reply of a chat model."""
    EMPTY = "empty"
    """The reply has no text."""
    TOO_LARGE = "too_large"
    """The answer is larger than allowed, or the prompt surely does not fit into the model's context."""
    CUT_OFF = "cut_off"
    """The reply ended at its longest length, or was filtered; half a reply is never used."""
    NOT_READY = "not_ready"
    """The server is away, or is not what the settings say; nothing was sent."""


class ModelFailed(Exception):
    """A model gave no reply; the message holds no text of the server's.

    Attributes:
        kind: How.
        message: One sentence.
        status_code: The HTTP status; 0 when none came.
        retry_after_seconds: When the server says that it may succeed; None when it says nothing.
        is_retriable: Whether the same request may succeed later.
    """

    def __init__(
        self,
        kind: ModelFailureKind,
        message: str,
        *,
        status_code: int = 0,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status_code = status_code
        self.retry_after_seconds = retry_after_seconds

    @property
    def is_retriable(self) -> bool:
        """Whether the same request may succeed later."""
        if self.kind is ModelFailureKind.REFUSED:
            return self.status_code == 429 or self.status_code >= 500
        return self.kind in {ModelFailureKind.UNREACHABLE, ModelFailureKind.TIMEOUT, ModelFailureKind.NOT_READY}


class ChatModel(Protocol):
    """Replies to conversations; safe for concurrent use."""

    @property
    def name(self) -> str:
        """The model's name, from the settings."""
        ...

    @property
    def profile(self) -> ModelProfile:
        """What it can do, as far as is known now."""
        ...

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        """Return the whole reply; nothing is tried twice.

        Raises:
            ModelFailed: There is none.
        """
        ...
