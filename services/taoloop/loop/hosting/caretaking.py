"""What is done beside the runs that a host drives: their leases are renewed, and runs of silent hosts are found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from taoloop.core.clock import Clock
from taoloop.core.tasks import beside
from taoloop.core.telemetry import Telemetry
from taoloop.loop.host import RunHost
from taoloop.loop.hosting.leases import LeaseKeeper, LeaseTerms
from taoloop.loop.hosting.take_over import TakeOver, TakeOverTerms
from taoloop.loop.ports import RunLeases, RunLog


@dataclass(frozen=True, slots=True)
class Care:
    """On what terms runs are looked after."""

    leases: LeaseTerms
    take_over: TakeOverTerms


@asynccontextmanager
async def looked_after(
    host: RunHost, log: RunLog, leases: RunLeases, care: Care, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[None]:
    """Look after a host's runs while the block runs, in which the host is opened and closed.

    Leases are renewed to the last moment of a host that drains; it takes nothing over any more by then.
    """
    keeper = LeaseKeeper(log, leases, care.leases, telemetry, clock)
    take_over = TakeOver(log, leases, care.take_over, telemetry, clock)
    async with beside(
        run_leases=keeper.renew_each_third(host.open_runs), run_take_over=take_over.look_again_and_again(host)
    ):
        yield
