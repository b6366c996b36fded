"""The tables of warm memory, and how they came to be what they are."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from taoloop.wire.sql.sql_schema import Migration, SqlSchema

METADATA: Final = sa.MetaData()

SESSIONS: Final = sa.Table(
    "taoloop_memory_sessions",
    METADATA,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("business_line", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
)

ENTRIES: Final = sa.Table(
    "taoloop_memory_entries",
    METADATA,
    sa.Column("tenant", sa.Text, primary_key=True),
    sa.Column("business_line", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, nullable=False, server_default=""),  # of a run; goes with its session
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("expires_at", sa.DateTime(timezone=True)),
)

SCHEMA_VERSION: Final = sa.Table(
    "taoloop_memory_schema_version", METADATA, sa.Column("version", sa.Integer, primary_key=True, autoincrement=False)
)

WARM_MEMORY: Final = SqlSchema(
    title="warm memory",
    backend="warm_memory",
    setting="TAOLOOP_MEMORY__WARM__URL",
    version_table=SCHEMA_VERSION.name,
    lock=0x7A01_00B6,  # any number that nothing else in the database locks
    migrations=(
        Migration(
            1,
            (
                """CREATE TABLE IF NOT EXISTS taoloop_memory_sessions (
                    tenant TEXT NOT NULL,
                    business_line TEXT NOT NULL,
                    user_id TEXT NOT NULL,
                    session_id TEXT NOT NULL,
                    version BIGINT NOT NULL,
                    text TEXT NOT NULL,
                    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
                    PRIMARY KEY (tenant, business_line, user_id, session_id)
                )""",
                "CREATE INDEX IF NOT EXISTS taoloop_memory_sessions_age ON taoloop_memory_sessions (expires_at)",
                """CREATE TABLE IF NOT EXISTS taoloop_memory_entries (
                    tenant TEXT NOT NULL,
                    business_line TEXT NOT NULL,
                    user_id TEXT NOT NULL,
                    kind VARCHAR(16) NOT NULL,
                    name TEXT NOT NULL,
                    text TEXT NOT NULL,
                    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
                    expires_at TIMESTAMP WITH TIME ZONE,
                    PRIMARY KEY (tenant, business_line, user_id, kind, name)
                )""",
                "CREATE INDEX IF NOT EXISTS taoloop_memory_entries_age ON taoloop_memory_entries (expires_at)",
                """CREATE INDEX IF NOT EXISTS taoloop_memory_entries_newest
                    ON taoloop_memory_entries (tenant, business_line, user_id, updated_at)""",
            ),
        ),
        Migration(2, ("ALTER TABLE taoloop_memory_entries ADD COLUMN session_id TEXT NOT NULL DEFAULT ''",)),
    ),
)
"""What the store of warm memory consists of."""
