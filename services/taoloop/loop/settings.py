"""Settings of the loop service."""

from __future__ import annotations

from pydantic import Field

from taoloop.core.settings import GrpcSettings, RedisSettings, Seconds, ServiceSettings, TelemetrySettings
from taoloop.loop.answering.settings import AnswerSettings
from taoloop.loop.correction.settings import CorrectionSettings
from taoloop.loop.limits import RunLimits
from taoloop.loop.memory.settings import MemorySettings
from taoloop.loop.people.settings import PeopleSettings
from taoloop.loop.runlog.settings import RunSettings


class LoopSettings(ServiceSettings):
    """What the loop reads from the environment."""

    telemetry: TelemetrySettings = Field(
        default=TelemetrySettings(metrics_port=9701), description="Traces and metrics."
    )
    loop_listen: str = Field(default="127.0.0.1:7701", description="Address that the loop service listens on.")
    thought_address: str = Field(default="127.0.0.1:7701", description="Where the thought service is reached.")
    action_address: str = Field(default="127.0.0.1:7702", description="Where the action service is reached.")
    observation_address: str = Field(default="127.0.0.1:7703", description="Where the observation service is reached.")
    max_iterations: int = Field(
        default=5, ge=1, le=100, description="Most thoughts of one run, counted anew when a person lets it go on."
    )
    max_wall_time_seconds: Seconds = Field(
        default=30.0,
        description="Longest time of one run, without the time spent waiting for people; counted anew likewise.",
    )
    max_tokens: int = Field(default=80_000, ge=1, description="Most tokens that models may read and write in one run.")
    max_calls_per_tool: int = Field(default=10, ge=1, le=10_000, description="Most calls of one tool in one run.")
    max_result_bytes: int = Field(
        default=16 * 1024 * 1024, ge=1024, description="Most bytes of all tool responses of one run."
    )
    max_equal_calls: int = Field(
        default=3,
        ge=2,
        le=100,
        description="How often one call of a run may give the same result; then it is not made again.",
    )
    max_items: int = Field(
        default=10, ge=1, le=1000, description="Most items of a list that a step of a plan runs for, one call each."
    )
    max_parallel_steps: int = Field(
        default=8, ge=1, le=256, description="Most calls of one run at the same time; a job that is waited for is none."
    )
    max_open_runs: int = Field(default=1000, ge=1, description="Most runs that one host drives at the same time.")
    max_tenant_runs: int = Field(
        default=0,
        ge=0,
        description="Most runs of one tenant that all hosts together drive at the same time; 0 sets no bound. "
        "The same on all hosts.",
    )
    tools_max_age_seconds: Seconds = Field(
        default=5.0, description="How old the list of tools and their availability may become."
    )
    run_log_timeout_seconds: Seconds = Field(default=15.0, description="How long one write to the run log may take.")
    run_retention_seconds: float = Field(
        default=86_400.0, ge=60.0, description="How long a run is kept after it has ended."
    )
    people: PeopleSettings = Field(
        default_factory=PeopleSettings, description="What becomes of questions that nobody answers."
    )
    runs: RunSettings = Field(default_factory=RunSettings, description="How runs are kept, and who looks after them.")
    correction: CorrectionSettings = Field(
        default_factory=CorrectionSettings, description="What is done about failures."
    )
    answer: AnswerSettings = Field(default_factory=AnswerSettings, description="How answers are worded.")
    memory: MemorySettings = Field(default_factory=MemorySettings, description="What is remembered between runs.")
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="Channels and servers.")
    redis: RedisSettings = Field(default_factory=RedisSettings, description="Where the run log is.")

    def limits(self) -> RunLimits:
        """Return the most that a run may have."""
        return RunLimits(
            max_iterations=self.max_iterations,
            max_wall_time_seconds=self.max_wall_time_seconds,
            max_tokens=self.max_tokens,
            max_calls_per_tool=self.max_calls_per_tool,
            max_result_bytes=self.max_result_bytes,
            max_equal_calls=self.max_equal_calls,
            max_items=self.max_items,
        )
