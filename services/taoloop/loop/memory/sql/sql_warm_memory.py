"""Warm memory in SQLite or PostgreSQL: a row for each session, and one for each piece of knowledge."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import unquote

import sqlalchemy as sa

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.loop.memory.model import EntryKind, Forgotten, KnowledgeEntry, MemorySpace, SessionMemory, key_part
from taoloop.loop.memory.session_form import read, written
from taoloop.loop.memory.sql.tables import ENTRIES, SESSIONS, WARM_MEMORY
from taoloop.wire.sql.sql_store import SqlStore, Transaction, existing_sql_store, sql_store

SWEPT_AT_ONCE: Final = 1000
"""Rows of a table that one transaction deletes at most, so that writers do not wait long for it."""

_KINDS: Final = tuple(kind.value for kind in EntryKind)


class SqlWarmMemory:
    """A `WarmMemory` in a `SqlStore`; made by `sql_warm_memory`. Rows expire by this process's clock.

    Every statement names tenant, line of business and user, and compares them whole.

    Args:
        store: Where the tables are; its time limits bound every call, whose deadline only keeps one from beginning.
        ttl_seconds: How long a session is kept after it was last written.
    """

    def __init__(self, store: SqlStore, ttl_seconds: float) -> None:
        self._store = store
        self._ttl = timedelta(seconds=ttl_seconds)

    def __repr__(self) -> str:
        return f"<SqlWarmMemory for {self._ttl.total_seconds():g} s in {self._store!r}>"

    async def load(self, space: MemorySpace, deadline: Deadline) -> SessionMemory | None:
        """See `HotMemory.load`."""
        statement = sa.select(SESSIONS.c.text).where(
            *_of_user(SESSIONS, space), _is_session(space), SESSIONS.c.expires_at > self._store.clock.now()
        )
        async with self._transaction(deadline) as transaction:
            text = (await transaction.execute(statement)).scalar_one_or_none()
        return None if text is None else read(text)

    async def save(self, space: MemorySpace, memory: SessionMemory, expected: int, deadline: Deadline) -> bool:
        """See `HotMemory.save`."""
        now = self._store.clock.now()
        values = {"version": memory.version, "text": written(memory), "expires_at": now + self._ttl}
        added = self._store.insert(SESSIONS).values(**_named(space), session_id=key_part(space.session_id), **values)
        is_older = sa.or_(
            SESSIONS.c.version <= expected,
            SESSIONS.c.expires_at <= now,
            sa.and_(SESSIONS.c.version == memory.version, SESSIONS.c.text == values["text"]),
        )
        statement = added.on_conflict_do_update(index_elements=list(SESSIONS.primary_key), set_=values, where=is_older)
        async with self._transaction(deadline) as transaction:
            return (await transaction.execute(statement)).rowcount == 1

    async def forget(self, space: MemorySpace, deadline: Deadline) -> Forgotten:
        """See `HotMemory.forget`; what is known of a session's runs goes with it, all of a user's with the user."""
        if not space.session_id and not space.user_id:
            return Forgotten()
        sessions, entries = (sa.delete(table).where(*_of_user(table, space)) for table in (SESSIONS, ENTRIES))
        if space.session_id:
            sessions, entries = (
                statement.where(statement.table.c.session_id == key_part(space.session_id))
                for statement in (sessions, entries)
            )
        async with self._transaction(deadline) as transaction:
            deleted = (await transaction.execute(sessions)).rowcount
            dropped = (await transaction.execute(entries)).rowcount
        return Forgotten(sessions=deleted, entries=dropped)

    async def keep(self, space: MemorySpace, entries: Sequence[KnowledgeEntry], deadline: Deadline) -> None:
        """See `WarmMemory.keep`."""
        now = self._store.clock.now()
        async with self._transaction(deadline) as transaction:
            for entry in entries:
                session = key_part(space.session_id) if entry.kind is EntryKind.RUN else ""
                values = {"session_id": session, "text": entry.text, "updated_at": now, "expires_at": entry.expires_at}
                row = {**_named(space), "user_id": key_part(entry.user_id), "kind": entry.kind.value, **values}
                added = self._store.insert(ENTRIES).values(**row, name=key_part(entry.name))
                await transaction.execute(
                    added.on_conflict_do_update(index_elements=list(ENTRIES.primary_key), set_=values)
                )

    async def known(self, space: MemorySpace, limit: int, deadline: Deadline) -> tuple[KnowledgeEntry, ...]:
        """See `WarmMemory.known`."""
        found: list[KnowledgeEntry] = []
        async with self._transaction(deadline) as transaction:
            for owner in dict.fromkeys((space.user_id, "")):  # each by itself: many of one must not hide the others
                found += await self._newest(transaction, _owned_by(space, owner), limit)
        found.sort(key=lambda entry: entry.updated_at or datetime.min.replace(tzinfo=UTC), reverse=True)
        return tuple(found[:limit])

    async def drop(self, space: MemorySpace, kind: str, name: str, deadline: Deadline) -> Forgotten:
        """See `WarmMemory.drop`."""
        statement = sa.delete(ENTRIES).where(
            *_of_user(ENTRIES, space), ENTRIES.c.kind == kind, ENTRIES.c.name == key_part(name)
        )
        async with self._transaction(deadline) as transaction:
            return Forgotten(entries=(await transaction.execute(statement)).rowcount)

    async def sweep(self, moment: datetime, deadline: Deadline) -> Forgotten:
        """See `WarmMemory.sweep`."""
        async with self._transaction(deadline) as transaction:
            sessions = (await transaction.execute(_expired(SESSIONS, moment))).rowcount
            entries = (await transaction.execute(_expired(ENTRIES, moment))).rowcount
        return Forgotten(sessions=sessions, entries=entries)

    async def _newest(
        self, transaction: Transaction, owned: tuple[sa.ColumnElement[bool], ...], limit: int
    ) -> list[KnowledgeEntry]:
        is_current = sa.or_(ENTRIES.c.expires_at.is_(None), ENTRIES.c.expires_at > self._store.clock.now())
        newest = sa.select(ENTRIES).where(*owned, is_current, ENTRIES.c.kind.in_(_KINDS))
        rows = await transaction.execute(newest.order_by(ENTRIES.c.updated_at.desc(), ENTRIES.c.name).limit(limit))
        return [_entry(row) for row in rows.mappings()]

    @asynccontextmanager
    async def _transaction(self, deadline: Deadline) -> AsyncIterator[Transaction]:
        if deadline.is_expired:
            raise BackendUnavailable("Warm memory was not asked in time.", metadata={"backend": WARM_MEMORY.backend})
        async with self._store.transaction() as transaction:
            yield transaction


@asynccontextmanager
async def sql_warm_memory(
    url: str, clock: Clock, ttl_seconds: float, timeout_seconds: float | None = None, *, must_exist: bool = False
) -> AsyncIterator[SqlWarmMemory]:
    """Open warm memory at a SQLAlchemy URL; see `sql_store`.

    Args:
        url: `sqlite+aiosqlite:///PATH` or `postgresql+asyncpg://USER@HOST/DATABASE`.
        clock: Dates the rows.
        ttl_seconds: How long a session is kept.
        timeout_seconds: For each step of a transaction.
        must_exist: Whether a file that is not there is refused instead of made.

    Raises:
        ConfigurationError: The URL names another kind of store, or is none, or the file or the tables are not usable.
        BackendUnavailable: The store does not answer.
    """
    opened = existing_sql_store if must_exist else sql_store
    async with opened(url, WARM_MEMORY, clock, timeout_seconds) as store:
        yield SqlWarmMemory(store, ttl_seconds)


def _named(space: MemorySpace) -> dict[str, Any]:
    return {
        "tenant": key_part(space.tenant),
        "business_line": key_part(space.business_line),
        "user_id": key_part(space.user_id),
    }


def _of_user(table: sa.Table, space: MemorySpace) -> tuple[sa.ColumnElement[bool], ...]:
    return tuple(table.c[name] == value for name, value in _named(space).items())


def _owned_by(space: MemorySpace, user_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _of_user(ENTRIES, MemorySpace(tenant=space.tenant, business_line=space.business_line, user_id=user_id))


def _expired(table: sa.Table, moment: datetime) -> sa.Delete:
    keys = list(table.primary_key)
    old = sa.select(*keys).where(table.c.expires_at <= moment).limit(SWEPT_AT_ONCE)
    return sa.delete(table).where(sa.tuple_(*keys).in_(old), table.c.expires_at <= moment)


def _is_session(space: MemorySpace) -> sa.ColumnElement[bool]:
    return SESSIONS.c.session_id == key_part(space.session_id)


def _entry(row: sa.RowMapping) -> KnowledgeEntry:
    return KnowledgeEntry(
        kind=EntryKind(row["kind"]),
        name=unquote(row["name"]),
        text=row["text"],
        user_id=unquote(row["user_id"]),
        expires_at=_aware_or_none(row["expires_at"]),
        updated_at=_aware_or_none(row["updated_at"]),
    )


def _aware_or_none(moment: datetime | None) -> datetime | None:
    """Return a moment in UTC, or None: SQLite keeps the digits of a time and forgets its zone."""
    if moment is None:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
