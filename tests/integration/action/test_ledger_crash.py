"""A process is killed between the start of a write and its outcome."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from taoloop.action.executor import Executor
from taoloop.action.ledger.effects import EffectQuery
from taoloop.action.ledger.keeper import LedgerKeeper
from taoloop.action.ledger.reconciliation import Pace, Reconciler
from taoloop.action.ledger.sql.sql_ledger import sql_ledger
from taoloop.core.clock import SystemClock
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionStatus, ServedBy
from taoloop.plan.effects import EffectState
from taoloop.testing.transport import ScriptedTransport
from tests.integration.action import dying_process
from tests.integration.action.raw_server import raw_server, says_and_hangs
from tests.unit.action.contracts import catalogue, context, request, telemetry

CLOCK = SystemClock()
LEASE_SECONDS = 0.4


async def test_a_write_cut_off_by_sigkill_is_unknown_and_is_not_sent_again(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite"
    root = Path(__file__).parents[3]
    async with raw_server(says_and_hangs(b"")) as server:
        command = (sys.executable, "-m", dying_process.__name__, url, server.base_url)
        process = await asyncio.create_subprocess_exec(*command, cwd=root)
        try:
            async with asyncio.timeout(30):
                await server.arrived.wait()  # the write is in the tool's hands
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
        assert process.returncode == -9

    transport = ScriptedTransport()
    async with sql_ledger(url, CLOCK, LEASE_SECONDS) as ledger:
        (left,) = await ledger.list("acme", EffectQuery())
        assert left.state is EffectState.STARTED
        seen, tools = telemetry(), catalogue()
        executor = Executor(tools, transport, ledger, seen, CLOCK)
        reconciler = Reconciler(tools, ledger, executor.execute, CLOCK, seen.metrics, Pace())
        async with LedgerKeeper(
            ledger,
            executor.write_guard,
            reconciler,
            CLOCK,
            seen.metrics,
            lease_seconds=LEASE_SECONDS,
            look_up_every_seconds=60.0,
        ):
            result = await executor.execute(request("change"), context(CLOCK))
        assert (result.status, result.served_by) == (ActionStatus.OUTCOME_UNKNOWN, ServedBy.DUPLICATE)
        assert result.fault is not None
        assert result.fault.code == FaultCode.OUTCOME_UNKNOWN
        (found,) = await ledger.list("acme", EffectQuery())
        assert (found.effect_id, found.state) == (result.effect_id, EffectState.UNKNOWN)
    assert transport.calls == []
