"""One suite for every store of budgets: what the workers rely on when they ask a model."""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.testing.tenant_budget import InMemoryTenantBudget
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.thought.budgets.model import Reservation, Spent
from taoloop.thought.budgets.ports import TenantBudget
from taoloop.thought.budgets.redis_tenant_budget import BudgetSizes, RedisTenantBudget
from taoloop.wire.redis.redis_link import RedisLink, redis_link

CLOCK = SystemClock()
SIZE = 6000.0
SIZES = BudgetSizes(token_seconds_per_minute=SIZE, tenants={"small": 60.0, "fast": 60_000_000.0})

Open = Callable[[], TenantBudget]


def soon() -> Deadline:
    return Deadline.after(5.0, CLOCK)


@pytest.fixture
async def link(valkey: EmbeddedValkey) -> AsyncIterator[RedisLink]:
    settings = RedisSettings(url=SecretStr(valkey.url))
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as opened:
        yield opened


@pytest.fixture(params=["memory", "redis"])
def budget(request: pytest.FixtureRequest, link: RedisLink) -> TenantBudget:
    if request.param == "memory":
        return InMemoryTenantBudget(SIZES, CLOCK)
    return RedisTenantBudget(link, f"test-{uuid.uuid4().hex[:8]}", SIZES, CLOCK)


async def held(budget: TenantBudget, token_seconds: float, tenant: str = "acme") -> Reservation:
    verdict = await budget.reserve(tenant, token_seconds, soon())
    assert isinstance(verdict, Reservation)
    return verdict


async def refused(budget: TenantBudget, token_seconds: float, tenant: str = "acme") -> Spent:
    verdict = await budget.reserve(tenant, token_seconds, soon())
    assert isinstance(verdict, Spent)
    return verdict


async def test_a_bucket_is_full_at_first_and_holds_no_more_than_its_size(budget: TenantBudget) -> None:
    await held(budget, 4000)
    await held(budget, 1900)
    spent = await refused(budget, 1000)
    assert 8.0 < spent.wait_seconds <= 9.1  # 900 of 100 a second


async def test_a_refusal_takes_nothing(budget: TenantBudget) -> None:
    await held(budget, 5500)
    await refused(budget, 2000)
    await refused(budget, 2000)
    await held(budget, 490)


async def test_what_was_not_used_comes_back(budget: TenantBudget) -> None:
    reservation = await held(budget, SIZE)
    await budget.settle(reservation, 500, soon())
    await held(budget, 5400)


async def test_what_was_used_besides_is_taken(budget: TenantBudget) -> None:
    reservation = await held(budget, 1000)
    await budget.settle(reservation, 4000, soon())
    assert (await refused(budget, 3000)).wait_seconds > 8.0


async def test_a_reservation_is_settled_once(budget: TenantBudget) -> None:
    reservation = await held(budget, 5000)
    for _ in range(3):
        await budget.settle(reservation, 4000, soon())
    assert (await refused(budget, 3000)).wait_seconds > 8.0  # 2000 are left, not 4000


async def test_a_reservation_of_another_store_settles_nothing(budget: TenantBudget) -> None:
    await held(budget, 5000)
    await budget.settle(Reservation(uuid.uuid4().hex, "acme", 5000.0), 0.0, soon())
    await refused(budget, 2000)


async def test_a_call_larger_than_the_bucket_waits_for_a_full_one(budget: TenantBudget) -> None:
    reservation = await held(budget, 1_000_000)
    assert reservation.token_seconds == SIZE
    assert 55.0 < (await refused(budget, 1_000_000)).wait_seconds <= 60.0


async def test_debt_is_at_most_one_bucket(budget: TenantBudget) -> None:
    reservation = await held(budget, 6000)
    await budget.settle(reservation, 10_000_000, soon())
    assert 110.0 < (await refused(budget, SIZE)).wait_seconds <= 120.1


async def test_tenants_share_nothing_and_have_their_own_size(budget: TenantBudget) -> None:
    await held(budget, SIZE)
    await held(budget, SIZE, tenant="other")
    assert (await held(budget, 100, tenant="small")).token_seconds == 60.0
    await refused(budget, 1, tenant="small")


@pytest.mark.parametrize("tenant", ["{x}", "a}{b", "租户", "with space", ""])
async def test_any_name_of_a_tenant_has_its_own_bucket(budget: TenantBudget, tenant: str) -> None:
    await held(budget, SIZE, tenant=tenant)
    await refused(budget, SIZE, tenant=tenant)
    await held(budget, SIZE, tenant=tenant + "!")


async def test_a_bucket_fills_with_time(budget: TenantBudget) -> None:
    size = SIZES.of("fast")  # a million token-seconds a second: what was taken is there again in no time
    await held(budget, size * 0.999, tenant="fast")
    waited = [await budget.reserve("fast", size * 0.01, soon()) for _ in range(2)]
    waits = [verdict.wait_seconds for verdict in waited if isinstance(verdict, Spent)]
    assert waits
    assert all(later < sooner for sooner, later in pairwise(waits))


async def test_at_once_no_more_is_given_away_than_there_is(budget: TenantBudget) -> None:
    verdicts = await asyncio.gather(*(budget.reserve("acme", 1000, soon()) for _ in range(20)))
    assert sum(isinstance(verdict, Reservation) for verdict in verdicts) == 6


async def test_a_store_that_is_away_is_said(valkey: EmbeddedValkey) -> None:
    settings = RedisSettings(url=SecretStr("redis://127.0.0.1:1"), outage_tolerance_seconds=0.1)
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as away:
        budget = RedisTenantBudget(away, "test", SIZES, CLOCK)
        with pytest.raises(BackendUnavailable):
            await budget.reserve("acme", 1.0, Deadline.after(0.2, CLOCK))


async def test_a_store_that_hangs_holds_nobody_up(tmp_path: Path) -> None:
    async with (
        EmbeddedValkey(tmp_path / "valkey") as server,
        redis_link(RedisSettings(url=SecretStr(server.url)), Telemetry.build(TelemetrySettings(), "test")) as link,
    ):
        budget = RedisTenantBudget(link, "test", SIZES, CLOCK)
        await held(budget, 1.0)
        assert server.pid is not None
        os.kill(server.pid, signal.SIGSTOP)
        try:
            async with asyncio.timeout(3.0):
                with pytest.raises(BackendUnavailable):
                    await budget.reserve("acme", 1.0, Deadline.after(0.25, CLOCK))
        finally:
            os.kill(server.pid, signal.SIGCONT)


async def test_a_store_that_refuses_is_said_as_one_that_is_away(link: RedisLink) -> None:
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    budget = RedisTenantBudget(link, prefix, SIZES, CLOCK)
    bucket = budget._keys(Reservation("x", "acme", 1.0))[0]
    await link.client.set(bucket, "no hash")
    with pytest.raises(BackendUnavailable):
        await budget.reserve("acme", 1.0, soon())
