"""Rules of settings: read once, refused with the variable's name, shown without secrets."""

from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field, SecretStr, ValidationError

from taoloop.core.errors import ConfigurationError
from taoloop.core.settings import (
    GrpcSettings,
    RedisSettings,
    ServiceSettings,
    SettingRow,
    TelemetrySettings,
    describe,
    load_settings,
    masked,
    unknown_variables,
)


class _Settings(ServiceSettings):
    telemetry: TelemetrySettings = Field(default=TelemetrySettings(metrics_port=9702), description="Traces.")
    grpc: GrpcSettings = Field(default_factory=GrpcSettings)
    redis: RedisSettings = Field(default_factory=RedisSettings)
    api_token: SecretStr = Field(description="What the model server wants.", min_length=4)
    bases: dict[str, str] = Field(default_factory=dict, description="Base URLs by name.")
    secrets: dict[str, SecretStr] = Field(default_factory=dict, description="Secrets by name.")
    allowed: tuple[str, ...] = Field(default=("a",), description="What may be used.")
    catalogue: Path = Field(default=Path("tools"), description="Where the contracts are.")
    mode: Literal["fast", "safe"] | None = Field(default=None, description="How it runs.")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    import os

    for name in [name for name in os.environ if name.startswith("TAOLOOP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TAOLOOP_API_TOKEN", "tkn-55-secret")
    return monkeypatch


def test_a_variable_of_a_group_has_two_underscores(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TAOLOOP_GRPC__MAX_MESSAGE_BYTES", "1048576")
    environment.setenv("TAOLOOP_TELEMETRY__SAMPLE_RATIO", "0.25")
    environment.setenv("TAOLOOP_LOG_LEVEL", "debug")
    settings = load_settings(_Settings)
    assert settings.grpc.max_message_bytes == 1_048_576
    assert settings.telemetry.sample_ratio == 0.25
    assert settings.log_level == "debug"


def test_defaults_hold_when_nothing_or_an_empty_text_is_set(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TAOLOOP_TELEMETRY__OTLP_ENDPOINT", "")
    settings = load_settings(_Settings)
    assert settings.grpc.max_message_bytes == 8 * 1024 * 1024
    assert settings.telemetry.otlp_endpoint is None


def test_settings_cannot_be_changed() -> None:
    settings = load_settings(_Settings)
    with pytest.raises(ValidationError):
        settings.log_level = "debug"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        settings.grpc.keepalive_seconds = 1.0  # type: ignore[misc]


def test_every_fault_is_named_with_its_variable_and_value(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TAOLOOP_GRPC__MAX_MESSAGE_BYTES", "5")
    environment.setenv("TAOLOOP_LOG_LEVEL", "loud")
    environment.delenv("TAOLOOP_API_TOKEN")
    with pytest.raises(ConfigurationError) as caught:
        load_settings(_Settings)
    message = caught.value.message
    assert "TAOLOOP_GRPC__MAX_MESSAGE_BYTES is '5': input should be greater than or equal to 65536" in message
    assert "TAOLOOP_LOG_LEVEL is 'loud'" in message
    assert "TAOLOOP_API_TOKEN is not set; set it" in message
    assert set(caught.value.metadata["variables"].split(",")) == {
        "TAOLOOP_GRPC__MAX_MESSAGE_BYTES", "TAOLOOP_LOG_LEVEL", "TAOLOOP_API_TOKEN",
    }  # fmt: skip


def test_a_secret_at_fault_is_not_shown(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TAOLOOP_API_TOKEN", "abc")
    with pytest.raises(ConfigurationError, match=r"TAOLOOP_API_TOKEN is \*\*\*") as caught:
        load_settings(_Settings)
    assert "abc" not in caught.value.message
    assert caught.value.__cause__ is None


def test_a_group_that_is_no_json_is_refused_by_its_variable(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TAOLOOP_GRPC", "lots")
    with pytest.raises(ConfigurationError, match="TAOLOOP_GRPC is not the JSON") as caught:
        load_settings(_Settings)
    assert caught.value.metadata == {"variables": "TAOLOOP_GRPC"}


def test_a_client_may_not_ping_faster_than_the_server_allows(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TAOLOOP_GRPC__KEEPALIVE_SECONDS", "19.9")
    with pytest.raises(ConfigurationError, match=r"TAOLOOP_GRPC: keepalive_seconds \(19.9\) must not be below"):
        load_settings(_Settings)
    environment.setenv("TAOLOOP_GRPC__KEEPALIVE_SECONDS", "20")
    assert load_settings(_Settings).grpc.keepalive_seconds == 20.0


@pytest.mark.parametrize("endpoint", ["collector:4317", "ftp://x"])
def test_an_endpoint_says_whether_it_has_tls(environment: pytest.MonkeyPatch, endpoint: str) -> None:
    environment.setenv("TAOLOOP_TELEMETRY__OTLP_ENDPOINT", endpoint)
    with pytest.raises(ConfigurationError, match="OTLP_ENDPOINT"):
        load_settings(_Settings)


def test_a_description_has_everything_that_the_documentation_shows() -> None:
    rows = {row.env: row for row in describe(_Settings)}
    assert rows["TAOLOOP_GRPC__MAX_MESSAGE_BYTES"] == SettingRow(
        env="TAOLOOP_GRPC__MAX_MESSAGE_BYTES",
        type="integer",
        default="8388608",
        is_required=False,
        unit="bytes",
        bounds="65536 to 268435456",
        sentence="Largest message that a server takes and a client sends or takes.",
        is_secret=False,
    )
    token = rows["TAOLOOP_API_TOKEN"]
    assert (token.type, token.default, token.is_required, token.is_secret) == ("secret text", "", True, True)
    assert rows["TAOLOOP_MODE"].type == "fast | safe"
    assert rows["TAOLOOP_SHUTDOWN_GRACE_SECONDS"].bounds == "above 0, at most 86400"


def test_every_shared_setting_has_a_sentence_and_every_number_its_bounds() -> None:
    for row in describe(_Settings):
        assert row.sentence.endswith("."), row.env
        assert row.bounds or row.type not in {"integer", "number"}, row.env


def test_the_log_at_start_shows_settings_without_secrets(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TAOLOOP_REDIS__URL", "redis://ann:pa55@cache.test:6379/1")
    shown = masked(load_settings(_Settings))
    assert shown["TAOLOOP_REDIS__URL"] == "redis://ann:***@cache.test:6379/1"
    assert shown["TAOLOOP_API_TOKEN"] == "***"
    assert shown["TAOLOOP_TELEMETRY__METRICS_PORT"] == 9702
    assert shown["TAOLOOP_MODE"] is None
    assert shown.keys() == {row.env for row in describe(_Settings)}


def test_a_misspelt_variable_is_found() -> None:
    environment = {"TAOLOOP_LOGLEVEL": "x", "TAOLOOP_GRPC": "{}", "TAOLOOP_REDIS__URL": "y", "PATH": "/bin"}
    assert unknown_variables([_Settings], environment) == ("TAOLOOP_LOGLEVEL",)


def test_a_variable_changes_one_member_and_leaves_the_other_defaults_of_the_class(
    environment: pytest.MonkeyPatch,
) -> None:
    environment.setenv("TAOLOOP_TELEMETRY__SAMPLE_RATIO", "0.5")
    settings = load_settings(_Settings)
    assert (settings.telemetry.sample_ratio, settings.telemetry.metrics_port) == (0.5, 9702)
    rows = {row.env: row.default for row in describe(_Settings)}
    assert rows["TAOLOOP_TELEMETRY__METRICS_PORT"] == "9702"


def test_structured_settings_are_written_as_the_environment_takes_them(environment: pytest.MonkeyPatch) -> None:
    rows = {row.env: row for row in describe(_Settings)}
    assert (rows["TAOLOOP_BASES"].type, rows["TAOLOOP_BASES"].default) == ("JSON", "{}")
    assert (rows["TAOLOOP_ALLOWED"].type, rows["TAOLOOP_ALLOWED"].default) == ("JSON", '["a"]')
    assert (rows["TAOLOOP_CATALOGUE"].type, rows["TAOLOOP_CATALOGUE"].default) == ("path", "tools")
    assert rows["TAOLOOP_SECRETS"].is_secret
    environment.setenv("TAOLOOP_BASES", '{"orders":"https://u:pw@h.test"}')
    environment.setenv("TAOLOOP_SECRETS", '{"ORDERS":"abc"}')
    shown = masked(load_settings(_Settings))
    assert shown["TAOLOOP_BASES"] == '{"orders":"https://u:***@h.test"}'
    assert shown["TAOLOOP_SECRETS"] == '{"ORDERS":"***"}'


class _Sharing(ServiceSettings):
    """Settings with a group that may be unset."""

    meeting: RedisSettings | None = Field(default=None, description="Where the replicas meet.")


def test_a_group_that_may_be_unset_is_described_with_its_members() -> None:
    rows = {row.env: row for row in describe(_Sharing)}
    assert (rows["TAOLOOP_MEETING"].type, rows["TAOLOOP_MEETING"].default) == ("JSON", "")
    assert rows["TAOLOOP_MEETING__URL"].is_secret
    assert unknown_variables([_Sharing], {"TAOLOOP_MEETING__URL": "y", "TAOLOOP_MEETING__URI": "y"}) == (
        "TAOLOOP_MEETING__URI",
    )


def test_a_group_is_shown_by_its_members_once_one_is_set(environment: pytest.MonkeyPatch) -> None:
    unset = masked(load_settings(_Sharing))
    assert unset["TAOLOOP_MEETING"] is None
    assert "TAOLOOP_MEETING__URL" not in unset
    environment.setenv("TAOLOOP_MEETING__URL", "redis://ann:pa55@cache.test:6379/1")
    shown = masked(load_settings(_Sharing))
    assert "TAOLOOP_MEETING" not in shown
    assert shown["TAOLOOP_MEETING__URL"] == "redis://ann:***@cache.test:6379/1"
    assert shown["TAOLOOP_MEETING__KEY_PREFIX"] == "taoloop"
