"""Chat completions as JSON."""

from typing import Any

import pytest

from taoloop.core import exact_json
from taoloop.models.chat_wire import body_of, reply_of
from taoloop.models.ports import ChatMessage, ChatRequest, JsonForm, ModelFailed, ModelFailureKind, Role
from taoloop.models.profiles import ModelProfile, StructuredOutput
from taoloop.testing.chat_server import completion

FORM = JsonForm("verdict", {"type": "object"})


def body(structured_output: StructuredOutput, form: JsonForm | None = FORM) -> dict[str, Any]:
    request = ChatRequest(messages=(ChatMessage(Role.USER, "你好"),), max_tokens=20, seed=7, form=form)
    value = exact_json.loads(body_of(request, "small", ModelProfile(structured_output=structured_output)))
    assert isinstance(value, dict)
    return value


def test_a_server_that_keeps_replies_to_a_schema_gets_it_as_a_parameter() -> None:
    sent = body(StructuredOutput.JSON_SCHEMA)
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "schema": {"type": "object"}, "strict": True},
    }
    assert sent["messages"] == [{"role": "user", "content": "你好"}]
    assert (sent["model"], sent["max_tokens"], sent["seed"], sent["stream"]) == ("small", 20, 7, False)


@pytest.mark.parametrize(
    ("structured_output", "parameter"),
    [(StructuredOutput.JSON_MODE, {"type": "json_object"}), (StructuredOutput.NONE, None)],
)
def test_other_servers_are_told_the_schema_in_words(
    structured_output: StructuredOutput, parameter: dict[str, str] | None
) -> None:
    sent = body(structured_output)
    assert sent.get("response_format") == parameter
    messages = sent["messages"]
    assert isinstance(messages, list)
    assert messages[0]["role"] == "system"
    assert '{"type":"object"}' in messages[0]["content"]


def test_free_text_names_no_form() -> None:
    sent = body(StructuredOutput.JSON_SCHEMA, form=None)
    assert "response_format" not in sent


def test_a_reply_comes_with_its_tokens() -> None:
    reply = reply_of(completion("ja", "stop"))
    assert (reply.text, reply.finish_reason, reply.response_id) == ("ja", "stop", "chatcmpl-1")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (12, 7)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_half_a_reply_is_no_reply(reason: str) -> None:
    with pytest.raises(ModelFailed) as failed:
        reply_of(completion('{"status": "val', reason))
    assert failed.value.kind is ModelFailureKind.CUT_OFF


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b'{"choices": []}',
        b'{"choices": [3]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": [{"message": {"content": ["a"]}}]}',
        b'{"choices": [{"message": {"content": "\\ud800"}}]}',
        b"[" * 100_000,
    ],
)
def test_an_answer_of_another_form_is_malformed(answer: bytes) -> None:
    with pytest.raises(ModelFailed) as failed:
        reply_of(answer)
    assert failed.value.kind is ModelFailureKind.MALFORMED


@pytest.mark.parametrize(
    "usage", ["null", "3", '{"prompt_tokens": -1}', '{"prompt_tokens": "12"}', '{"prompt_tokens": true}']
)
def test_tokens_that_are_no_counts_are_none(usage: str) -> None:
    answer = (
        completion("ja")
        .decode()
        .replace('"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19}', f'"usage":{usage}')
    )
    assert reply_of(answer.encode()).usage.input_tokens == 0
