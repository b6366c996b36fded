"""The body of a request for a chat completion, by what the server's profile says it understands."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from taoloop.core.exact_json import JsonValue, dumps
from taoloop.models.ports import ChatMessage, ChatRequest, JsonForm
from taoloop.models.profiles.model import ModelProfile, StructuredOutput

MOST_BYTES_PER_TOKEN: Final = 16
"""No tokenizer is at hand; text has fewer bytes a token, so that only what surely does not fit is not sent."""


def body_of(request: ChatRequest, model: str, profile: ModelProfile) -> bytes:
    """Return the body of `POST /chat/completions`; what the profile lacks is left out.

    Source: the OpenAI API reference, chat completions, in the part that vLLM, llama.cpp and SGLang serve too.
    """
    messages: list[JsonValue] = [{"role": one.role.value, "content": one.content} for one in _worded(request, profile)]
    body: dict[str, JsonValue] = {
        **profile.extra,
        "model": model,
        "messages": messages,
        profile.reply_limit_field.value: min(request.max_tokens, profile.max_reply_tokens),
        "stream": profile.streams,
    }
    if profile.streams and profile.streams_usage:
        body["stream_options"] = {"include_usage": True}
    _add_sampling(body, request, profile)
    if request.form is not None:
        _add_form(body, request.form, profile)
    return dumps(body).encode()


def surely_exceeds(body: bytes, profile: ModelProfile) -> bool:
    """Whether the prompt cannot fit into the model's context, whatever its tokens are."""
    return len(body) > MOST_BYTES_PER_TOKEN * profile.context


def _add_sampling(body: dict[str, JsonValue], request: ChatRequest, profile: ModelProfile) -> None:
    if profile.takes_temperature:
        body["temperature"] = request.temperature
        if request.top_p != 1.0:
            body["top_p"] = request.top_p
    if profile.takes_seed and request.seed is not None:
        body["seed"] = request.seed
    # A server that takes fewer texts would refuse the request: the first ones are the caller's most wanted.
    if stop := request.stop[: profile.max_stop_sequences]:
        body["stop"] = list(stop)
    if top := min(request.top_logprobs, profile.max_top_logprobs):
        body["logprobs"] = True
        body["top_logprobs"] = top


def _add_form(body: dict[str, JsonValue], form: JsonForm, profile: ModelProfile) -> None:
    schema = dict(form.schema)
    match profile.structured_output:
        case StructuredOutput.JSON_SCHEMA:
            named: JsonValue = {"name": form.name, "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        case StructuredOutput.STRUCTURED_OUTPUTS if profile.takes_grammar and form.grammar:
            body["structured_outputs"] = {"grammar": form.grammar}
        case StructuredOutput.STRUCTURED_OUTPUTS:
            body["structured_outputs"] = {"json": schema}
        case StructuredOutput.JSON_MODE:
            body["response_format"] = {"type": "json_object"}
        case StructuredOutput.NONE:
            pass


def _worded(request: ChatRequest, profile: ModelProfile) -> tuple[ChatMessage, ...]:
    """Return the messages; to a server that takes no schema it is told in words, after all that may be cached."""
    if request.form is None or request.form.is_told or profile.structured_output.is_enforced:
        return request.messages
    schema = dumps(dict(request.form.schema))
    words = f"Reply with one JSON object and nothing else. It must fit this JSON Schema: {schema}"
    *before, last = request.messages
    return (*before, replace(last, content=f"{last.content}\n\n{words}"))
