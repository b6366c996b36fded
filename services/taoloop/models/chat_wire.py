"""Chat completions as JSON: the body of a request, and the reply in the body of an answer."""

from __future__ import annotations

from typing import Final

from taoloop.core.exact_json import JsonSyntaxError, JsonValue, dumps, loads
from taoloop.models.ports import ChatReply, ChatRequest, JsonForm, ModelFailed, ModelFailureKind, Role, TokenUsage
from taoloop.models.profiles import ModelProfile, StructuredOutput

_CUT_OFF: Final = frozenset({"length", "content_filter", "max_tokens"})
_MAX_WORD_CHARACTERS: Final = 100


def body_of(request: ChatRequest, model: str, profile: ModelProfile) -> bytes:
    """Return the body of `POST /chat/completions`.

    Source: the OpenAI API reference, chat completions, in the part that vLLM, llama.cpp and SGLang serve too.
    """
    messages: list[JsonValue] = [{"role": one.role.value, "content": one.content} for one in request.messages]
    body: dict[str, JsonValue] = {
        "model": model,
        "messages": messages,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "stream": False,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.form is not None:
        _ask_for(request.form, body, messages, profile.structured_output)
    return dumps(body).encode()


def reply_of(body: bytes) -> ChatReply:
    """Return the reply in the body of an answer with status 200.

    Raises:
        ModelFailed: MALFORMED, or CUT_OFF when the reply did not end by itself.
    """
    try:
        answer = loads(body, max_bytes=len(body))
    except JsonSyntaxError as exc:
        raise _malformed("is not JSON") from exc
    choice = _first_choice(answer)
    finish_reason = choice.get("finish_reason")
    if finish_reason in _CUT_OFF:
        raise ModelFailed(ModelFailureKind.CUT_OFF, f"The model's reply was cut off: {finish_reason}.", status_code=200)
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str):
        raise _malformed("has no text")
    members = answer if isinstance(answer, dict) else {}
    return ChatReply(
        text=text,
        finish_reason=_word(finish_reason),
        usage=_usage(members.get("usage")),
        response_id=_word(members.get("id")),
    )


def _ask_for(
    form: JsonForm, body: dict[str, JsonValue], messages: list[JsonValue], structured_output: StructuredOutput
) -> None:
    schema = dict(form.schema)
    if structured_output is StructuredOutput.JSON_SCHEMA:
        named: JsonValue = {"name": form.name, "schema": schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
        return
    words = f"Reply with one JSON object and nothing else. It must fit this JSON Schema: {dumps(schema)}"
    messages.insert(0, {"role": Role.SYSTEM.value, "content": words})
    if structured_output is StructuredOutput.JSON_MODE:
        body["response_format"] = {"type": "json_object"}


def _first_choice(answer: JsonValue) -> dict[str, JsonValue]:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _malformed("has no choice")
    return choices[0]


def _usage(value: JsonValue) -> TokenUsage:
    members = value if isinstance(value, dict) else {}
    return TokenUsage(_count(members.get("prompt_tokens")), _count(members.get("completion_tokens")))


def _count(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0


def _word(value: JsonValue) -> str:
    return value[:_MAX_WORD_CHARACTERS] if isinstance(value, str) else ""


def _malformed(what: str) -> ModelFailed:
    return ModelFailed(ModelFailureKind.MALFORMED, f"The answer of the model's server {what}.", status_code=200)
