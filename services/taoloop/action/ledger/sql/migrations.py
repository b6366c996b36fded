"""How the ledger's tables came to be what they are: numbered steps forward, applied once each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from taoloop.action.ledger.sql.tables import SCHEMA_VERSION
from taoloop.core.errors import ConfigurationError

_LOCK: Final = 0x7A01_00B5  # any number that nothing else in the database locks


@dataclass(frozen=True, slots=True)
class Migration:
    """One step forward. A released one is never edited: durable data stands on it.

    Attributes:
        version: Its number, from 1 without gaps.
        statements: SQL that PostgreSQL and SQLite both take. A step only adds, with defaults, so that a process of
            the version before goes on working beside it.
    """

    version: int
    statements: tuple[str, ...]


MIGRATIONS: Final = (
    Migration(
        1,
        (
            """CREATE TABLE IF NOT EXISTS taoloop_effects (
                effect_id VARCHAR(32) NOT NULL PRIMARY KEY,
                tenant TEXT NOT NULL,
                run_id TEXT NOT NULL,
                step_id TEXT NOT NULL,
                iteration INTEGER NOT NULL,
                tool TEXT NOT NULL,
                arguments_hash VARCHAR(64) NOT NULL,
                request_id TEXT NOT NULL,
                request_digest TEXT NOT NULL,
                state VARCHAR(16) NOT NULL,
                is_blocking BOOLEAN NOT NULL,
                owner VARCHAR(32) NOT NULL,
                planned_at TIMESTAMP WITH TIME ZONE NOT NULL,
                updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
                result_text TEXT NOT NULL,
                took_place BOOLEAN,
                resolved_by TEXT NOT NULL,
                resolution_comment TEXT NOT NULL,
                resolution_request_id TEXT NOT NULL
            )""",
            """CREATE UNIQUE INDEX IF NOT EXISTS taoloop_effects_once
                ON taoloop_effects (tenant, run_id, tool, arguments_hash) WHERE is_blocking""",
            "CREATE INDEX IF NOT EXISTS taoloop_effects_request ON taoloop_effects (tenant, request_id)",
            "CREATE INDEX IF NOT EXISTS taoloop_effects_listing ON taoloop_effects (tenant, run_id, effect_id)",
        ),
    ),
    Migration(
        2,
        (
            "ALTER TABLE taoloop_effects ADD COLUMN arguments_text TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE taoloop_effects ADD COLUMN idempotency_key TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE taoloop_effects ADD COLUMN approval_id TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE taoloop_effects ADD COLUMN looked_up_at TIMESTAMP WITH TIME ZONE",
            # What the listing by state, the sweep and the look-ups read; settled entries are the many, and not in it.
            """CREATE INDEX taoloop_effects_unsettled ON taoloop_effects (state, tenant, effect_id)
                WHERE state IN ('planned', 'started', 'unknown')""",
            "CREATE INDEX taoloop_effects_age ON taoloop_effects (updated_at)",
            """CREATE TABLE taoloop_approvals (
                approval_id VARCHAR(32) NOT NULL PRIMARY KEY,
                tenant TEXT NOT NULL,
                run_id TEXT NOT NULL,
                step_id TEXT NOT NULL,
                tool TEXT NOT NULL,
                arguments_hash VARCHAR(64) NOT NULL,
                arguments_text TEXT NOT NULL,
                state VARCHAR(16) NOT NULL,
                is_live BOOLEAN NOT NULL,
                requested_at TIMESTAMP WITH TIME ZONE NOT NULL,
                expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
                expires_in_seconds DOUBLE PRECISION NOT NULL,
                decided_at TIMESTAMP WITH TIME ZONE,
                decided_by TEXT NOT NULL,
                comment TEXT NOT NULL,
                decision_request_id TEXT NOT NULL,
                effect_id VARCHAR(32) NOT NULL
            )""",
            """CREATE UNIQUE INDEX taoloop_approvals_once
                ON taoloop_approvals (tenant, run_id, step_id, tool, arguments_hash) WHERE is_live""",
            "CREATE INDEX taoloop_approvals_listing ON taoloop_approvals (tenant, run_id, approval_id)",
            "CREATE INDEX taoloop_approvals_decision ON taoloop_approvals (tenant, decision_request_id)",
            "CREATE INDEX taoloop_approvals_effect ON taoloop_approvals (effect_id)",
            """CREATE TABLE taoloop_ledger_owners (
                owner VARCHAR(32) NOT NULL PRIMARY KEY,
                beats BIGINT NOT NULL
            )""",
        ),
    ),
)
KNOWN_VERSION: Final = MIGRATIONS[-1].version


async def migrate(connection: AsyncConnection) -> None:
    """Bring the tables to the version that this code knows, in one transaction; two processes may try at once.

    Args:
        connection: One on which nothing was done yet; the caller commits.

    Raises:
        ConfigurationError: The tables are of a newer version than this code knows.
        SQLAlchemyError: The store failed.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    else:
        await connection.exec_driver_sql("BEGIN IMMEDIATE")  # the driver would begin at the first row written only
    await connection.exec_driver_sql(
        "CREATE TABLE IF NOT EXISTS taoloop_schema_version (version INTEGER NOT NULL PRIMARY KEY)"
    )
    found = (await connection.execute(sa.select(sa.func.max(SCHEMA_VERSION.c.version)))).scalar_one_or_none() or 0
    if found > KNOWN_VERSION:
        raise ConfigurationError(
            f"The effect ledger's tables have version {found}, and this program knows {KNOWN_VERSION}; "
            "start the newer program, or restore the ledger from before its upgrade.",
            metadata={"found": str(found), "known": str(KNOWN_VERSION)},
        )
    for migration in MIGRATIONS[found:]:
        for statement in migration.statements:
            await connection.exec_driver_sql(statement)
        await connection.execute(sa.insert(SCHEMA_VERSION).values(version=migration.version))
