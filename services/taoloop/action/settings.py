"""Settings of the action service."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr, field_validator

from taoloop.action.egress.rules import EgressRules
from taoloop.action.ledger.approval_gate import ApprovalPolicy, approval_policy
from taoloop.action.ledger.reconciliation import Pace
from taoloop.core.settings import (
    GrpcSettings,
    RedisSettings,
    Seconds,
    ServiceSettings,
    SettingsGroup,
    TelemetrySettings,
)


class ToolHttpSettings(SettingsGroup):
    """How tools are called over HTTP."""

    max_response_bytes: int = Field(
        default=8 * 1024 * 1024, ge=1024, le=256 * 1024 * 1024, description="Largest decoded body that a tool may send."
    )
    max_header_bytes: int = Field(
        default=8190, ge=1024, le=1024 * 1024, description="Longest header, and longest first line, of a tool's answer."
    )
    max_headers: int = Field(default=128, ge=16, le=10_000, description="Most headers of a tool's answer.")
    pool_size: int = Field(default=50, ge=1, le=10_000, description="Most connections to the servers of one tool.")
    pool_idle_timeout_seconds: Seconds = Field(
        default=4.0, description="How long a connection may wait for its next use; below what the tools' servers allow."
    )


class ToolPythonSettings(SettingsGroup):
    """How tools that are Python functions are called."""

    pool_size: int = Field(default=2, ge=1, le=256, description="Most worker processes of one tool.")
    pool_idle_timeout_seconds: Seconds = Field(
        default=300.0, description="How long a worker process may wait for its next call before it ends."
    )
    start_timeout_seconds: Seconds = Field(
        default=30.0, description="How long a worker process may take to import its function."
    )
    max_result_bytes: int = Field(
        default=8 * 1024 * 1024, ge=1024, le=256 * 1024 * 1024, description="Largest result of a function, as JSON."
    )
    search_path: tuple[str, ...] = Field(
        default=(), description="JSON list of directories where functions are looked for beside installed packages."
    )
    environment: dict[str, SecretStr] = Field(
        default_factory=dict, description="JSON object of all environment variables that worker processes have."
    )


class ToolSqlSettings(SettingsGroup):
    """How tools that are SQL statements are called."""

    pool_size: int = Field(default=5, ge=1, le=1000, description="Most connections of one tool to its database.")
    pool_idle_timeout_seconds: Seconds = Field(
        default=60.0, description="How long a connection may wait for its next statement before it is closed."
    )


class EgressSettings(SettingsGroup):
    """Where the tools' servers may be."""

    allow: tuple[str, ...] = Field(
        default=(),
        description="JSON list of networks, such as `10.0.0.0/8`, that names may lead to beside public addresses; "
        "metadata services never are among them.",
    )

    @field_validator("allow")
    @classmethod
    def _are_networks(cls, written: tuple[str, ...]) -> tuple[str, ...]:
        EgressRules.of(written)
        return written

    def rules(self) -> EgressRules:
        """Return the networks as rules."""
        return EgressRules.of(self.allow)


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
    lease_seconds: Seconds = Field(
        default=10.0,
        description="How long a process that shares the ledger may be silent before the others take it for dead; "
        "the same in all of them.",
    )
    look_up_every_seconds: Seconds = Field(
        default=15.0, description="Pause between two rounds in which unknown effects are looked up."
    )
    look_up_again_after_seconds: Seconds = Field(
        default=300.0, description="How long until the same unknown effect is looked up again."
    )
    look_up_batch: int = Field(default=20, ge=1, le=1000, description="Most unknown effects looked up in one round.")
    settle_seconds: Seconds = Field(
        default=30.0,
        description="An unknown effect that is younger, or younger than its tool's timeout, is not looked up: "
        "its call may still be under way.",
    )

    def pace(self) -> Pace:
        """Return how often unknown effects are looked up."""
        return Pace(
            settle_seconds=self.settle_seconds,
            again_after_seconds=self.look_up_again_after_seconds,
            batch=self.look_up_batch,
        )


class LedgerOnlySettings(ServiceSettings):
    """What a command reads that works on the ledger itself, without the service."""

    ledger: LedgerSettings = Field(default_factory=LedgerSettings, description="The effect ledger.")


class ApprovalSettings(SettingsGroup):
    """The operator's own rule about calls that need leave, beside those of the contracts."""

    when: str = Field(
        default="",
        description="JsonLogic over {tool, arguments, tenant, effect, reach, provenance}: what is not surely false "
        "waits for a person. Empty for none.",
    )
    expires_in_seconds: Seconds = Field(
        default=86_400.0,
        description="How long a question stays open that no contract asks: by this rule, or since untrusted text "
        "steers or feeds the call.",
    )

    def policy(self) -> ApprovalPolicy:
        """Return the policy with its rule compiled.

        Raises:
            ConfigurationError: It is no rule.
        """
        return approval_policy(self.when, self.expires_in_seconds)


class BoardSettings(SettingsGroup):
    """What the replicas tell each other about tools."""

    redis: RedisSettings | None = Field(
        default=None, description="Where the replicas meet; unset: one replica, whose switches are gone when it stops."
    )
    every_seconds: Seconds = Field(default=1.0, description="How old what is known of the other replicas may become.")
    tools_off: dict[str, str] = Field(
        default_factory=dict, description="JSON object of tools that are never called here, by name, with the reason."
    )


class ActionSettings(ServiceSettings):
    """What the action service reads."""

    telemetry: TelemetrySettings = Field(
        default=TelemetrySettings(metrics_port=9702), description="Traces and metrics."
    )
    catalogue: Path = Field(description="Directory, file or bundle of the tools that are served.")
    bases: dict[str, str] = Field(
        default_factory=dict, description="JSON object of base URLs that replace the catalogue's own, by name."
    )
    action_listen: str = Field(
        default="127.0.0.1:7702", description="Address that the action service listens on; port 0 takes a free one."
    )
    grpc: GrpcSettings = Field(default_factory=GrpcSettings, description="The gRPC server.")
    tool_http: ToolHttpSettings = Field(default_factory=ToolHttpSettings, description="Tools behind HTTP.")
    tool_python: ToolPythonSettings = Field(
        default_factory=ToolPythonSettings, description="Tools that are Python functions."
    )
    tool_sql: ToolSqlSettings = Field(default_factory=ToolSqlSettings, description="Tools that are SQL statements.")
    board: BoardSettings = Field(
        default_factory=BoardSettings, description="Kill switches, and breakers that are open elsewhere."
    )
    egress: EgressSettings = Field(default_factory=EgressSettings, description="Where the tools' servers may be.")
    ledger: LedgerSettings = Field(default_factory=LedgerSettings, description="The effect ledger.")
    approval: ApprovalSettings = Field(
        default_factory=ApprovalSettings, description="Calls that wait for a person's leave."
    )
    job_handle_key: SecretStr | None = Field(
        default=None,
        min_length=32,
        description="Secret of at least 32 characters that seals the handles of pending jobs, the same in every "
        "process; without it each makes its own, and no handle outlives the process that gave it.",
    )
    secrets: dict[str, SecretStr] = Field(
        default_factory=dict, description="JSON object of the secrets that contracts name; their names are upper case."
    )
    secrets_dir: Path | None = Field(
        default=None, description="Directory with one file for each secret, named as the contracts name it."
    )
