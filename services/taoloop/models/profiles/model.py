"""The capability profile of one model on one server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.models.ports import TokenUsage

_MILLION: Final = 1_000_000

DEFAULT_CONTEXT_TOKENS: Final = 8192
"""The context that is assumed of a server that states none, where the profile states none either."""


class StructuredOutput(StrEnum):
    """How a server is told the form of a reply, from the strictest way to the loosest."""

    JSON_SCHEMA = "json_schema"
    """`response_format` with the schema, kept by a grammar: vLLM, llama.cpp, SGLang, Ollama, OpenAI."""
    STRUCTURED_OUTPUTS = "structured_outputs"
    """vLLM's own parameter, with the schema or an EBNF grammar."""
    JSON_MODE = "json_mode"
    """`response_format` `json_object`: JSON of any form; the schema is told in words."""
    NONE = "none"
    """No such parameter; the schema is told in words."""

    @property
    def is_enforced(self) -> bool:
        """Whether the server can produce nothing but the form."""
        return self in {StructuredOutput.JSON_SCHEMA, StructuredOutput.STRUCTURED_OUTPUTS}


class ReplyLimitField(StrEnum):
    """What the parameter for the longest reply is called."""

    MAX_TOKENS = "max_tokens"
    """By most servers."""
    MAX_COMPLETION_TOKENS = "max_completion_tokens"
    """By those whose models reason before they reply, and count that, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What tokens cost.

    Attributes:
        currency: ISO 4217 code.
        input_per_million: Of a million tokens of prompts.
        cached_input_per_million: Of a million tokens of prompts that the server had already read.
        output_per_million: Of a million tokens of replies, reasoning included.
    """

    currency: str
    input_per_million: Decimal
    cached_input_per_million: Decimal
    output_per_million: Decimal

    def of(self, usage: TokenUsage) -> Decimal:
        """Return what a call with this usage costs, in the currency."""
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        whole = (
            fresh * self.input_per_million
            + usage.cached_tokens * self.cached_input_per_million
            + usage.output_tokens * self.output_per_million
        )
        return whole / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How fast a model usually replies.

    Attributes:
        first_token_seconds: From the request to the first token.
        tokens_per_second: After it, of one reply among the usual number of others.
    """

    first_token_seconds: float
    tokens_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """What is known of one model on one server; what it lacks is never sent.

    Attributes:
        name: Of the profile, `[a-z0-9-]`; the value of `gen_ai.provider.name`.
        structured_output: How it is told the form of a reply.
        takes_grammar: Whether `structured_outputs` takes an EBNF grammar, too.
        counts_prompts: Whether `POST /tokenize` beside the base URL counts a conversation's tokens, as vLLM's does.
        context_tokens: Prompt and reply together, in its tokens; None: the server says.
        max_reply_tokens: Longest reply that is ever asked for.
        reply_limit_field: What the parameter for it is called.
        streams: Whether replies come as server-sent events: a server notices sooner that its caller is gone.
        streams_usage: Whether a stream ends with its token counts when asked to (`stream_options`).
        takes_temperature: Whether `temperature` and `top_p` may be sent.
        takes_seed: Whether the same seed gives the same reply.
        max_stop_sequences: Most texts at which it can be told to stop; 0: none.
        max_top_logprobs: Most likelihoods beside each token; 0: it tells none.
        extra: Members of every request body.
        price: What tokens cost; None: nothing is charged by the token.
        speed: How fast it usually is; None: not known.
    """

    name: str = "openai-compatible"
    structured_output: StructuredOutput = StructuredOutput.JSON_SCHEMA
    takes_grammar: bool = False
    counts_prompts: bool = False
    context_tokens: int | None = None
    max_reply_tokens: int = 4096
    reply_limit_field: ReplyLimitField = ReplyLimitField.MAX_TOKENS
    streams: bool = True
    streams_usage: bool = True
    takes_temperature: bool = True
    takes_seed: bool = True
    max_stop_sequences: int = 4
    max_top_logprobs: int = 0
    extra: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    price: Price | None = None
    speed: Speed | None = None

    @property
    def context(self) -> int:
        """The context to count with, in tokens."""
        return self.context_tokens or DEFAULT_CONTEXT_TOKENS

    def expected_seconds(self, output_tokens: int) -> float | None:
        """Return how long a reply of this length usually takes; None when the speed is not known."""
        if self.speed is None:
            return None
        return self.speed.first_token_seconds + output_tokens / self.speed.tokens_per_second
