"""Settings of the thought service and of its worker."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from taoloop.core.settings import (
    GrpcSettings,
    RedisSettings,
    Seconds,
    ServiceSettings,
    SettingsGroup,
    TelemetrySettings,
)
from taoloop.plan.check_context import DEFAULT_LIMITS, PlanLimits


class PlanSettings(SettingsGroup):
    """How large a plan may be; the same in the front and in the workers."""

    max_steps: int = Field(default=DEFAULT_LIMITS.max_steps, ge=1, le=100, description="Most steps of one plan.")
    max_tokens: int = Field(
        default=DEFAULT_LIMITS.max_tokens,
        ge=64,
        le=100_000,
        description="Most tokens of one plan's steps in their JSON form.",
    )

    def limits(self) -> PlanLimits:
        """Return them as the check takes them."""
        return PlanLimits(max_steps=self.max_steps, max_tokens=self.max_tokens)


class ThoughtSettings(ServiceSettings):
    """What the front of the thought service reads from the environment."""

    telemetry: TelemetrySettings = Field(
        default=TelemetrySettings(metrics_port=9701), description="Traces and metrics."
    )
    thought_listen: str = Field(default="127.0.0.1:7701", description="Address that the thought service listens on.")
    catalogue: Path = Field(description="Directory or bundle of tool contracts that plans are checked against.")
    thought_max_jobs: int = Field(
        default=1000, ge=1, le=1_000_000, description="Most thoughts that may wait or be in work; more is refused."
    )
    plan: PlanSettings = Field(default_factory=PlanSettings, description="How large a plan may be.")
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="Channels and servers.")
    redis: RedisSettings = Field(default_factory=RedisSettings, description="Where the queue is.")


class ThoughtWorkerSettings(ServiceSettings):
    """What a thought worker reads from the environment."""

    telemetry: TelemetrySettings = Field(
        default=TelemetrySettings(metrics_port=9704), description="Traces and metrics."
    )
    worker_health_listen: str = Field(default="127.0.0.1:7704", description="Address of the worker's health service.")
    catalogue: Path = Field(description="Directory or bundle of tool contracts that is planned with.")
    worker_slots: int = Field(default=4, ge=1, le=256, description="Most thoughts of one worker at the same time.")
    worker_lease_seconds: Seconds = Field(
        default=30.0, description="After this long a thought that was not answered goes to another worker."
    )
    worker_outage_seconds: Seconds = Field(
        default=15.0, description="How long the worker tries to store a reply while the queue is away."
    )
    plan: PlanSettings = Field(default_factory=PlanSettings, description="How large a plan may be.")
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="Channels and servers.")
    redis: RedisSettings = Field(default_factory=RedisSettings, description="Where the queue is.")
