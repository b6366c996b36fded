"""Settings of the observation service."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from taoloop.core.settings import (
    GrpcSettings,
    RedisSettings,
    Seconds,
    ServiceSettings,
    SettingsGroup,
    TelemetrySettings,
)
from taoloop.models.settings import ChatModelSettings
from taoloop.observation.exposing import DEFAULT_MAX_EXPOSED_BYTES
from taoloop.observation.soft.ports import MIN_CERTAINTY


class SourceWeightSettings(SettingsGroup):
    """How much a result counts in the confidence that the tool itself did not give now."""

    fallback: float = Field(default=0.8, ge=0.0, le=1.0, description="Factor for an answer of a fallback tool.")
    cache: float = Field(default=0.6, ge=0.0, le=1.0, description="Factor for an answer from the cache.")
    untrusted: float = Field(
        default=0.7,
        ge=0.0,
        le=1.0,
        description="Weight of untrusted words whose contract states none, and the most that trusted tools' have.",
    )


class ConfidenceSettings(SettingsGroup):
    """Where the levels of the confidence begin, and so what becomes of a result."""

    preferred: float = Field(
        default=0.7, ge=0.0, le=1.0, description="Above it a result is `high`: preferred where results differ."
    )
    doubtful: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="Below it a result is `low`: when all results of a run are so, a person decides.",
    )

    @model_validator(mode="after")
    def _levels_are_in_order(self) -> Self:
        if self.doubtful > self.preferred:
            raise ValueError(f"doubtful ({self.doubtful:g}) must not be above preferred ({self.preferred:g})")
        return self


class DriftSettings(SettingsGroup):
    """How it is remembered what tools began to answer that was never seen of them."""

    redis: RedisSettings | None = Field(
        default=None,
        description="Where the replicas remember together; unset: each by itself, and only while it runs.",
    )
    every_seconds: Seconds = Field(default=5.0, description="How long a sighting may wait until it is written.")
    max_records: int = Field(
        default=100, ge=1, le=10_000, description="Most different changes that are remembered of one tool."
    )
    retention_days: int = Field(
        default=90, ge=1, le=3650, description="How long the changes of a tool are kept after the last sighting."
    )


class HeavyWorkSettings(SettingsGroup):
    """How large results are judged without holding up the others."""

    slots: int = Field(
        default=1, ge=1, le=16, description="Threads that judge large results; they share one interpreter."
    )
    max_waiting: int = Field(
        default=64, ge=0, le=10_000, description="Most large results that wait for a thread; more are refused."
    )


class AnswerSettings(SettingsGroup):
    """What one check of an answer may cost; above it the answer is not checked, and so not grounded."""

    max_characters: int = Field(
        default=32 * 1024, ge=256, le=1024 * 1024, description="Longest text of an answer, in code points."
    )
    max_claims: int = Field(default=1000, ge=10, le=100_000, description="Most values in one answer.")
    max_evidence_bytes: int = Field(
        default=512 * 1024,
        ge=1024,
        le=64 * 1024 * 1024,
        description="Largest evidence of one answer, all steps together.",
    )
    max_evidence_values: int = Field(
        default=20_000,
        ge=100,
        le=10_000_000,
        description="Most values within the texts of the evidence of one answer; 20 000 take about a second.",
    )


class ValidatorSettings(ChatModelSettings):
    """The language model that checks answers whose values are all supported; without a `url` there is none."""

    max_corrections: int = Field(
        default=1, ge=0, le=5, description="How often it is asked again after a reply that is out of form."
    )


class ObservationSettings(ServiceSettings):
    """What the observation service reads from the environment."""

    telemetry: TelemetrySettings = Field(
        default=TelemetrySettings(metrics_port=9703), description="Traces and metrics."
    )
    catalogue: Path = Field(description="Directory, file or bundle of the tools whose results are judged.")
    observation_listen: str = Field(
        default="127.0.0.1:7703",
        description="Address that the observation service listens on; port 0 takes a free one.",
    )
    observation_max_body_bytes: int = Field(
        default=1024 * 1024,
        ge=1024,
        le=64 * 1024 * 1024,
        description="Largest response body that is judged; a larger one is a failed observation.",
    )
    observation_max_exposed_bytes: int = Field(
        default=DEFAULT_MAX_EXPOSED_BYTES,
        ge=256,
        le=1024 * 1024,
        description="Longest JSON text of one result that prompts and answers see; what is more is cut, and said so.",
    )
    observation_weights: SourceWeightSettings = Field(
        default_factory=SourceWeightSettings, description="Factors of the confidence."
    )
    observation_confidence: ConfidenceSettings = Field(
        default_factory=ConfidenceSettings, description="Levels of the confidence."
    )
    observation_min_certainty: float = Field(
        default=MIN_CERTAINTY,
        ge=0.5,
        le=1.0,
        description="How sure the soft check must be of what a text tells; below it the text counts for nothing. "
        "1 switches the check off.",
    )
    observation_drift: DriftSettings = Field(default_factory=DriftSettings, description="What changed upstream.")
    observation_heavy: HeavyWorkSettings = Field(default_factory=HeavyWorkSettings, description="Large results.")
    observation_answer: AnswerSettings = Field(
        default_factory=AnswerSettings, description="Limits of the check of answers."
    )
    observation_validator: ValidatorSettings = Field(
        default_factory=ValidatorSettings, description="The semantic validator of answers."
    )
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="The gRPC server.")
