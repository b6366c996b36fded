"""The action service put together: settings to component."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from secrets import token_bytes

from taoloop.action.board.local_board_store import LocalBoardStore
from taoloop.action.board.model import BoardStore
from taoloop.action.board.own_breakers import open_breakers
from taoloop.action.board.tool_board import ToolBoard, following
from taoloop.action.executor import Executor, ExecutorOptions
from taoloop.action.ledger.approval_gate import ApprovalGate
from taoloop.action.ledger.keeper import LedgerKeeper
from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.ledger.reconciliation import Reconciler
from taoloop.action.ledger.sql.sql_ledger import sql_ledger
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.servicer import SERVICE_NAME, ActionServicer, registrar
from taoloop.action.settings import ActionSettings
from taoloop.action.transports.egress_guard import Egress
from taoloop.action.transports.http import http_transport
from taoloop.action.transports.jobs.desk import JobDesk
from taoloop.action.transports.jobs.handles import JobHandles
from taoloop.action.transports.jobs.transport import JobHttpTransport
from taoloop.action.transports.opening import openers
from taoloop.action.transports.router import transport_router
from taoloop.core.clock import Clock
from taoloop.core.errors import ConfigurationError
from taoloop.core.ids import new_id
from taoloop.core.telemetry import Telemetry
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.tools.signature import Effect
from taoloop.wire.component import Component


@asynccontextmanager
async def action_component(settings: ActionSettings, telemetry: Telemetry, clock: Clock) -> AsyncIterator[Component]:
    """Build the action service and close its ledger and connections at the end.

    Raises:
        CatalogueInvalid: The catalogue has faults.
        ConfigurationError: The ledger cannot promise durability and the catalogue has tools that write.
        BackendUnavailable: The ledger does not answer.
    """
    catalogue = await asyncio.to_thread(read_catalogue, settings.catalogue, settings.bases)
    secrets = ConfiguredSecrets(settings.secrets, settings.secrets_dir)
    egress = Egress(settings.egress.rules())
    async with (
        sql_ledger(settings.ledger.url.get_secret_value(), clock, settings.ledger.lease_seconds) as ledger,
        http_transport(settings.tool_http, catalogue.bases, secrets, telemetry, egress=egress, clock=clock) as http,
        _board(settings, telemetry, clock) as board,
        transport_router(catalogue, openers(settings, catalogue, http, secrets, telemetry, clock)) as transport,
    ):
        refuse_forgetful_ledger(catalogue, ledger, is_waived=settings.ledger.is_durability_waived)
        options = ExecutorOptions(
            switches=board.switch_of,
            approvals=ApprovalGate(ledger.approvals, telemetry.metrics, settings.approval.policy()),
            jobs=JobDesk(JobHttpTransport(http, clock), ledger, _job_handles(settings), clock, telemetry.metrics),
        )
        executor = Executor(catalogue, transport, ledger, telemetry, clock, options)
        board.publish_from(lambda: open_breakers(executor.guards.breakers, clock))
        reconciler = Reconciler(catalogue, ledger, executor.execute, clock, telemetry.metrics, settings.ledger.pace())
        async with LedgerKeeper(
            ledger,
            executor.write_guard,
            reconciler,
            clock,
            telemetry.metrics,
            lease_seconds=settings.ledger.lease_seconds,
            look_up_every_seconds=settings.ledger.look_up_every_seconds,
        ):
            servicer = ActionServicer(catalogue, executor, ledger, reconciler, board)
            yield Component(
                name="action",
                service_names=(SERVICE_NAME,),
                register=registrar(servicer),
                is_ready=ledger.is_available,
            )


@asynccontextmanager
async def _board(settings: ActionSettings, telemetry: Telemetry, clock: Clock) -> AsyncIterator[ToolBoard]:
    """Open the board that the replicas share, or that of a single one, and keep it up to date."""
    async with AsyncExitStack() as stack:
        store: BoardStore = LocalBoardStore(clock)
        if settings.board.redis is not None:
            from taoloop.action.board.redis_board_store import RedisBoardStore
            from taoloop.wire.redis.redis_link import redis_link

            link = await stack.enter_async_context(redis_link(settings.board.redis, telemetry))
            store = RedisBoardStore(link, settings.board.redis.key_prefix, new_id(clock), clock)
        board = ToolBoard(store, settings.board.tools_off, clock, settings.board.every_seconds)
        yield await stack.enter_async_context(following(board))


def _job_handles(settings: ActionSettings) -> JobHandles:
    key = settings.job_handle_key
    return JobHandles(token_bytes(32) if key is None else key.get_secret_value().encode())


def refuse_forgetful_ledger(catalogue: Catalogue, ledger: EffectLedger, *, is_waived: bool) -> None:
    """Refuse to serve tools with the effect `write` on a ledger that may forget what it acknowledged.

    Raises:
        ConfigurationError: There are such tools, and nobody waived the promise.
    """
    writers = [tool.contract.name for tool in catalogue if tool.contract.effect is Effect.WRITE]
    if writers and not ledger.is_durable and not is_waived:
        raise ConfigurationError(
            f"The effect ledger cannot promise durability, which {', '.join(writers[:5])} "
            "needs; use a file or PostgreSQL in TAOLOOP_LEDGER__URL, or set "
            "TAOLOOP_LEDGER__IS_DURABILITY_WAIVED if a repeated write does no harm.",
            metadata={"tools": ",".join(writers), "setting": "TAOLOOP_LEDGER__URL"},
        )
