"""What a server sends back, whole or in pieces, made into one reply; a server's own words of failure stay out."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from taoloop.core.exact_json import JsonSyntaxError, JsonValue, loads
from taoloop.models.ports import ChatReply, ModelFailed, ModelFailureKind, TokenLogprob, TokenUsage

_CUT_OFF: Final = frozenset({"length", "content_filter", "max_tokens"})
_MAX_WORD_CHARACTERS: Final = 100
_CODE_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_CONTEXT_WORDS: Final = frozenset({"context_length_exceeded", "input_tokens", "exceed_context_size_error"})
"""How servers call it when prompt and reply do not fit: OpenAI's code, vLLM's parameter, llama.cpp's type."""

_MOST_LOGPROB: Final = 1e6
"""Servers write -9999 for what cannot be; beyond this it is no logarithm of a likelihood."""

Members = dict[str, JsonValue]


class ReplyInPieces:
    """Puts a streamed reply together; a whole one is a stream of one piece."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._finish_reason = ""
        self._usage = TokenUsage()
        self._id = ""
        self._model = ""

    @property
    def has_begun(self) -> bool:
        """Whether the first token came."""
        return bool(self._text or self._reasoning)

    @property
    def is_finished(self) -> bool:
        """Whether the server said why the reply ends."""
        return bool(self._finish_reason)

    def take(self, piece: bytes) -> None:
        """Take one chunk of a stream, or the body of an answer that came whole.

        Raises:
            ModelFailed: MALFORMED; REFUSED or TOO_LARGE when the server tells of a failure.
        """
        members = _object(piece)
        if members.get("error"):
            raise refusal(piece, 200)
        self._id = self._id or _word(members.get("id"))
        self._model = self._model or _word(members.get("model"))
        if members.get("usage") is not None:
            self._usage = _usage(members["usage"])
        choices = members.get("choices")
        if not isinstance(choices, list):
            raise _malformed("has no choice")
        for choice in choices[:1]:
            self._take_choice(choice)

    def reply(self) -> ChatReply:
        """Return the reply.

        Raises:
            ModelFailed: CUT_OFF when it did not end by itself, EMPTY when it has no text, MALFORMED when it has no end.
        """
        if not self.is_finished:
            raise _malformed("does not say why the reply ends")
        if self._finish_reason in _CUT_OFF:
            message = f"The model's reply was cut off: {self._finish_reason}."
            raise ModelFailed(ModelFailureKind.CUT_OFF, message, status_code=200)
        text = "".join(self._text)
        if not text.strip():
            raise ModelFailed(ModelFailureKind.EMPTY, "The model's reply is empty.", status_code=200)
        return ChatReply(
            text=text,
            finish_reason=self._finish_reason,
            usage=self._usage,
            response_id=self._id,
            model=self._model,
            reasoning="".join(self._reasoning),
            logprobs=tuple(self._logprobs),
        )

    def _take_choice(self, choice: JsonValue) -> None:
        if not isinstance(choice, dict):
            raise _malformed("has a choice of another form")
        said = choice.get("delta", choice.get("message"))
        if not isinstance(said, dict):
            raise _malformed("has no message")
        for into, text in ((self._text, said.get("content")), (self._reasoning, _reasoning(said))):
            if isinstance(text, str):
                if text:
                    into.append(text)
            elif text is not None:
                raise _malformed("has no text")
        self._logprobs.extend(_logprobs(choice.get("logprobs")))
        self._finish_reason = _word(choice.get("finish_reason")) or self._finish_reason


def refusal(body: bytes, status_code: int, retry_after_seconds: float | None = None) -> ModelFailed:
    """Return the failure that an answer with an error tells of: its code or type, if that is one word, and no text.

    Args:
        body: The answer, as far as it was read.
        status_code: HTTP status; of an error within a stream 200, the error's own code counts then.
        retry_after_seconds: What the header said.
    """
    words, code = _error_words(body)
    status = code if status_code == 200 and 400 <= code <= 599 else status_code
    if words & _CONTEXT_WORDS:
        message = "Prompt and reply together are larger than the model's context, says its server."
        return ModelFailed(ModelFailureKind.TOO_LARGE, message, status_code=status)
    named = f" ({', '.join(sorted(words))})" if words else ""
    if status_code == 200:
        # Whatever broke within a reply, such as an engine out of memory, is not the request's fault.
        message = f"The model's server failed within its reply{named}."
        return ModelFailed(ModelFailureKind.REFUSED, message, status_code=max(status, 500))
    message = f"The model's server answered with status {status}{named}."
    return ModelFailed(ModelFailureKind.REFUSED, message, status_code=status, retry_after_seconds=retry_after_seconds)


def _error_words(body: bytes) -> tuple[set[str], int]:
    try:
        members = _object(body)
    except ModelFailed:
        return set(), 0
    error = members.get("error")
    told = error if isinstance(error, dict) else members
    words = {
        value
        for value in (told.get("code"), told.get("type"), told.get("param"))
        if isinstance(value, str) and _CODE_WORD.fullmatch(value)
    }
    return words, _count(told.get("code"))


def _object(text: bytes) -> Members:
    try:
        value = loads(text, max_bytes=len(text))
    except JsonSyntaxError as exc:
        raise _malformed("is not JSON") from exc
    if not isinstance(value, dict):
        raise _malformed("is no JSON object")
    return value


def _reasoning(said: Members) -> JsonValue:
    """Return what the server's reasoning parser set apart; its name changed between versions of vLLM."""
    value = said.get("reasoning", said.get("reasoning_content"))
    return value if isinstance(value, str) else None


def _usage(value: JsonValue) -> TokenUsage:
    members = value if isinstance(value, dict) else {}
    prompt, output = members.get("prompt_tokens_details"), members.get("completion_tokens_details")
    return TokenUsage(
        _count(members.get("prompt_tokens")),
        _count(members.get("completion_tokens")),
        _count(prompt.get("cached_tokens")) if isinstance(prompt, dict) else 0,
        _count(output.get("reasoning_tokens")) if isinstance(output, dict) else 0,
    )


def _logprobs(value: JsonValue) -> list[TokenLogprob]:
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list):
        return []
    found = [_logprob(one) for one in content if isinstance(one, dict)]
    return [one for one in found if one is not None]


def _logprob(members: Members) -> TokenLogprob | None:
    token, logprob = members.get("token"), _number(members.get("logprob"))
    if not isinstance(token, str) or logprob is None:
        return None
    top = members.get("top_logprobs")
    beside: list[tuple[str, float]] = []
    for one in top if isinstance(top, list) else ():
        if isinstance(one, dict) and isinstance(name := one.get("token"), str):
            likelihood = _number(one.get("logprob"))
            if likelihood is not None:
                beside.append((name, likelihood))
    return TokenLogprob(token, logprob, tuple(beside))


def _number(value: JsonValue) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond all floats; a decimal becomes infinite
        return None
    return number if abs(number) < _MOST_LOGPROB else None


def _count(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0


def _word(value: JsonValue) -> str:
    return value[:_MAX_WORD_CHARACTERS] if isinstance(value, str) else ""


def _malformed(what: str) -> ModelFailed:
    return ModelFailed(ModelFailureKind.MALFORMED, f"The answer of the model's server {what}.", status_code=200)
