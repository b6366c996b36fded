"""A chat model as a service runs it: each call in a span, with its tokens, counted by outcome."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.trace import SpanKind

from taoloop.core.deadlines import Deadline
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.names import MODEL_CALLS, MODEL_TOKENS, Attribute, Operation, chat_span
from taoloop.core.telemetry.tracing import mark_failed
from taoloop.models.ports import ChatModel, ChatReply, ChatRequest, ModelFailed

REPLIED = "replied"
"""The outcome of a call that got its reply; the others are kinds of failure."""


class MeteredChatModel:
    """Asks the model inside it, and tells of it; prompts and replies stay out.

    Args:
        model: Replies.
        purpose: What it is used for, a fixed word such as `validator`; the label of the counters.
        telemetry: Where it is told.
    """

    def __init__(self, model: ChatModel, purpose: str, telemetry: Telemetry) -> None:
        self._model = model
        self._purpose = purpose
        self._tracing = telemetry.tracing
        self._calls = telemetry.metrics.counter(MODEL_CALLS)
        self._tokens = telemetry.metrics.counter(MODEL_TOKENS)

    @property
    def name(self) -> str:
        """See `ChatModel.name`."""
        return self._model.name

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        """See `ChatModel.complete`."""
        with self._tracing.span(chat_span(self.name), self._asked(request), kind=SpanKind.CLIENT) as span:
            try:
                reply = await self._model.complete(request, deadline)
            except ModelFailed as failed:
                mark_failed(span, failed.kind.value)
                self._calls.labels(self._purpose, failed.kind.value).inc()
                raise
            if span.is_recording():
                span.set_attributes(_told(reply))
        self._calls.labels(self._purpose, REPLIED).inc()
        self._tokens.labels(self._purpose, "input").inc(reply.usage.input_tokens)
        self._tokens.labels(self._purpose, "output").inc(reply.usage.output_tokens)
        return reply

    def _asked(self, request: ChatRequest) -> Mapping[Attribute, str | int | float]:
        asked: dict[Attribute, str | int | float] = {
            Attribute.OPERATION_NAME: Operation.CHAT.value,
            Attribute.REQUEST_MODEL: self.name,
            Attribute.REQUEST_TEMPERATURE: request.temperature,
            Attribute.REQUEST_MAX_TOKENS: request.max_tokens,
        }
        return asked if request.seed is None else {**asked, Attribute.REQUEST_SEED: request.seed}

    def __repr__(self) -> str:
        return f"MeteredChatModel({self._model!r})"


def _told(reply: ChatReply) -> dict[str, str | int | tuple[str, ...]]:
    told: dict[str, str | int | tuple[str, ...]] = {
        Attribute.INPUT_TOKENS.value: reply.usage.input_tokens,
        Attribute.OUTPUT_TOKENS.value: reply.usage.output_tokens,
        Attribute.RESPONSE_FINISH_REASONS.value: (reply.finish_reason,),
    }
    return told if not reply.response_id else {**told, Attribute.RESPONSE_ID.value: reply.response_id}
