"""Tables that grow with the program: numbered steps forward, applied once each."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from taoloop.core.errors import ConfigurationError


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlSchema:
    """The tables of one store; several stores may share a database.

    Attributes:
        title: What messages call the store, such as `ledger`.
        backend: What errors' metadata call it.
        setting: Name of the variable that holds its URL.
        version_table: Name of the table that counts the steps; no other store's.
        lock: Number of the lock under which PostgreSQL takes the steps; no other store's.
        migrations: The steps, in order.
    """

    title: str
    backend: str
    setting: str
    version_table: str
    lock: int
    migrations: tuple[Migration, ...]


async def migrate(connection: AsyncConnection, schema: SqlSchema) -> None:
    """Bring the tables to the version that this code knows, in one transaction; two processes may try at once.

    Args:
        connection: One on which nothing was done yet; the caller commits.
        schema: The tables.

    Raises:
        ConfigurationError: The tables are of a newer version than this code knows.
        SQLAlchemyError: The store failed.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(schema.lock)))
    else:
        await connection.exec_driver_sql("BEGIN IMMEDIATE")  # the driver would begin at the first row written only
    versions = sa.table(schema.version_table, sa.column("version", sa.Integer))
    await connection.exec_driver_sql(
        f"CREATE TABLE IF NOT EXISTS {schema.version_table} (version INTEGER NOT NULL PRIMARY KEY)"
    )
    found = (await connection.execute(sa.select(sa.func.max(versions.c.version)))).scalar_one_or_none() or 0
    known = schema.migrations[-1].version
    if found > known:
        raise ConfigurationError(
            f"The {schema.title}'s tables have version {found}, and this program knows {known}; "
            f"start the newer program, or restore the {schema.title} from before its upgrade.",
            metadata={"found": str(found), "known": str(known)},
        )
    for migration in schema.migrations[found:]:
        for statement in migration.statements:
            await connection.exec_driver_sql(statement)
        await connection.execute(sa.insert(versions).values(version=migration.version))
