"""Settings of the action service."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from taoloop.core.settings import GrpcSettings, Seconds, ServiceSettings, SettingsGroup, TelemetrySettings


class ToolHttpSettings(SettingsGroup):
    """How tools are called over HTTP."""

    max_response_bytes: int = Field(
        default=8 * 1024 * 1024, ge=1024, le=256 * 1024 * 1024, description="Largest decoded body that a tool may send."
    )
    pool_size: int = Field(default=50, ge=1, le=10_000, description="Most connections to the servers of one tool.")
    pool_idle_timeout_seconds: Seconds = Field(
        default=4.0, description="How long a connection may wait for its next use; below what the tools' servers allow."
    )


class LedgerSettings(SettingsGroup):
    """Where calls that write are recorded."""

    url: SecretStr = Field(
        default=SecretStr("sqlite+aiosqlite:///./.taoloop/ledger.sqlite"),
        description="SQLAlchemy URL of the effect ledger: `sqlite+aiosqlite` or `postgresql+asyncpg`.",
    )
    is_durability_waived: bool = Field(
        default=False,
        description="Whether tools that write are served although the ledger cannot promise to remember them.",
    )


class ActionSettings(ServiceSettings):
    """What the action service reads."""

    telemetry: TelemetrySettings = Field(
        default=TelemetrySettings(metrics_port=9702), description="Traces and metrics."
    )
    catalogue: Path = Field(
        default=Path("catalogue"), description="Directory, file or bundle of the tools that are served."
    )
    bases: dict[str, str] = Field(
        default_factory=dict, description="JSON object of base URLs that replace the catalogue's own, by name."
    )
    action_listen: str = Field(
        default="127.0.0.1:7702", description="Address that the action service listens on; port 0 takes a free one."
    )
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="The gRPC server.")
    tool_http: ToolHttpSettings = Field(default_factory=ToolHttpSettings, description="Tools behind HTTP.")
    ledger: LedgerSettings = Field(default_factory=LedgerSettings, description="The effect ledger.")
    secrets: dict[str, SecretStr] = Field(
        default_factory=dict, description="JSON object of the secrets that contracts name; their names are upper case."
    )
    secrets_dir: Path | None = Field(
        default=None, description="Directory with one file for each secret, named as the contracts name it."
    )
