"""What the action benchmark compares: calls through the executor, the same calls by bare aiohttp, the store alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Final

import aiohttp
import sqlalchemy as sa
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from benchmarks.caller import Work
from taoloop.action.board.local_board_store import LocalBoardStore
from taoloop.action.board.tool_board import ToolBoard
from taoloop.action.executor import Executor, ExecutorOptions
from taoloop.action.ledger.effects import EffectIntent
from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.ledger.sql.migrations import LEDGER
from taoloop.action.ledger.sql.sql_ledger import SqlEffectLedger, sql_ledger
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import AiohttpTransport, http_transport
from taoloop.action.transports.router import TransportRouter
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonValue
from taoloop.core.ids import new_id
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.metrics import Metrics
from taoloop.core.telemetry.tracing import Tracing, build_tracer_provider
from taoloop.plan.acting import ActionStatus, ExecuteRequest, Provenance
from taoloop.plan.effects import EffectState
from taoloop.plan.task import Permissions
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import ConsecutiveBreaker, ErrorRule, HttpTransport, Limiter, Pool, ToolContract
from taoloop.tools.signature import Effect, Trust
from taoloop.wire.sql.sql_store import SqlStore, sql_store

IN_FLIGHT: Final = 64
IDLE_SECONDS: Final = 30.0
CALL_SECONDS: Final = 30.0
SAMPLE_RATIO: Final = 0.1

_ORDER_ID: Final = "SO-20260311-0042"
_ARGUMENTS: Final = {
    "type": "object",
    "required": ["order_id"],
    "additionalProperties": False,
    "properties": {"order_id": {"type": "string", "pattern": "^SO-[0-9]{8}-[0-9]{4}$"}, "note": {"type": "string"}},
}
_ANSWER: Final = {
    "type": "object",
    "required": ["order_id", "state", "amount"],
    "properties": {"order_id": {"type": "string"}, "state": {"type": "string"}, "amount": {"type": "number"}},
}
READ: Final = ToolContract(
    name="find_order",
    description="Finds one order.",
    effect=Effect.READ,
    parameters=_ARGUMENTS,
    response=_ANSWER,
    transport=HttpTransport(method="GET", url="{{base.orders}}/orders/{order_id}"),
    timeout_seconds=5.0,
    breaker=ConsecutiveBreaker(failures=5, open_for_seconds=30.0),
    limiter=Limiter(in_flight=IN_FLIGHT),
    pool=Pool(size=IN_FLIGHT, idle_timeout_seconds=IDLE_SECONDS),
    errors=(
        ErrorRule(when={"===": [{"var": "status_code"}, 404]}, code="NOT_FOUND"),
        ErrorRule(when={"===": [{"var": "status_code"}, 409]}, code="ORDER_LOCKED", is_retriable=True),
    ),
    document={"name": "find_order"},
)
WRITE: Final = ToolContract(
    name="note_on_order",
    description="Puts a note on an order.",
    effect=Effect.WRITE,
    parameters=_ARGUMENTS,
    response=_ANSWER,
    transport=HttpTransport(method="POST", url="{{base.orders}}/orders/{order_id}/notes", json={"note": "{note}"}),
    timeout_seconds=5.0,
    breaker=READ.breaker,
    limiter=READ.limiter,
    pool=READ.pool,
    document={"name": "note_on_order"},
)
_PERMISSIONS: Final = Permissions(max_effect=Effect.WRITE)
_PROVENANCE: Final = (
    Provenance(pointer="/order_id", source="query_span", trust=Trust.TRUSTED),
    Provenance(pointer="/note", source="query_span", trust=Trust.TRUSTED),
)


class EncodingExporter(SpanExporter):
    """Encodes spans for OTLP and drops the bytes: all of an exporter but its socket."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Encode a batch."""
        encode_spans(spans).SerializeToString()
        return SpanExportResult.SUCCESS


def telemetry_sampled(ratio: float) -> Telemetry:
    """Return telemetry as a service has it, that records this share of traces; 0 records none."""
    provider = build_tracer_provider(TelemetrySettings(sample_ratio=ratio), "taoloop-benchmark")
    if ratio > 0:
        provider.add_span_processor(BatchSpanProcessor(EncodingExporter()))
    return Telemetry(Metrics(), Tracing(provider))


class BareCalls:
    """The same calls by aiohttp alone: the session's own defaults, the body read as bytes, the status looked at.

    Args:
        session: Of a connector with the limits of the contract's pool.
        url: Of the server.
    """

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def read(self) -> bool:
        """Make a read."""
        async with self._session.get(f"{self._url}/orders/{_ORDER_ID}") as response:
            body = await response.read()
            return response.status == 200 and len(body) == 1024

    async def write(self) -> bool:
        """Make a write, recorded nowhere."""
        async with self._session.post(f"{self._url}/orders/{_ORDER_ID}/notes", json={"note": "ring twice"}) as response:
            body = await response.read()
            return response.status == 200 and len(body) == 1024


class ExecutedCalls:
    """Calls through an executor, put together as the service does.

    Args:
        executor: With all that belongs to it.
        clock: The machine's.
    """

    def __init__(self, executor: Executor, clock: Clock) -> None:
        self._executor = executor
        self._clock = clock
        self._series = new_id(clock)
        self._numbers = count()

    async def read(self) -> bool:
        """Make a read that has not been made before."""
        return await self._execute(READ, {"order_id": _ORDER_ID})

    async def write(self) -> bool:
        """Make a write that has not been made before."""
        return await self._execute(WRITE, {"order_id": _ORDER_ID, "note": "ring twice"})

    async def _execute(self, tool: ToolContract, arguments: dict[str, JsonValue]) -> bool:
        run_id = f"{self._series}{next(self._numbers):08x}"
        request = ExecuteRequest(
            request_id=run_id,
            run_id=run_id,
            thought_id=self._series,
            step_id="1.t1",
            tool=tool.name,
            arguments=arguments,
            permissions=_PERMISSIONS,
            provenance=_PROVENANCE,
        )
        context = CallContext(deadline=Deadline.after(CALL_SECONDS, self._clock), request_id=request.request_id)
        result = await self._executor.execute(request, context)
        return result.status is ActionStatus.SUCCEEDED


class StoreAlone:
    """What the store costs without a call: by the ledger's own methods, and two commits of one row at the least.

    Args:
        ledger: The executor's.
        store: The same database once more.
        clock: The machine's.
    """

    def __init__(self, ledger: SqlEffectLedger, store: SqlStore, clock: Clock) -> None:
        self._ledger = ledger
        self._store = store
        self._clock = clock
        columns = sa.table("benchmark_rows", sa.column("id"), sa.column("told"))
        self._insert = sa.insert(columns).values(id=sa.bindparam("row"), told="")
        self._update = sa.update(columns).where(columns.c.id == sa.bindparam("row")).values(told="x" * 400)

    async def prepare(self) -> None:
        """Make the table of the bare commits."""
        async with self._store.transaction() as connection:
            await connection.execute(sa.text("CREATE TABLE benchmark_rows (id VARCHAR(64) PRIMARY KEY, told TEXT)"))

    async def two_commits(self) -> bool:
        """Commit a new row, and a change of it."""
        row = new_id(self._clock)
        for statement in (self._insert, self._update):
            async with self._store.transaction() as connection:
                await connection.execute(statement, {"row": row})
        return True

    async def ledger(self) -> bool:
        """Record an effect's intent, its start and its outcome."""
        run_id = new_id(self._clock)
        intent = EffectIntent(
            tenant="default",
            run_id=run_id,
            step_id="s1",
            iteration=0,
            tool=WRITE.name,
            arguments_hash="0" * 64,
            request_id=run_id,
            request_digest="0" * 64,
            idempotency_key="",
            arguments_text="",
        )
        claim = await self._ledger.plan(intent)
        effect_id = claim.entry.effect.effect_id
        is_started = await self._ledger.start(effect_id)
        return is_started and await self._ledger.finish(effect_id, EffectState.SUCCEEDED, "x" * 1500)


@dataclass(frozen=True, slots=True)
class Peers:
    """What is measured, by name.

    Attributes:
        works: One call of each kind.
        transport: For its live state.
    """

    works: Mapping[str, Work]
    transport: AiohttpTransport


@asynccontextmanager
async def opened_peers(url: str, stores: Mapping[str, str], clock: Clock) -> AsyncIterator[Peers]:
    """Open everything that is compared.

    Args:
        url: Of the tool's server.
        stores: Name → SQLAlchemy URL of the ledgers to compare.
        clock: The machine's.
    """
    async with AsyncExitStack() as stack:
        connector = aiohttp.TCPConnector(limit=IN_FLIGHT, keepalive_timeout=IDLE_SECONDS)
        bare = BareCalls(await stack.enter_async_context(aiohttp.ClientSession(connector=connector)), url)
        works: dict[str, Work] = {"bare": bare.read, "bare_write": bare.write}
        transport = None
        for name, ledger_url in stores.items():
            ledger = await stack.enter_async_context(sql_ledger(ledger_url, clock))
            alone = StoreAlone(ledger, await stack.enter_async_context(sql_store(ledger_url, LEDGER, clock)), clock)
            await alone.prepare()
            executed, transport = await _executed(stack, url, ledger, 0.0, clock)
            works |= {f"write_{name}": executed.write, f"floor_{name}": alone.two_commits}
            works[f"ledger_{name}"] = alone.ledger
            if "read" not in works:
                traced, _ = await _executed(stack, url, ledger, SAMPLE_RATIO, clock)
                works |= {"read": executed.read, "read_traced": traced.read}
        assert transport is not None
        yield Peers(works, transport)


async def _executed(
    stack: AsyncExitStack, url: str, ledger: EffectLedger, sample_ratio: float, clock: Clock
) -> tuple[ExecutedCalls, AiohttpTransport]:
    telemetry = telemetry_sampled(sample_ratio)
    stack.push_async_callback(telemetry.aclose)
    catalogue = Catalogue.of((READ, WRITE), name="orders", bases={"orders": url})
    secrets = ConfiguredSecrets({}, None)
    http = await stack.enter_async_context(
        http_transport(ToolHttpSettings(), catalogue.bases, secrets, telemetry, clock=clock)
    )
    board = ToolBoard(LocalBoardStore(clock), {}, clock, 3600.0)
    options = ExecutorOptions(switches=board.switch_of)
    executor = Executor(catalogue, TransportRouter({HttpTransport: http}), ledger, telemetry, clock, options)
    return ExecutedCalls(executor, clock), http
