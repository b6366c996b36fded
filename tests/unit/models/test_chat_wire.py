"""Bodies of requests, by profile."""

from dataclasses import replace
from typing import Any

import pytest

from taoloop.core import exact_json
from taoloop.models.chat_wire import body_of, surely_exceeds
from taoloop.models.ports import ChatMessage, ChatRequest, JsonForm, Role
from taoloop.models.profiles import ModelProfile, ReplyLimitField, StructuredOutput

FORM = JsonForm("verdict", {"type": "object"}, grammar='root ::= "{}"')
REQUEST = ChatRequest(
    messages=(ChatMessage(Role.SYSTEM, "Be brief."), ChatMessage(Role.USER, "你好")),
    max_tokens=20,
    temperature=0.5,
    top_p=0.9,
    seed=7,
    stop=("\n", "END"),
    top_logprobs=3,
    form=FORM,
)
EVERYTHING = ModelProfile(max_top_logprobs=20, takes_grammar=True)


def body(profile: ModelProfile, request: ChatRequest = REQUEST) -> dict[str, Any]:
    value = exact_json.loads(body_of(request, "small", profile))
    assert isinstance(value, dict)
    return value


def test_a_server_that_keeps_replies_to_a_schema_gets_it_as_a_parameter() -> None:
    sent = body(EVERYTHING)
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "schema": {"type": "object"}, "strict": True},
    }
    assert "structured_outputs" not in sent
    assert sent["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "你好"}]


@pytest.mark.parametrize(
    ("takes_grammar", "grammar", "parameter"),
    [
        (True, 'root ::= "{}"', {"grammar": 'root ::= "{}"'}),
        (True, "", {"json": {"type": "object"}}),
        (False, 'root ::= "{}"', {"json": {"type": "object"}}),
    ],
)
def test_a_grammar_goes_only_to_a_server_that_takes_grammars(
    takes_grammar: bool, grammar: str, parameter: dict[str, Any]
) -> None:
    profile = replace(EVERYTHING, structured_output=StructuredOutput.STRUCTURED_OUTPUTS, takes_grammar=takes_grammar)
    sent = body(profile, replace(REQUEST, form=replace(FORM, grammar=grammar)))
    assert sent["structured_outputs"] == parameter
    assert "response_format" not in sent


@pytest.mark.parametrize(
    ("structured_output", "parameter"),
    [(StructuredOutput.JSON_MODE, {"type": "json_object"}), (StructuredOutput.NONE, None)],
)
def test_other_servers_are_told_the_schema_in_words_after_all_that_may_be_cached(
    structured_output: StructuredOutput, parameter: dict[str, str] | None
) -> None:
    sent = body(replace(EVERYTHING, structured_output=structured_output))
    assert sent.get("response_format") == parameter
    first, last = sent["messages"]
    assert first == {"role": "system", "content": "Be brief."}
    assert last["content"].startswith("你好\n\n")
    assert last["content"].endswith('{"type":"object"}')


def test_a_form_that_the_messages_tell_is_not_told_again() -> None:
    told = replace(REQUEST, form=replace(FORM, is_told=True))
    assert body(replace(EVERYTHING, structured_output=StructuredOutput.NONE), told)["messages"][-1]["content"] == "你好"
    assert "response_format" in body(EVERYTHING, told)


def test_free_text_names_no_form() -> None:
    sent = body(EVERYTHING, replace(REQUEST, form=None))
    assert {"response_format", "structured_outputs"}.isdisjoint(sent)


def test_everything_that_the_profile_has_is_sent() -> None:
    sent = body(EVERYTHING)
    assert (sent["model"], sent["max_tokens"], sent["seed"], sent["stop"]) == ("small", 20, 7, ["\n", "END"])
    assert (float(sent["temperature"]), float(sent["top_p"])) == (0.5, 0.9)
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 3)
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})


def test_nothing_that_the_profile_lacks_is_sent() -> None:
    sent = body(
        ModelProfile(
            streams=False,
            takes_temperature=False,
            takes_seed=False,
            max_stop_sequences=0,
            structured_output=StructuredOutput.NONE,
            reply_limit_field=ReplyLimitField.MAX_COMPLETION_TOKENS,
        )
    )
    assert sent.keys() == {"model", "messages", "max_completion_tokens", "stream"}
    assert sent["stream"] is False


def test_limits_of_the_profile_bound_what_is_asked_for() -> None:
    sent = body(replace(EVERYTHING, max_reply_tokens=16, max_stop_sequences=1, max_top_logprobs=2))
    assert (sent["max_tokens"], sent["stop"], sent["top_logprobs"]) == (16, ["\n"], 2)


def test_a_stream_is_not_asked_for_its_usage_where_that_is_not_understood() -> None:
    assert "stream_options" not in body(replace(EVERYTHING, streams_usage=False))


def test_members_of_the_profile_ride_in_every_body_and_replace_nothing_of_ours() -> None:
    extra: dict[str, Any] = {"chat_template_kwargs": {"enable_thinking": False}, "model": "other"}
    sent = body(replace(EVERYTHING, extra=extra))
    assert sent["chat_template_kwargs"] == {"enable_thinking": False}
    assert sent["model"] == "small"


def test_a_prompt_surely_exceeds_a_context_by_its_bytes_alone() -> None:
    profile = ModelProfile(context_tokens=512)
    assert not surely_exceeds(b"x" * 8192, profile)
    assert surely_exceeds(b"x" * 8193, profile)
