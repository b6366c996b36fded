"""Settings of the thought service and of its worker."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import Field

from taoloop.core.settings import (
    GrpcSettings,
    RedisSettings,
    Seconds,
    ServiceSettings,
    SettingsGroup,
    TelemetrySettings,
)
from taoloop.models.settings import ChatModelSettings
from taoloop.plan.check_context import DEFAULT_LIMITS, PlanLimits
from taoloop.thought.budgets.settings import BudgetSettings
from taoloop.thought.model import QueueLimits
from taoloop.thought.stage_settings import StageSettings

THREAD_SLOTS: Final = 4
"""Thoughts at the same time of a worker that plans in threads."""


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
    thought_max_background_jobs: int = Field(
        default=500, ge=1, le=1_000_000, description="Most of them that may be background ones."
    )
    thought_max_tenant_jobs: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Most of them that may be one tenant's. Unset: half of them where tenants are told apart "
        "(`TAOLOOP_GRPC__IS_TENANT_METADATA_TRUSTED`), else all.",
    )
    plan: PlanSettings = Field(default_factory=PlanSettings, description="How large a plan may be.")
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="Channels and servers.")
    redis: RedisSettings = Field(default_factory=RedisSettings, description="Where the queue is.")

    def queue_limits(self) -> QueueLimits:
        """Return how much the queue takes."""
        half = self.thought_max_jobs // 2 if self.grpc.is_tenant_metadata_trusted else self.thought_max_jobs
        return QueueLimits(
            max_jobs=self.thought_max_jobs,
            max_background_jobs=self.thought_max_background_jobs,
            max_tenant_jobs=self.thought_max_tenant_jobs or max(1, half),
        )


class ThoughtWorkerSettings(ServiceSettings):
    """What a thought worker reads from the environment."""

    telemetry: TelemetrySettings = Field(
        default=TelemetrySettings(metrics_port=9704), description="Traces and metrics."
    )
    worker_health_listen: str = Field(default="127.0.0.1:7704", description="Address of the worker's health service.")
    catalogue: Path = Field(description="Directory or bundle of tool contracts that is planned with.")
    worker_slots: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="Most thoughts of one worker at the same time. Unset: four, or two for each planner process, and "
        "what its language models may have in flight.",
    )
    worker_planner_processes: int = Field(
        default=0,
        ge=0,
        le=64,
        description="Processes in which the graph planner computes; 0 for threads of the worker's own.",
    )
    worker_planner_timeout_seconds: Seconds = Field(
        default=10.0, description="How long the graph planner may take in such a process before it is killed."
    )
    worker_lease_seconds: Seconds = Field(
        default=10.0,
        ge=0.5,
        description="After this long without a sign of its worker a thought goes to another one.",
    )
    worker_background_share: float = Field(
        default=0.2,
        ge=0.01,
        le=0.9,
        description="Share of background thoughts among those that a worker takes while interactive ones wait too.",
    )
    worker_max_dead_letters: int = Field(
        default=1000, ge=1, le=100_000, description="Most requests that are kept after they were set aside."
    )
    worker_outage_seconds: Seconds = Field(
        default=30.0, description="How long the worker tries to store a reply while the queue is away."
    )
    plan: PlanSettings = Field(default_factory=PlanSettings, description="How large a plan may be.")
    model: ChatModelSettings = Field(
        default_factory=ChatModelSettings,
        description="The language model that plans where the other is unsure.",
    )
    stronger_model: ChatModelSettings = Field(
        default_factory=ChatModelSettings, description="The language model that is asked after the first one failed."
    )
    thought: StageSettings = Field(default_factory=StageSettings, description="The stages of a thought.")
    budget: BudgetSettings = Field(
        default_factory=BudgetSettings, description="What tenants may have language models do."
    )
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="Channels and servers.")
    redis: RedisSettings = Field(default_factory=RedisSettings, description="Where the queue is.")

    def slots(self) -> int:
        """Return how many jobs a worker has room for: as many as its planners, of both kinds, can have in work.

        A planner process has a second job at hand, so that it does not wait for the next one's way through the queue.
        """
        if self.worker_slots is not None:
            return self.worker_slots
        planners = 2 * self.worker_planner_processes or THREAD_SLOTS
        models = (self.model, self.stronger_model) if self.thought.plan.enabled else ()
        return planners + sum(model.max_in_flight for model in models if model.url)


class QueueOnlySettings(ServiceSettings):
    """What a command reads that works on the queue itself, without a service."""

    redis: RedisSettings = Field(default_factory=RedisSettings, description="Where the queue is.")
