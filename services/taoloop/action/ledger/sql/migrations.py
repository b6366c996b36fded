"""How the ledger's tables came to be what they are."""

from __future__ import annotations

from typing import Final

from taoloop.action.ledger.sql.tables import SCHEMA_VERSION
from taoloop.wire.sql.sql_schema import Migration, SqlSchema

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

LEDGER: Final = SqlSchema(
    title="ledger",
    backend="effect_ledger",
    setting="TAOLOOP_LEDGER__URL",
    version_table=SCHEMA_VERSION.name,
    lock=0x7A01_00B5,  # any number that nothing else in the database locks
    migrations=MIGRATIONS,
)
"""What the store of effects and approvals consists of."""
