"""Settings of one language model."""

from __future__ import annotations

from pydantic import Field, SecretStr

from taoloop.core.settings import Seconds, SettingsGroup
from taoloop.models.profiles import StructuredOutput


class ChatModelSettings(SettingsGroup):
    """Where a language model is served, and what it can do."""

    url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="Base URL of an OpenAI-compatible server, such as `http://127.0.0.1:8000/v1`; unset: no model.",
    )
    model: str = Field(default="default", min_length=1, max_length=200, description="Name of the model on that server.")
    api_key: SecretStr = Field(default=SecretStr(""), description="Bearer token for that server; empty for none.")
    timeout_seconds: Seconds = Field(default=10.0, description="How long one reply may take.")
    max_reply_tokens: int = Field(default=1024, ge=16, le=131_072, description="Longest reply, in the model's tokens.")
    max_reply_bytes: int = Field(
        default=1024 * 1024, ge=1024, le=64 * 1024 * 1024, description="Largest answer of that server that is read."
    )
    structured_output: StructuredOutput = Field(
        default=StructuredOutput.JSON_SCHEMA,
        description="How that server is told the form of a reply: `json_schema`, `json_mode` or `none`.",
    )
    context_tokens: int = Field(
        default=8192, ge=512, le=10_000_000, description="Prompt and reply together, in the model's tokens."
    )
