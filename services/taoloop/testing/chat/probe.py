"""How a played model's server answers the questions of a readiness probe: by what it is said to be able to do."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.models.readiness import facts
from taoloop.testing.chat.bodies import USAGE, completion

_WORDS: Final = count(1)
_TOKEN: JsonValue = {"token": "{", "logprob": -0.1, "top_logprobs": [{"token": "{", "logprob": -0.1}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """What a played server and its model can do; by default everything that a probe asks for.

    Attributes:
        names: What it lists; None: every name, since it has no list (404).
        context_tokens: What it says of its context; None: nothing.
        listing_status: Status of the list.
        parameters: Which of `json_schema`, `structured_outputs`, `json_object` it keeps to.
        refuses: Which of them it answers with 400; the others that it does not keep to are ignored.
        follows_words: Whether it replies with JSON when it is only told to in words.
        is_honest: Whether the facts come back as they were.
        repeats: Whether the same seed gives the same reply.
        has_logprobs: Whether they come when they are asked for.
        has_usage: Whether it counts tokens.
        counts_prompts: Whether `POST /tokenize` tells the tokens of a prompt: as many as the usage of its replies says.
        fills_with_blanks: Whether a form against the model's will ends at the longest reply.
        status: Of every question; another one than 200 plays a server in trouble.
        delay_seconds: Pause before every answer, the list's among them.
    """

    names: tuple[str, ...] | None = None
    context_tokens: int | None = 8192
    listing_status: int = 200
    parameters: frozenset[str] = frozenset({"json_schema", "structured_outputs", "json_object"})
    refuses: frozenset[str] = frozenset()
    follows_words: bool = True
    is_honest: bool = True
    repeats: bool = True
    has_logprobs: bool = True
    has_usage: bool = True
    counts_prompts: bool = True
    fills_with_blanks: bool = False
    status: int = 200
    delay_seconds: float = 0.0

    def listing(self) -> dict[str, Any]:
        """Return the answer to `GET /models`, as members of a scripted reply."""
        if self.names is None or self.listing_status != 200:
            status = 404 if self.names is None else self.listing_status
            return {"status": status, "body": b"{}", "delay_seconds": self.delay_seconds}
        told: dict[str, JsonValue] = {} if self.context_tokens is None else {"max_model_len": self.context_tokens}
        data: list[JsonValue] = [{"id": name, "object": "model", **told} for name in self.names]
        listed: JsonValue = {"object": "list", "data": data}
        return {"body": exact_json.dumps(listed).encode(), "delay_seconds": self.delay_seconds}


def probe_answer(body: dict[str, JsonValue], served: ServedModel) -> dict[str, Any] | None:
    """Return the answer to a probe's question, as members of a scripted reply; None for every other request."""
    words = _last_words(body)
    if not words.startswith((facts.TEMPTING, facts.PLAIN, facts.FREE)):
        return None
    if served.status != 200:
        return {"status": served.status, "body": b"{}"}
    parameter = _parameter(body)
    if parameter in served.refuses:
        return {"status": 400, "body": b'{"error": {"type": "BadRequestError", "code": 400}}'}
    is_kept = parameter in served.parameters
    is_tempted = words.startswith(facts.TEMPTING)
    if served.fills_with_blanks and is_kept and is_tempted:
        return {"body": completion('{"parcel":\n\n\n', "length")}
    is_json = is_kept or (served.follows_words and not is_tempted)
    text = _text(words, served) if is_json else "It was returned."
    logprobs: JsonValue = {"content": [_TOKEN]} if served.has_logprobs and body.get("logprobs") is True else None
    return {"body": completion(text, logprobs=logprobs, usage=USAGE if served.has_usage else None)}


def _text(words: str, served: ServedModel) -> str:
    if words.startswith(facts.FREE):
        return exact_json.dumps({"word": "harbour" if served.repeats else f"word{next(_WORDS)}"})
    return exact_json.dumps(facts.KNOWN if served.is_honest else {**facts.KNOWN, "pieces": 4})


def _parameter(body: dict[str, JsonValue]) -> str:
    """Return by which parameter a form was asked for; empty for words alone."""
    if "structured_outputs" in body:
        return "structured_outputs"
    form = body.get("response_format")
    kind = form.get("type") if isinstance(form, dict) else ""
    return kind if isinstance(kind, str) else ""


def _last_words(body: dict[str, JsonValue]) -> str:
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    return content if isinstance(content, str) else ""
