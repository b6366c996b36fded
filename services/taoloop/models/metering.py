"""A chat model as a service runs it: each call in a span, with its tokens, counted by outcome."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from opentelemetry.trace import SpanKind

from taoloop.core.clock import Clock, SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.names import (
    MODEL_CALLS,
    MODEL_COST,
    MODEL_DURATION,
    MODEL_FIRST_TOKEN,
    MODEL_IN_FLIGHT,
    MODEL_TOKENS,
    Attribute,
    Operation,
    chat_span,
)
from taoloop.core.telemetry.tracing import mark_failed
from taoloop.models.ports import ChatMessage, ChatModel, ChatReply, ChatRequest, ModelFailed
from taoloop.models.profiles.model import ModelProfile

REPLIED = "replied"
"""The outcome of a call that got its reply; the others are kinds of failure."""
ABANDONED = "abandoned"
"""The outcome of a call whose caller went away."""


class MeteredChatModel:
    """Asks the model inside it, and tells of it; prompts and replies stay out.

    Args:
        model: Replies.
        purpose: What it is used for, a fixed word such as `validator`; the label of the counters.
        telemetry: Where it is told.
        clock: Measures the calls.
    """

    def __init__(self, model: ChatModel, purpose: str, telemetry: Telemetry, clock: Clock | None = None) -> None:
        self._model = model
        self._purpose = purpose
        self._clock = clock or SystemClock()
        self._tracing = telemetry.tracing
        self._calls = telemetry.metrics.counter(MODEL_CALLS)
        self._tokens = telemetry.metrics.counter(MODEL_TOKENS)
        self._cost = telemetry.metrics.counter(MODEL_COST)
        self._duration = telemetry.metrics.histogram(MODEL_DURATION)
        self._first_token = telemetry.metrics.histogram(MODEL_FIRST_TOKEN)
        self._in_flight = telemetry.metrics.gauge(MODEL_IN_FLIGHT)

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
        started = self._clock.monotonic()
        outcome = ABANDONED
        self._in_flight.labels(self._purpose).inc()
        try:
            result = await self._spanned(request, deadline)
            outcome = result.kind.value if isinstance(result, ModelFailed) else REPLIED
        finally:
            self._in_flight.labels(self._purpose).dec()
            self._calls.labels(self._purpose, outcome).inc()
            self._duration.labels(self._purpose, outcome).observe(self._clock.monotonic() - started)
        if isinstance(result, ModelFailed):
            raise result
        self._count(result)
        return result

    async def _spanned(self, request: ChatRequest, deadline: Deadline) -> ChatReply | ModelFailed:
        """Return a failure, rather than raise it: what leaves a span's block names the error by its class."""
        with self._tracing.span(chat_span(self.name), self._asked(request), kind=SpanKind.CLIENT) as span:
            if span.is_recording():
                span.set_attribute(Attribute.PROMPT_SHA256, prompt_sha256(request.messages))
            try:
                reply = await self._model.complete(request, deadline)
            except ModelFailed as failed:
                mark_failed(span, failed.kind.value)
                return failed
            if span.is_recording():
                span.set_attributes(_told(reply))
            return reply

    def _count(self, reply: ChatReply) -> None:
        usage, price = reply.usage, self.profile.price
        self._tokens.labels(self._purpose, "input").inc(usage.input_tokens)
        self._tokens.labels(self._purpose, "cached_input").inc(usage.cached_tokens)
        self._tokens.labels(self._purpose, "output").inc(usage.output_tokens)
        if reply.first_token_seconds is not None:
            self._first_token.labels(self._purpose).observe(reply.first_token_seconds)
        if price is not None:
            self._cost.labels(self._purpose, price.currency).inc(float(price.of(usage)))

    def _asked(self, request: ChatRequest) -> Mapping[Attribute, str | int | float]:
        profile = self.profile
        asked: dict[Attribute, str | int | float] = {
            Attribute.OPERATION_NAME: Operation.CHAT.value,
            Attribute.PROVIDER_NAME: profile.name,
            Attribute.REQUEST_MODEL: self.name,
            Attribute.REQUEST_MAX_TOKENS: min(request.max_tokens, profile.max_reply_tokens),
            Attribute.REQUEST_STREAM: profile.streams,
            Attribute.STEP_TYPE: self._purpose,
            Attribute.STEP_INDEX: request.attempt,
        }
        if profile.takes_temperature:
            asked[Attribute.REQUEST_TEMPERATURE] = request.temperature
            asked[Attribute.REQUEST_TOP_P] = request.top_p
        if profile.takes_seed and request.seed is not None:
            asked[Attribute.REQUEST_SEED] = request.seed
        if request.form is not None:
            asked[Attribute.MODEL_STRUCTURED_OUTPUT] = profile.structured_output.value
        return asked

    def __repr__(self) -> str:
        return f"MeteredChatModel({self._model!r})"


def prompt_sha256(messages: Sequence[ChatMessage]) -> str:
    """Return the SHA-256 of a conversation: of each message's role, length in bytes, and content, `user 5 hello`.

    It says what exactly was asked, in a trace that must not hold the text.
    """
    hasher = hashlib.sha256()
    for message in messages:
        content = message.content.encode("utf-8", "surrogatepass")
        hasher.update(b"%b %d " % (message.role.value.encode(), len(content)) + content)
    return hasher.hexdigest()


def _told(reply: ChatReply) -> dict[str, str | int | float | tuple[str, ...]]:
    told: dict[str, str | int | float | tuple[str, ...]] = {
        Attribute.INPUT_TOKENS.value: reply.usage.input_tokens,
        Attribute.CACHED_INPUT_TOKENS.value: reply.usage.cached_tokens,
        Attribute.OUTPUT_TOKENS.value: reply.usage.output_tokens,
        Attribute.RESPONSE_FINISH_REASONS.value: (reply.finish_reason,),
    }
    if reply.usage.reasoning_tokens:
        told[Attribute.REASONING_TOKENS.value] = reply.usage.reasoning_tokens
    if reply.response_id:
        told[Attribute.RESPONSE_ID.value] = reply.response_id
    if reply.model:
        told[Attribute.RESPONSE_MODEL.value] = reply.model
    return told
