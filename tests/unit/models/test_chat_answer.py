"""Replies out of what servers send."""

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.models.chat_answer import ReplyInPieces, refusal
from taoloop.models.event_stream import EventStream
from taoloop.models.ports import ChatReply, ModelFailed, ModelFailureKind, TokenLogprob, TokenUsage
from taoloop.testing.chat.bodies import completion, events


def reply_of(*pieces: bytes) -> ChatReply:
    collected = ReplyInPieces()
    for piece in pieces:
        collected.take(piece)
    return collected.reply()


def failure_of(*pieces: bytes) -> ModelFailed:
    with pytest.raises(ModelFailed) as failed:
        reply_of(*pieces)
    return failed.value


def chunk(delta: JsonValue, finish_reason: str | None = None) -> bytes:
    return exact_json.dumps({"choices": [{"delta": delta, "finish_reason": finish_reason}]}).encode()


def test_a_whole_reply_comes_with_its_tokens() -> None:
    reply = reply_of(completion("ja", "stop"))
    assert (reply.text, reply.finish_reason, reply.response_id, reply.model) == ("ja", "stop", "chatcmpl-1", "small")
    assert reply.usage == TokenUsage(12, 7)


def test_a_streamed_reply_is_the_same_as_a_whole_one() -> None:
    pieces = [piece.removeprefix(b"data: ").strip() for piece in events("one two three")]
    assert reply_of(*pieces[:-1]) == reply_of(completion("one two three"))


def test_reasoning_is_told_apart_under_either_of_its_names() -> None:
    reply = reply_of(
        chunk({"reasoning_content": "Hm. "}), chunk({"reasoning": "Yes."}), chunk({"content": "4"}), chunk({}, "stop")
    )
    assert (reply.text, reply.reasoning) == ("4", "Hm. Yes.")


def test_cached_and_reasoning_tokens_are_read() -> None:
    usage: JsonValue = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    assert reply_of(completion("ja", usage=usage)).usage == TokenUsage(100, 30, 64, 20)


def test_likelihoods_are_read_and_what_is_none_is_left_out() -> None:
    logprobs: JsonValue = {
        "content": [
            {"token": "ja", "logprob": -0.5, "top_logprobs": [{"token": "ja", "logprob": -0.5}, {"token": 3}, None]},
            {"token": "x", "logprob": "high"},
            {"token": "x", "logprob": 10**400},
            {"token": "x", "logprob": Decimal("-1e999999")},
            7,
        ]
    }
    assert reply_of(completion("ja", logprobs=logprobs)).logprobs == (TokenLogprob("ja", -0.5, (("ja", -0.5),)),)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_half_a_reply_is_no_reply(reason: str) -> None:
    assert failure_of(completion('{"status": "val', reason)).kind is ModelFailureKind.CUT_OFF


@pytest.mark.parametrize("text", ["", " \n\n "])
def test_a_reply_without_text_is_empty(text: str) -> None:
    assert failure_of(completion(text)).kind is ModelFailureKind.EMPTY


def test_reasoning_alone_is_empty() -> None:
    assert failure_of(chunk({"reasoning": "Hm."}), chunk({}, "stop")).kind is ModelFailureKind.EMPTY


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b'{"choices": null}',
        b'{"choices": []}',
        b'{"choices": [3]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": [{"message": {"content": ["a"]}}]}',
        b'{"choices": [{"message": {"content": "\\ud800"}}]}',
        b'{"choices": [{"message": {"content": "no end"}}]}',
        b"[" * 100_000,
    ],
)
def test_an_answer_of_another_form_is_malformed(answer: bytes) -> None:
    assert failure_of(answer).kind is ModelFailureKind.MALFORMED


@pytest.mark.parametrize("usage", [3, [], {"prompt_tokens": -1}, {"prompt_tokens": "12"}, {"prompt_tokens": True}])
def test_tokens_that_are_no_counts_are_none(usage: JsonValue) -> None:
    assert reply_of(completion("ja", usage=usage)).usage == TokenUsage()


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ('{"message": "secret", "type": "OutOfMemoryError", "code": 507}', ModelFailureKind.REFUSED, 507),
        ('{"message": "secret", "code": 400}', ModelFailureKind.REFUSED, 500),
        ('"engine dead: secret"', ModelFailureKind.REFUSED, 500),
        ('{"message": "secret", "code": "context_length_exceeded"}', ModelFailureKind.TOO_LARGE, 200),
    ],
)
def test_a_failure_within_a_stream_is_the_servers(error: str, kind: ModelFailureKind, status: int) -> None:
    failed = failure_of(chunk({"content": "half"}), f'{{"error": {error}}}'.encode())
    assert (failed.kind, failed.status_code) == (kind, status)
    assert failed.is_retriable is (kind is ModelFailureKind.REFUSED)
    assert "secret" not in failed.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            b'{"error": {"message": "your key", "type": "NotFoundError", "param": "model", "code": 404}}',
            "NotFoundError",
        ),
        (b'{"error": {"code": "rate_limited"}}', "rate_limited"),
        (b'{"object": "error", "type": "BadRequestError"}', "BadRequestError"),
    ],
)
def test_a_refusal_names_the_codes_of_the_server_and_none_of_its_sentences(body: bytes, message: str) -> None:
    failed = refusal(body, 404)
    assert (failed.kind, failed.status_code) == (ModelFailureKind.REFUSED, 404)
    assert message in failed.message
    assert "your key" not in failed.message


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"error": {"type": "a sentence with words"}}', b'{"error": "x y"}'])
def test_a_refusal_without_codes_has_its_status_alone(body: bytes) -> None:
    assert refusal(body, 503).message == "The model's server answered with status 503."


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"type": "BadRequestError", "param": "input_tokens", "code": 400}}',
        b'{"error": {"code": "context_length_exceeded"}}',
        b'{"error": {"type": "exceed_context_size_error", "code": 400}}',
    ],
)
def test_a_prompt_that_does_not_fit_is_told_as_such(body: bytes) -> None:
    failed = refusal(body, 400)
    assert (failed.kind, failed.is_retriable) == (ModelFailureKind.TOO_LARGE, False)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "message", "content", "finish_reason", "usage", "logprobs", "error", "code"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(_JSON, max_size=4))
def test_any_json_gives_a_reply_or_a_failure(values: list[JsonValue]) -> None:
    with contextlib.suppress(ModelFailed):
        assert reply_of(*(exact_json.dumps(value).encode() for value in values)).text


@given(st.data())
def test_any_damage_to_a_stream_gives_a_reply_or_a_failure(draw: st.DataObject) -> None:
    stream = bytearray(b"".join(events("one two three")))
    for _ in range(draw.draw(st.integers(1, 4))):
        start = draw.draw(st.integers(0, len(stream)))
        end = draw.draw(st.integers(start, min(len(stream), start + 20)))
        stream[start:end] = draw.draw(st.binary(max_size=8))
    pieces, parsed = EventStream(), ReplyInPieces()
    with contextlib.suppress(ModelFailed):
        for data in [*pieces.feed(bytes(stream)), *pieces.close()]:
            if data != b"[DONE]":
                parsed.take(data)
        assert parsed.reply().text
