"""Settings of the observation service."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from taoloop.core.settings import GrpcSettings, ServiceSettings, SettingsGroup, TelemetrySettings


class SourceWeightSettings(SettingsGroup):
    """How much a result counts in the confidence that the tool itself did not give now."""

    fallback: float = Field(default=0.8, ge=0.0, le=1.0, description="Factor for an answer of a fallback tool.")
    cache: float = Field(default=0.6, ge=0.0, le=1.0, description="Factor for an answer from the cache.")


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
    observation_weights: SourceWeightSettings = Field(
        default_factory=SourceWeightSettings, description="Factors of the confidence."
    )
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="The gRPC server.")
