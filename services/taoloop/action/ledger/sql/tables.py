"""The tables of the effect ledger, as the code of this version reads and writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import sqlalchemy as sa

METADATA: Final = sa.MetaData()

EFFECTS: Final = sa.Table(
    "taoloop_effects",
    METADATA,
    sa.Column("effect_id", sa.String(32), primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("step_id", sa.Text, nullable=False),
    sa.Column("iteration", sa.Integer, nullable=False),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("arguments_hash", sa.String(64), nullable=False),
    sa.Column("arguments_text", sa.Text, nullable=False),
    sa.Column("idempotency_key", sa.Text, nullable=False),
    sa.Column("approval_id", sa.Text, nullable=False),
    sa.Column("request_id", sa.Text, nullable=False),
    sa.Column("request_digest", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    # Whether the entry keeps the same call from being made: a partial unique index stands on it.
    sa.Column("is_blocking", sa.Boolean, nullable=False),
    sa.Column("owner", sa.String(32), nullable=False),
    sa.Column("planned_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("looked_up_at", sa.DateTime(timezone=True)),
    sa.Column("result_text", sa.Text, nullable=False),
    sa.Column("took_place", sa.Boolean),
    sa.Column("resolved_by", sa.Text, nullable=False),
    sa.Column("resolution_comment", sa.Text, nullable=False),
    sa.Column("resolution_request_id", sa.Text, nullable=False),
)

APPROVALS: Final = sa.Table(
    "taoloop_approvals",
    METADATA,
    sa.Column("approval_id", sa.String(32), primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("step_id", sa.Text, nullable=False),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("arguments_hash", sa.String(64), nullable=False),
    sa.Column("arguments_text", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    # Open, or granted and not used: a partial unique index stands on it.
    sa.Column("is_live", sa.Boolean, nullable=False),
    sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("expires_in_seconds", sa.Float, nullable=False),
    sa.Column("decided_at", sa.DateTime(timezone=True)),
    sa.Column("decided_by", sa.Text, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("decision_request_id", sa.Text, nullable=False),
    sa.Column("effect_id", sa.String(32), nullable=False),
)

OWNERS: Final = sa.Table(
    "taoloop_ledger_owners",
    METADATA,
    sa.Column("owner", sa.String(32), primary_key=True),
    sa.Column("beats", sa.BigInteger, nullable=False),
)

SCHEMA_VERSION: Final = sa.Table(
    "taoloop_schema_version", METADATA, sa.Column("version", sa.Integer, primary_key=True, autoincrement=False)
)


def aware(moment: datetime) -> datetime:
    """Return the moment in UTC: SQLite keeps the digits of a time and forgets its zone."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def aware_or_none(moment: datetime | None) -> datetime | None:
    """Return the moment in UTC, or None."""
    return None if moment is None else aware(moment)
