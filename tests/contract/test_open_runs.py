"""One suite for every count of a tenant's open runs."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.admission.open_runs import OpenRuns, Place
from taoloop.loop.admission.redis_open_runs import RedisOpenRuns
from taoloop.testing.loop_stores.open_runs import InMemoryOpenRuns
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import redis_link

CLOCK = SystemClock()


def soon() -> Deadline:
    return Deadline.after(5.0, CLOCK)


@pytest.fixture(params=["memory", "redis"])
async def open_runs(request: pytest.FixtureRequest, valkey: EmbeddedValkey) -> AsyncIterator[OpenRuns]:
    if request.param == "memory":
        yield InMemoryOpenRuns(CLOCK)
        return
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    async with redis_link(
        RedisSettings(url=SecretStr(valkey.url)), Telemetry.build(TelemetrySettings(), "test")
    ) as link:
        yield RedisOpenRuns(link, prefix)


async def place(open_runs: OpenRuns, request_id: str, most: int = 2, tenant: str = "acme", hold: float = 60.0) -> Place:
    return await open_runs.enter(tenant, request_id, most, hold, soon())


async def enter(open_runs: OpenRuns, request_id: str, most: int = 2, tenant: str = "acme", hold: float = 60.0) -> bool:
    return (await place(open_runs, request_id, most, tenant, hold)).is_entered


async def test_as_many_as_may_be_are_entered_and_the_next_is_told_how_many_there_are(open_runs: OpenRuns) -> None:
    places = [await place(open_runs, name) for name in ("a", "b", "c")]

    assert places == [Place(True, True, 1), Place(True, True, 2), Place(False, False, 2)]


async def test_one_that_is_entered_keeps_its_place(open_runs: OpenRuns) -> None:
    places = [await place(open_runs, name) for name in ("a", "b", "a", "c")]

    assert places[2:] == [Place(True, False, 2), Place(False, False, 2)]


async def test_one_that_leaves_makes_room(open_runs: OpenRuns) -> None:
    await enter(open_runs, "a", most=1)
    await open_runs.leave("acme", "a", soon())
    await open_runs.leave("acme", "a", soon())

    assert await enter(open_runs, "b", most=1)


async def test_tenants_do_not_count_for_each_other(open_runs: OpenRuns) -> None:
    await enter(open_runs, "a", most=1)

    assert await enter(open_runs, "a", most=1, tenant="other")


async def test_no_bound_enters_all_and_they_count_for_those_that_have_one(open_runs: OpenRuns) -> None:
    assert all([await enter(open_runs, name, most=0) for name in ("a", "b", "c")])
    assert await place(open_runs, "d", most=3) == Place(False, False, 3)


async def test_what_nobody_takes_out_lapses(open_runs: OpenRuns) -> None:
    await enter(open_runs, "a", most=1, hold=0.02)

    async with asyncio.timeout(5.0):
        while not await enter(open_runs, "b", most=1):  # noqa: ASYNC110 - the time is the server's
            await asyncio.sleep(0.005)
