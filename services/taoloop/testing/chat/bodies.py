"""Bodies of chat completions as servers send them, whole and as streams of events."""

from __future__ import annotations

from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue

PROMPT_TOKENS: Final = 12
USAGE: JsonValue = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": 7, "total_tokens": 19}


def completion(
    text: str, finish_reason: str = "stop", *, logprobs: JsonValue = None, usage: JsonValue = USAGE
) -> bytes:
    """Return the body of a chat completion with one choice."""
    message: JsonValue = {"role": "assistant", "content": text}
    answer: JsonValue = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "small",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": logprobs}],
        "usage": usage,
    }
    return exact_json.dumps(answer).encode()


def events(text: str, finish_reason: str = "stop") -> tuple[bytes, ...]:
    """Return the same as a stream: a first chunk without text, one for each word, one with the usage, the end."""
    words = text.split(" ")
    said = [word if place == 0 else f" {word}" for place, word in enumerate(words)]
    chunks = [_chunk({"role": "assistant", "content": ""}), *(_chunk({"content": word}) for word in said)]
    chunks.append(_chunk({}, finish_reason))
    usage: JsonValue = {"id": "chatcmpl-1", "model": "small", "choices": [], "usage": USAGE}
    return (*(event(chunk) for chunk in chunks), event(usage), b"data: [DONE]\n\n")


def event(value: JsonValue) -> bytes:
    """Return one server-sent event with a JSON value."""
    return b"data: " + exact_json.dumps(value).encode() + b"\n\n"


def _chunk(delta: JsonValue, finish_reason: str | None = None) -> JsonValue:
    choice: JsonValue = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "small", "choices": [choice]}
