"""Profiles from files."""

from decimal import Decimal
from pathlib import Path

import pytest

from taoloop.core.errors import ConfigurationError
from taoloop.models.ports import TokenUsage
from taoloop.models.profiles import ReplyLimitField, StructuredOutput
from taoloop.models.profiles.loading import load_profile, named_profiles

OWN = """\
apiVersion: taoloop.dev/v1
kind: ModelProfile
metadata: {name: own, description: Ours.}
spec:
  structured_output: structured_outputs
  grammar: true
  context_tokens: 4096
  max_reply_tokens: 256
  reply_limit_field: max_completion_tokens
  streaming: false
  stream_usage: false
  temperature: false
  seed: false
  max_stop_sequences: 2
  max_top_logprobs: 5
  extra: {chat_template_kwargs: {enable_thinking: false}}
  price: {currency: CNY, input_per_million: 2.5, cached_input_per_million: 0.5, output_per_million: 10}
  speed: {first_token_seconds: 0.5, tokens_per_second: 40}
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", named_profiles())
def test_every_profile_that_comes_along_can_be_used_under_its_name(name: str) -> None:
    assert load_profile(name).name == name


def test_the_profiles_that_the_manual_names_come_along() -> None:
    assert {"vllm", "vllm-grammar", "openai-compatible", "json-mode", "ollama"} <= set(named_profiles())


def test_a_profile_of_ones_own_is_read_whole(tmp_path: Path) -> None:
    profile = load_profile(written(tmp_path, OWN))
    assert (profile.name, profile.structured_output) == ("own", StructuredOutput.STRUCTURED_OUTPUTS)
    assert (profile.takes_grammar, profile.context_tokens, profile.context) == (True, 4096, 4096)
    assert (profile.max_reply_tokens, profile.reply_limit_field) == (256, ReplyLimitField.MAX_COMPLETION_TOKENS)
    assert (profile.streams, profile.streams_usage, profile.takes_temperature, profile.takes_seed) == (False,) * 4
    assert (profile.max_stop_sequences, profile.max_top_logprobs) == (2, 5)
    assert profile.extra == {"chat_template_kwargs": {"enable_thinking": False}}
    assert profile.expected_seconds(20) == 1.0
    assert profile.price is not None
    assert profile.price.of(TokenUsage(1_000_000, 100_000, 400_000)) == Decimal("2.7")


def test_cached_tokens_cost_as_much_as_others_where_nothing_is_said(tmp_path: Path) -> None:
    profile = load_profile(written(tmp_path, OWN.replace(" cached_input_per_million: 0.5,", "")))
    assert profile.price is not None
    assert profile.price.cached_input_per_million == Decimal("2.5")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("structured_outputs", "guided_json", ":5:"),
        ("seed: false", "seed: sometimes", "/spec/seed"),
        ("  seed: false\n", "", '"seed" is a required property'),
        ("max_top_logprobs: 5", "max_top_logprobs: 50", "/spec/max_top_logprobs"),
        ("grammar: true", "gramar: true", "the key 'gramar' is unknown"),
        ("enable_thinking: false}", "enable_thinking: false}, model: other", "/spec/extra"),
        ("currency: CNY", "currency: yuan", "/spec/price/currency"),
        ("tokens_per_second: 40", "tokens_per_second: 0", "/spec/speed/tokens_per_second"),
        ("kind: ModelProfile", "kind: Tool", "/kind"),
        ("spec:", "spec: [", "YAML_SYNTAX"),
    ],
)
def test_a_fault_is_told_with_its_file_field_and_remedy(tmp_path: Path, before: str, after: str, told: str) -> None:
    path = written(tmp_path, OWN.replace(before, after, 1))
    with pytest.raises(ConfigurationError) as refused:
        load_profile(path)
    assert f"{path}:" in refused.value.message
    assert told in refused.value.message
    assert refused.value.metadata["profile"] == path


@pytest.mark.parametrize("name", ["vlm", "", "../vllm", "/etc/none.yaml"])
def test_a_profile_that_does_not_exist_is_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_profile(name)
    assert name in refused.value.message


def test_a_misspelt_name_is_told_those_that_exist() -> None:
    with pytest.raises(ConfigurationError, match="openai-compatible, reasoning, vllm"):
        load_profile("vlm")
