"""Settings of memory, and of what a command needs that works on its stores."""

from __future__ import annotations

import re
from typing import Final, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from taoloop.core.settings import RedisSettings, Seconds, ServiceSettings, SettingsGroup
from taoloop.loop.memory.distillation.redacting import MemoryRedactor
from taoloop.models.settings import ChatModelSettings
from taoloop.plan.memory.fitting import MAX_TOKENS
from taoloop.tools.contract import PersonalData
from taoloop.tools.schema_refusals import SchemaRefused

_LINE: Final = re.compile(r"[a-z0-9_-]{1,64}")
_PLACEHOLDER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")


class HotMemorySettings(SettingsGroup):
    """Sessions for the minutes in which they are active."""

    enabled: bool = Field(default=True, description="Whether active sessions are kept in Redis.")
    ttl_seconds: float = Field(
        default=300.0,
        ge=30.0,
        le=300.0,
        description="How long a session is kept in Redis after its last run, in seconds; below 30 it would be gone "
        "before a user has read the answer.",
    )


class WarmMemorySettings(SettingsGroup):
    """Sessions, preferences and knowledge for a day."""

    url: SecretStr | None = Field(
        default=None,
        description="SQLAlchemy URL of warm memory: `sqlite+aiosqlite` or `postgresql+asyncpg`; unset: none is kept.",
    )
    ttl_seconds: float = Field(
        default=86_400.0,
        ge=300.0,
        le=30 * 86_400.0,
        description="How long sessions, runs and preferences are kept there after they were last written, in seconds.",
    )
    sweep_seconds: Seconds = Field(
        default=600.0, description="Pause between two rounds in which what has expired is deleted."
    )
    max_candidates: int = Field(
        default=200,
        ge=1,
        le=10_000,
        description="Most pieces of knowledge that a thought's are chosen from, the newest of a user and of a line.",
    )
    unknown_seconds: float = Field(
        default=5.0,
        ge=0.0,
        le=300.0,
        description="How long a run without a user does not ask anew what is known of a line of business of which "
        "nothing was, in seconds; so late is knowledge noticed that is added there.",
    )


class RecallSettings(SettingsGroup):
    """What of memory a thought is told."""

    enabled: bool = Field(default=True, description="Whether thoughts are told of earlier turns, runs and failures.")
    restores_state: bool = Field(
        default=True, description="Whether a run begins with its session's last state beneath what its caller gives."
    )
    min_score: float = Field(
        default=0.6, ge=0.0, lt=1.0, description="Knowledge is told only if it fits the request better than this."
    )
    max_items: int = Field(default=2, ge=0, le=10, description="Most pieces of knowledge beside the state snapshot.")
    max_tokens: int = Field(
        default=MAX_TOKENS, ge=64, le=MAX_TOKENS, description="Most tokens of memory in a prompt, markers included."
    )
    max_summary_tokens: int = Field(default=128, ge=16, le=128, description="Longest summary of a session, in tokens.")


class LineMemorySettings(SettingsGroup):
    """Stores of one line of business alone."""

    redis_url: SecretStr | None = Field(default=None, description="Redis of the line's sessions; unset: none are kept.")
    warm_url: SecretStr | None = Field(
        default=None, description="SQLAlchemy URL of the line's warm memory; unset: none is kept."
    )


class MemorySettings(SettingsGroup):
    """What is remembered from turn to turn and from run to run."""

    enabled: bool = Field(default=True, description="Whether anything is remembered.")
    hot: HotMemorySettings = Field(default_factory=HotMemorySettings, description="Active sessions.")
    warm: WarmMemorySettings = Field(default_factory=WarmMemorySettings, description="The last day.")
    recall: RecallSettings = Field(default_factory=RecallSettings, description="What a thought is told.")
    summariser: ChatModelSettings = Field(
        default_factory=ChatModelSettings, description="The language model that summarises sessions."
    )
    lines: dict[str, LineMemorySettings] = Field(
        default_factory=dict,
        description="JSON object of stores by line of business, each with `redis_url` and `warm_url`, shared with no "
        "other line.",
    )
    strict_lines: bool = Field(
        default=False, description="Whether a line of business without stores of its own remembers nothing."
    )
    redact: tuple[PersonalData, ...] = Field(
        default=(PersonalData.PHONE, PersonalData.ID_CARD, PersonalData.BANK_CARD),
        description="JSON list of the personal data that is never remembered: `phone`, `id_card`, `bank_card`, "
        "`email`; credentials never are.",
    )
    redact_patterns: dict[str, str] = Field(
        default_factory=dict,
        description="JSON object of more of it: a pattern by name, which becomes the placeholder, such as "
        '`{"badge": "B-[0-9]{6}"}`.',
    )
    max_turns: int = Field(default=6, ge=2, le=40, description="Most turns of a session that are remembered.")
    max_state_bytes: int = Field(
        default=16 * 1024, ge=256, le=1024 * 1024, description="Largest state of a session that is remembered, as JSON."
    )
    read_timeout_seconds: Seconds = Field(
        default=0.5, description="How long a run waits for memory before it goes on without."
    )
    write_timeout_seconds: Seconds = Field(
        default=2.0, description="How long a run that came to rest waits until it is remembered."
    )
    retry_after_seconds: Seconds = Field(
        default=5.0, description="How long a store that did not answer is left alone before it is asked again."
    )
    max_summaries_in_flight: int = Field(
        default=8, ge=1, le=256, description="Most summaries that a language model makes at the same time."
    )

    @field_validator("lines")
    @classmethod
    def _lines_have_names_and_stores_of_their_own(
        cls, lines: dict[str, LineMemorySettings]
    ) -> dict[str, LineMemorySettings]:
        owners: dict[str, str] = {}
        for name, line in lines.items():
            if not _LINE.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a line of business: 1 to 64 characters of a-z, 0-9, _ and -")
            for url in (line.redis_url, line.warm_url):
                owner = owners.setdefault(url.get_secret_value(), name) if url is not None else name
                if owner != name:
                    raise ValueError(f"the lines {owner} and {name} share a store; give each its own")
        return lines

    @model_validator(mode="after")
    def _warm_outlives_hot(self) -> Self:
        if self.warm.ttl_seconds < self.hot.ttl_seconds:
            raise ValueError(
                f"warm.ttl_seconds ({self.warm.ttl_seconds:g}) must not be below hot.ttl_seconds "
                f"({self.hot.ttl_seconds:g}): warm memory is what is left when a session has left Redis"
            )
        shared = self.warm.url.get_secret_value() if self.warm.url is not None else None
        for name, line in self.lines.items():
            if shared is not None and line.warm_url is not None and line.warm_url.get_secret_value() == shared:
                raise ValueError(f"the line {name} has the store of warm.url; give it its own")
        return self

    @model_validator(mode="after")
    def _patterns_can_be_used(self) -> Self:
        for name in self.redact_patterns:
            if not _PLACEHOLDER.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a pattern: a letter, then letters, digits and _")
        try:
            self.redactor()
        except SchemaRefused as exc:
            raise ValueError(f"redact_patterns has a pattern that cannot be used: {exc}") from exc
        return self

    def redactor(self) -> MemoryRedactor:
        """Return what takes personal data out."""
        return MemoryRedactor(self.redact, self.redact_patterns)


class MemoryOnlySettings(ServiceSettings):
    """What a command reads that works on the stores of memory, without the service."""

    redis: RedisSettings = Field(default_factory=RedisSettings, description="Where active sessions are.")
    memory: MemorySettings = Field(default_factory=MemorySettings, description="What is remembered.")
