"""Settings of one language model."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, SecretStr

from taoloop.core.settings import Seconds, SettingsGroup
from taoloop.models.profiles.model import StructuredOutput


class ProbeMode(StrEnum):
    """What is done about a model's server before traffic."""

    REQUIRE = "require"
    """The process does not start with a server that lacks anything that its profile promises."""
    DEGRADE = "degrade"
    """What the server lacks is left out, logged and counted; with one that cannot be used, calls are refused."""
    OFF = "off"
    """The profile is believed."""


class ChatModelSettings(SettingsGroup):
    """Where a language model is served, and what it can do."""

    url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="Base URL of an OpenAI-compatible server, such as `http://127.0.0.1:8000/v1`; unset: no model.",
    )
    model: str = Field(default="default", min_length=1, max_length=200, description="Name of the model on that server.")
    api_key: SecretStr = Field(default=SecretStr(""), description="Bearer token for that server; empty for none.")
    profile: str = Field(
        default="openai-compatible",
        min_length=1,
        description="What that server can do: a named profile such as `vllm`, or the path of a file `….yaml`.",
    )
    structured_output: StructuredOutput | None = Field(
        default=None,
        description="How it is told the form of a reply, in place of the profile's: `json_schema`, "
        "`structured_outputs`, `json_mode` or `none`.",
    )
    context_tokens: int | None = Field(
        default=None,
        ge=512,
        le=10_000_000,
        description="Prompt and reply together, in place of the profile's; the server's own figure bounds it.",
    )
    probe: ProbeMode = Field(
        default=ProbeMode.DEGRADE,
        description="Before traffic: `require` refuses to start on a mismatch, `degrade` does without, `off` believes.",
    )
    probe_seconds: Seconds = Field(default=60.0, description="How long one probe may take.")
    probe_start_seconds: Seconds = Field(
        default=5.0,
        description="How long the start waits for the first probe, which `require` waits for to its end.",
    )
    probe_again_seconds: Seconds = Field(
        default=10.0, description="Pause before a server that is away or failed is probed again."
    )
    timeout_seconds: Seconds = Field(default=10.0, description="How long one reply may take.")
    silence_seconds: Seconds = Field(default=5.0, description="Longest pause within a streamed reply.")
    max_in_flight: int = Field(
        default=64, ge=1, le=10_000, description="Most calls of one process at the same time; others wait in theirs."
    )
    max_reply_tokens: int = Field(default=1024, ge=16, le=131_072, description="Longest reply, in the model's tokens.")
    max_reply_bytes: int = Field(
        default=1024 * 1024, ge=1024, le=64 * 1024 * 1024, description="Largest answer of that server that is read."
    )
