"""Rules of pools that need no server."""

import ssl

import pytest

from taoloop.action.ports import TransportFault
from taoloop.action.transports.egress_guard import Egress
from taoloop.action.transports.http.failures import Progress
from taoloop.action.transports.http.pools import PooledCall, TlsIdentity, ToolPool, ToolPools
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry.metrics import Metrics
from taoloop.tools.contract import Pool


def is_closed(pool: ToolPool) -> bool:
    return pool.session.closed


def identity(fingerprint: str) -> TlsIdentity:
    return TlsIdentity(fingerprint, ssl.create_default_context())


async def test_a_pool_is_kept_and_takes_the_default_size() -> None:
    pools = ToolPools(Pool(size=7), Egress(), Metrics())
    first = await pools.of_tool("a", None)
    assert await pools.of_tool("a", Pool(size=9)) is first
    assert (await pools.of_tool("b", Pool(size=9))).limits.size == 9
    assert repr(pools) == "<ToolPools [a: 0 busy, 0 idle of 7; b: 0 busy, 0 idle of 9]>"
    await pools.aclose()
    assert repr(pools) == "<ToolPools []>"


async def test_a_replaced_pool_closes_after_its_last_call() -> None:
    pools = ToolPools(Pool(), Egress(), Metrics())
    old = await pools.of_tool("a", None, identity("1"))
    async with old, old:
        new = await pools.of_tool("a", None, identity("2"))
        assert new is not old
        assert not is_closed(old)
    assert is_closed(old)
    assert not is_closed(new)
    await pools.of_tool("a", None)
    assert is_closed(new)
    await pools.aclose()


async def test_a_connection_is_counted_once_however_often_it_is_told() -> None:
    pools = ToolPools(Pool(), Egress(), Metrics())
    pool = await pools.of_tool("a", None)
    with PooledCall(pool, Progress()) as held:
        held.take()
        held.take()
        assert pool.busy == 1
    assert pool.busy == 0
    with PooledCall(pool, Progress()):
        assert pool.busy == 0
    await pools.aclose()


async def test_an_origin_that_is_forbidden_stays_so() -> None:
    pools = ToolPools(Pool(), Egress(), Metrics())
    pool = await pools.of_tool("a", None)
    for path in ("/", "/again"):
        with pytest.raises(TransportFault) as raised:
            pool.admit(f"https://169.254.1.1{path}", is_base=False)
        assert raised.value.code is FaultCode.EGRESS_FORBIDDEN
    await pools.aclose()


async def test_judgements_of_ever_new_origins_do_not_pile_up() -> None:
    pools = ToolPools(Pool(), Egress(), Metrics())
    pool = pools.elsewhere("a", None)
    assert pools.elsewhere("a", None) is pool
    for number in range(1_500):
        pool.admit(f"https://n{number}.test/path", is_base=False)
    assert len(pool._judged) <= 1_000
    with pytest.raises(TransportFault, match="link-local"):
        pool.admit("https://169.254.1.1/path", is_base=False)
    await pools.aclose()
