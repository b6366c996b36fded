"""The effect ledger on SQLite or PostgreSQL, by SQLAlchemy Core."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from taoloop.action.errors import EffectSettled, UnknownEffect
from taoloop.action.ledger.effects import FINISHED_FROM, Claim, EffectIntent, EffectQuery, LedgerEntry, Resolution
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, ConfigurationError, RequestIdReused, RunConflict
from taoloop.core.ids import new_id
from taoloop.plan.acting import EffectRecord, EffectState

try:
    import sqlalchemy as sa
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
except ImportError as exc:
    raise ConfigurationError("The effect ledger needs the extra `action`.", metadata={"extra": "action"}) from exc

_TIMEOUT_SECONDS: Final = 5.0  # for a connection, a statement, a lock and a place in the pool, each
_CREATION_LOCK: Final = 0x7A01_00B5  # any number that nothing else in the database locks

_METADATA: Final = sa.MetaData()
_EFFECTS: Final = sa.Table(
    "taoloop_effects",
    _METADATA,
    sa.Column("effect_id", sa.String(32), primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("step_id", sa.Text, nullable=False),
    sa.Column("iteration", sa.Integer, nullable=False),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("arguments_hash", sa.String(64), nullable=False),
    sa.Column("request_id", sa.Text, nullable=False),
    sa.Column("request_digest", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    # Whether the entry keeps the same call from being made: the partial unique index below stands on it.
    sa.Column("is_blocking", sa.Boolean, nullable=False),
    sa.Column("owner", sa.String(32), nullable=False),
    sa.Column("planned_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("result_text", sa.Text, nullable=False),
    sa.Column("took_place", sa.Boolean),
    sa.Column("resolved_by", sa.Text, nullable=False),
    sa.Column("resolution_comment", sa.Text, nullable=False),
    sa.Column("resolution_request_id", sa.Text, nullable=False),
)
_COLUMNS: Final = _EFFECTS.c
sa.Index(
    "taoloop_effects_once",
    _COLUMNS.tenant,
    _COLUMNS.run_id,
    _COLUMNS.tool,
    _COLUMNS.arguments_hash,
    unique=True,
    sqlite_where=_COLUMNS.is_blocking,
    postgresql_where=_COLUMNS.is_blocking,
)
sa.Index("taoloop_effects_request", _COLUMNS.tenant, _COLUMNS.request_id)
sa.Index("taoloop_effects_listing", _COLUMNS.tenant, _COLUMNS.run_id, _COLUMNS.effect_id)


class SqlEffectLedger:
    """An `EffectLedger` in one table.

    Every method is one transaction that begins with its write, so that SQLite takes its lock at once and
    two processes never wait for each other in a circle.

    Args:
        engine: The connection pool; this object does not close it.
        clock: Dates the entries.
        is_durable: What the store was found to promise.
    """

    def __init__(self, engine: AsyncEngine, clock: Clock, *, is_durable: bool) -> None:
        self._engine = engine
        self._clock = clock
        self._is_durable = is_durable
        self._owner = secrets.token_hex(16)
        self._insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert

    @property
    def is_durable(self) -> bool:
        """Whether an acknowledged entry survives a crash of the process and of the machine."""
        return self._is_durable

    async def plan(self, intent: EffectIntent) -> Claim:
        """Record an intent, or return the entry that blocks it; see `EffectLedger.plan`."""
        effect_id = new_id(self._clock)
        async with self._transaction() as connection:
            statement = self._insert(_EFFECTS).values(self._row(effect_id, intent)).on_conflict_do_nothing()
            is_new = (await connection.execute(statement)).rowcount == 1
            await self._refuse_reused_id(connection, intent)
            if not is_new:
                is_new = await self._take_over(connection, intent)
            row = (await connection.execute(sa.select(_EFFECTS).where(*_same_call(intent)))).mappings().one_or_none()
        if row is None:  # the entry in the way was settled between our two statements
            raise RunConflict("The effect's entry changed at the same time.", metadata={"run_id": intent.run_id})
        return Claim(entry=_entry(row), is_new=is_new)

    async def start(self, effect_id: str) -> bool:
        """Record that the call may leave from now on; see `EffectLedger.start`."""
        async with self._transaction() as connection:
            return await self._change(
                connection,
                {"state": EffectState.STARTED},
                _COLUMNS.effect_id == effect_id,
                _COLUMNS.state == EffectState.PLANNED,
                _COLUMNS.owner == self._owner,
            )

    async def finish(self, effect_id: str, state: EffectState, result_text: str) -> bool:
        """Record the outcome; see `EffectLedger.finish`."""
        async with self._transaction() as connection:
            return await self._change(
                connection,
                {"state": state, "result_text": result_text, "is_blocking": state is not EffectState.FAILED},
                _COLUMNS.effect_id == effect_id,
                _COLUMNS.state.in_(FINISHED_FROM[state]),
            )

    async def get(self, tenant: str, effect_id: str) -> LedgerEntry:
        """Return one entry; see `EffectLedger.get`."""
        async with self._transaction() as connection:
            return await self._find(connection, tenant, effect_id)

    async def list(self, tenant: str, query: EffectQuery) -> tuple[EffectRecord, ...]:
        """Return the effects that the query wants, newest first; see `EffectLedger.list`."""
        statement = sa.select(_EFFECTS).where(_COLUMNS.tenant == tenant)
        if query.run_id:
            statement = statement.where(_COLUMNS.run_id == query.run_id)
        if query.state is not None:
            statement = statement.where(_COLUMNS.state == query.state)
        if query.before_effect_id:
            statement = statement.where(_COLUMNS.effect_id < query.before_effect_id)
        async with self._transaction() as connection:
            found = await connection.execute(statement.order_by(_COLUMNS.effect_id.desc()).limit(query.limit))
            return tuple(_entry(row).effect for row in found.mappings())

    async def resolve(self, tenant: str, resolution: Resolution) -> EffectRecord:
        """Settle an unknown entry by the word of a person; see `EffectLedger.resolve`."""
        async with self._transaction() as connection:
            is_settled = await self._change(
                connection,
                {
                    "state": EffectState.RECONCILED,
                    "is_blocking": resolution.took_place,
                    "took_place": resolution.took_place,
                    "resolved_by": resolution.resolved_by,
                    "resolution_comment": resolution.comment,
                    "resolution_request_id": resolution.request_id,
                },
                _COLUMNS.tenant == tenant,
                _COLUMNS.effect_id == resolution.effect_id,
                sa.or_(_COLUMNS.state == EffectState.UNKNOWN, self._is_abandoned()),
            )
            entry = await self._find(connection, tenant, resolution.effect_id)
            if not is_settled and not await self._is_repeated(connection, resolution):
                raise EffectSettled.of(resolution.effect_id, entry.effect.state)
            return entry.effect

    async def is_available(self) -> bool:
        """Tell whether the store answers now."""
        try:
            async with self._transaction() as connection:
                await connection.execute(sa.text("SELECT 1"))
        except BackendUnavailable:
            return False
        return True

    def _row(self, effect_id: str, intent: EffectIntent) -> dict[str, object]:
        now = self._clock.now()
        return {
            "effect_id": effect_id,
            "tenant": intent.tenant,
            "run_id": intent.run_id,
            "step_id": intent.step_id,
            "iteration": intent.iteration,
            "tool": intent.tool,
            "arguments_hash": intent.arguments_hash,
            "request_id": intent.request_id,
            "request_digest": intent.request_digest,
            "state": EffectState.PLANNED,
            "is_blocking": True,
            "owner": self._owner,
            "planned_at": now,
            "updated_at": now,
            "result_text": "",
            "resolved_by": "",
            "resolution_comment": "",
            "resolution_request_id": "",
        }

    async def _refuse_reused_id(self, connection: AsyncConnection, intent: EffectIntent) -> None:
        """Raise when another body came under the same request id; the new row is rolled back with it."""
        if not intent.request_id:
            return
        statement = sa.select(_COLUMNS.effect_id).where(
            _COLUMNS.tenant == intent.tenant,
            _COLUMNS.request_id == intent.request_id,
            _COLUMNS.request_digest != intent.request_digest,
        )
        if (await connection.execute(statement.limit(1))).first() is not None:
            raise RequestIdReused.of(intent.request_id)

    async def _take_over(self, connection: AsyncConnection, intent: EffectIntent) -> bool:
        """Mark what a dead process had started as unknown; adopt what it had only planned."""
        await self._change(connection, {"state": EffectState.UNKNOWN}, *_same_call(intent), self._is_abandoned())
        return await self._change(
            connection,
            {"owner": self._owner, "step_id": intent.step_id, "iteration": intent.iteration},
            *_same_call(intent),
            _COLUMNS.state == EffectState.PLANNED,
            _COLUMNS.owner != self._owner,
        )

    def _is_abandoned(self) -> sa.ColumnElement[bool]:
        return sa.and_(_COLUMNS.state == EffectState.STARTED, _COLUMNS.owner != self._owner)

    async def _change(
        self, connection: AsyncConnection, values: dict[str, object], *conditions: sa.ColumnElement[bool]
    ) -> bool:
        statement = sa.update(_EFFECTS).where(*conditions).values(updated_at=self._clock.now(), **values)
        return (await connection.execute(statement)).rowcount == 1

    async def _find(self, connection: AsyncConnection, tenant: str, effect_id: str) -> LedgerEntry:
        statement = sa.select(_EFFECTS).where(_COLUMNS.tenant == tenant, _COLUMNS.effect_id == effect_id)
        row = (await connection.execute(statement)).mappings().one_or_none()
        if row is None:
            raise UnknownEffect.of(effect_id)
        return _entry(row)

    async def _is_repeated(self, connection: AsyncConnection, resolution: Resolution) -> bool:
        statement = sa.select(_COLUMNS.effect_id).where(
            _COLUMNS.effect_id == resolution.effect_id,
            _COLUMNS.resolution_request_id == resolution.request_id,
            _COLUMNS.took_place == resolution.took_place,
        )
        return bool(resolution.request_id) and (await connection.execute(statement)).first() is not None

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection]:
        with _translated():
            async with self._engine.begin() as connection:
                yield connection

    def __repr__(self) -> str:
        return f"SqlEffectLedger({self._engine.url!r}, is_durable={self._is_durable})"


@asynccontextmanager
async def sql_ledger(url: str, clock: Clock) -> AsyncIterator[SqlEffectLedger]:
    """Open the ledger at a SQLAlchemy URL and create its table where it is missing.

    SQLite files run in WAL mode with `synchronous=FULL`; their directory is created. PostgreSQL must run with
    `fsync` on to be called durable, and `synchronous_commit` is turned on for every connection.

    Args:
        url: `sqlite+aiosqlite:///PATH` or `postgresql+asyncpg://USER@HOST/DATABASE`.
        clock: Dates the entries.

    Raises:
        ConfigurationError: The URL names another kind of store, or is none.
        BackendUnavailable: The store does not answer.
    """
    engine = _engine(url)
    try:
        with _translated():
            async with engine.begin() as connection:
                if connection.dialect.name == "postgresql":  # two processes that start at once would both create
                    await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATION_LOCK)))
                await connection.run_sync(_METADATA.create_all)
                is_durable = await _promises_durability(connection)
        yield SqlEffectLedger(engine, clock, is_durable=is_durable)
    finally:
        await engine.dispose()


def _engine(url: str) -> AsyncEngine:
    try:
        parsed = sa.make_url(url)
    except ArgumentError as exc:
        raise ConfigurationError("The ledger's URL is not a URL.") from exc
    if parsed.drivername == "postgresql+asyncpg":
        arguments = {
            "server_settings": {"synchronous_commit": "on"},
            "timeout": _TIMEOUT_SECONDS,
            "command_timeout": _TIMEOUT_SECONDS,
        }
        return create_async_engine(parsed, connect_args=arguments, pool_pre_ping=True, pool_timeout=_TIMEOUT_SECONDS)
    if parsed.drivername != "sqlite+aiosqlite":
        raise ConfigurationError(
            f"The ledger cannot stand on {parsed.drivername}; use sqlite+aiosqlite or postgresql+asyncpg.",
            metadata={"driver": parsed.drivername},
        )
    if parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(parsed)
    sa.event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={int(_TIMEOUT_SECONDS * 1000)}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


async def _promises_durability(connection: AsyncConnection) -> bool:
    if connection.dialect.name == "postgresql":
        return bool((await connection.execute(sa.text("SHOW fsync"))).scalar_one() == "on")
    return bool((await connection.execute(sa.text("PRAGMA journal_mode"))).scalar_one() == "wal")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as exc:
        raise BackendUnavailable(
            "The effect ledger does not answer.", metadata={"backend": "effect_ledger"}, retry_after_seconds=1.0
        ) from exc


def _same_call(intent: EffectIntent) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        _COLUMNS.tenant == intent.tenant,
        _COLUMNS.run_id == intent.run_id,
        _COLUMNS.tool == intent.tool,
        _COLUMNS.arguments_hash == intent.arguments_hash,
        _COLUMNS.is_blocking,
    )


def _entry(row: sa.RowMapping) -> LedgerEntry:
    effect = EffectRecord(
        effect_id=row["effect_id"],
        run_id=row["run_id"],
        step_id=row["step_id"],
        iteration=row["iteration"],
        tool=row["tool"],
        arguments_hash=row["arguments_hash"],
        state=EffectState(row["state"]),
        planned_at=_aware(row["planned_at"]),
        updated_at=_aware(row["updated_at"]),
        resolved_by=row["resolved_by"],
    )
    return LedgerEntry(effect=effect, tenant=row["tenant"], owner=row["owner"], result_text=row["result_text"])


def _aware(moment: datetime) -> datetime:
    """Return the moment in UTC: SQLite keeps the digits of a time and forgets its zone."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
