"""One suite for the leases of every store: what a host relies on."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.ports import RunKey, RunLeases
from taoloop.loop.runlog.redis_leases import redis_run_leases
from taoloop.loop.runlog.run_keys import RunKeys
from taoloop.testing.clock import FakeClock
from taoloop.testing.run_log import InMemoryRunLeases, LeaseTable
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import redis_link

CLOCK = SystemClock()


def soon() -> Deadline:
    return Deadline.after(5.0, CLOCK)


def run(tenant: str = "acme, 上海 1") -> RunKey:
    return RunKey(tenant, uuid.uuid4().hex)


@dataclass
class Hosts:
    """Two hosts on one store, whose leases a test lets lapse."""

    one: RunLeases
    other: RunLeases
    let_lapse: Callable[[RunKey], Awaitable[None]]


@pytest.fixture(params=["memory", "redis"])
async def hosts(request: pytest.FixtureRequest, valkey: EmbeddedValkey) -> AsyncIterator[Hosts]:
    if request.param == "memory":
        table = LeaseTable(FakeClock())

        async def lapse(_: RunKey) -> None:
            table.let_lapse()

        yield Hosts(InMemoryRunLeases(table, "one"), InMemoryRunLeases(table, "other"), lapse)
        return
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    async with (
        Redis.from_url(valkey.url) as client,
        redis_link(RedisSettings(url=SecretStr(valkey.url)), telemetry) as link,
        redis_run_leases(link, prefix, 60.0, CLOCK) as one,
        redis_run_leases(link, prefix, 60.0, CLOCK) as other,
    ):

        async def lapse_in_redis(key: RunKey) -> None:
            await client.zadd(RunKeys(prefix).leases, {f"{key.run_id} {key.tenant}": 1.0}, xx=True)

        yield Hosts(one, other, lapse_in_redis)


async def test_a_lease_that_is_held_is_not_claimed(hosts: Hosts) -> None:
    await hosts.one.hold(run(), soon())

    assert await hosts.other.claim(10, soon()) == ()
    assert await hosts.other.lapsed(soon()) == 0


async def test_a_lapsed_lease_is_claimed_by_one_host_only(hosts: Hosts) -> None:
    key = run()
    await hosts.one.hold(key, soon())
    await hosts.let_lapse(key)
    assert await hosts.other.lapsed(soon()) == 1

    assert await hosts.other.claim(10, soon()) == (key,)
    assert await hosts.one.claim(10, soon()) == ()
    assert await hosts.one.lapsed(soon()) == 0


async def test_no_more_is_claimed_than_was_asked_for(hosts: Hosts) -> None:
    keys = {run() for _ in range(3)}
    for key in keys:
        await hosts.one.hold(key, soon())
        await hosts.let_lapse(key)

    first = await hosts.other.claim(2, soon())
    second = await hosts.other.claim(2, soon())

    assert (len(first), len(second)) == (2, 1)
    assert {*first, *second} == keys


async def test_a_lease_that_was_renewed_in_time_goes_on(hosts: Hosts) -> None:
    key = run()
    await hosts.one.hold(key, soon())
    await hosts.let_lapse(key)

    assert await hosts.one.renew([key], soon()) == (), "nobody has claimed it yet"
    assert await hosts.other.claim(10, soon()) == ()


async def test_a_host_is_told_which_of_its_leases_another_one_has(hosts: Hosts) -> None:
    kept, lost, never = run(), run(), run()
    for key in (lost, kept):
        await hosts.one.hold(key, soon())
    await hosts.other.hold(lost, soon())

    assert set(await hosts.one.renew([kept, lost, never], soon())) == {lost, never}
    assert await hosts.other.renew([lost], soon()) == ()


async def test_only_who_holds_a_lease_releases_it(hosts: Hosts) -> None:
    key = run()
    await hosts.one.hold(key, soon())
    await hosts.other.release(key, soon())
    assert await hosts.one.renew([key], soon()) == ()

    await hosts.one.release(key, soon())
    await hosts.one.release(key, soon())

    assert await hosts.one.renew([key], soon()) == (key,)
    assert await hosts.other.claim(10, soon()) == ()


async def test_leases_that_are_handed_back_are_claimed_at_once(hosts: Hosts) -> None:
    mine, others = run(), run()
    await hosts.one.hold(mine, soon())
    await hosts.other.hold(others, soon())

    await hosts.one.hand_back([mine, others], soon())

    assert await hosts.other.claim(10, soon()) == (mine,)


async def test_more_leases_are_renewed_than_one_script_takes(valkey: EmbeddedValkey) -> None:
    settings, telemetry = RedisSettings(url=SecretStr(valkey.url)), Telemetry.build(TelemetrySettings(), "test")
    keys = [run() for _ in range(1201)]
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    async with redis_link(settings, telemetry) as link, redis_run_leases(link, prefix, 60.0, CLOCK) as leases:
        for key in keys[:-1]:
            await leases.hold(key, soon())

        assert await leases.renew(keys, soon()) == (keys[-1],)


async def test_leases_that_are_away_are_unavailable() -> None:
    settings = RedisSettings(url=SecretStr("redis://127.0.0.1:1/0"), outage_tolerance_seconds=0.3)
    async with (
        redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as link,
        redis_run_leases(link, "test", 60.0, CLOCK) as away,
    ):
        with pytest.raises(BackendUnavailable):
            await away.hold(run(), soon())
