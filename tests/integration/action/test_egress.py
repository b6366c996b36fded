"""Where connections go, whatever names and bases say."""

from __future__ import annotations

import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from taoloop.action.egress.rules import EgressRules
from taoloop.action.transports.egress_guard import Egress
from taoloop.core.faults import FaultCode
from tests.integration.action.http_calls import call, contract, fault_of, transport
from tests.integration.action.raw_server import answer, raw_server, says
from tests.unit.action.contracts import telemetry


class Names(AbstractResolver):
    """Gives one answer after the other, the last one for good."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self.answers = list(answers)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [
            ResolveResult(hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=0)
            for address in found
        ]

    async def close(self) -> None:
        return


LOOPBACK = EgressRules.of(["127.0.0.0/8"])


@pytest.mark.parametrize("addresses", [("127.0.0.1",), ("127.0.0.1", "10.0.0.1"), ("169.254.169.254",)])
async def test_a_name_that_leads_to_private_space_is_not_called(addresses: tuple[str, ...]) -> None:
    seen = telemetry()
    async with raw_server(says(answer())) as server:
        base = f"http://tools.test:{server.port}"
        async with transport(base, egress=Egress(resolver=Names(addresses)), seen=seen) as under_test:
            fault = await fault_of(under_test, call(contract()))
        assert server.heads == []
    assert (fault.code, fault.may_have_left, fault.is_retriable) == (FaultCode.EGRESS_FORBIDDEN, False, False)
    assert "TAOLOOP_EGRESS__ALLOW" in fault.message
    assert 'egress_refused_total{reason="egress_forbidden",tool="look_up"} 1.0' in seen.metrics.exposition()


async def test_a_name_is_called_in_a_network_that_the_operator_opened() -> None:
    async with raw_server(says(answer())) as server:
        egress = Egress(LOOPBACK, Names(("127.0.0.1",)))
        async with transport(f"http://tools.test:{server.port}", egress=egress) as under_test:
            assert (await under_test.attempt(call(contract()))).status_code == 200
            assert b"Host: tools.test:" in server.heads[0]


async def test_a_name_that_changes_its_mind_is_judged_each_time() -> None:
    async with raw_server(says(answer(headers="Connection: close\r\n"))) as server:
        egress = Egress(LOOPBACK, Names(("127.0.0.1",), ("10.0.0.1",)))
        async with transport(f"http://tools.test:{server.port}", egress=egress) as under_test:
            assert (await under_test.attempt(call(contract()))).status_code == 200
            under_test.pools.pools["look_up"].session.connector.clear_dns_cache()  # type: ignore[union-attr]
            assert (await fault_of(under_test, call(contract()))).code == FaultCode.EGRESS_FORBIDDEN


@pytest.mark.parametrize(
    "base",
    [
        "http://169.254.169.254",
        "http://[::ffff:169.254.169.254]",
        "http://100.100.100.200",
        "http://metadata.google.internal",
        "http://0.0.0.0",
        "http://user:password@93.184.216.34",
    ],
)
async def test_a_base_that_no_operator_can_mean_is_not_called(base: str) -> None:
    async with transport(base) as under_test:
        fault = await fault_of(under_test, call(contract()))
    assert (fault.code, fault.may_have_left) == (FaultCode.EGRESS_FORBIDDEN, False)
    assert "password" not in fault.message


@pytest.mark.parametrize("base", ["http://93.184.216.34:99999", "http://[::1", "http://"])
async def test_a_base_that_is_no_url_is_not_called(base: str) -> None:
    async with transport(base) as under_test:
        fault = await fault_of(under_test, call(contract()))
    assert fault.code in {FaultCode.TOOL_UNREACHABLE, FaultCode.INVALID_PARAMETER, FaultCode.EGRESS_FORBIDDEN}
    assert not fault.may_have_left


async def test_a_base_in_another_spelling_of_an_address_is_never_dialled_unjudged() -> None:
    async with raw_server(says(answer())) as server:
        async with transport(f"http://2130706433:{server.port}") as under_test:
            fault = await fault_of(under_test, call(contract()))
        assert server.heads == []
    assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)


async def test_a_name_that_is_not_known_is_unreachable() -> None:
    class Nothing(Names):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            raise OSError("no such name")

    async with transport("http://tools.test", egress=Egress(resolver=Nothing(()))) as under_test:
        fault = await fault_of(under_test, call(contract()))
    assert fault.message == "No connection to the tool could be made: the name of the host is not known."
    assert (fault.code, fault.may_have_left, fault.is_retriable) == (FaultCode.TOOL_UNREACHABLE, False, True)


async def test_localhost_written_by_the_operator_is_meant() -> None:
    async with raw_server(says(answer())) as server, transport(f"http://localhost:{server.port}") as under_test:
        assert (await under_test.attempt(call(contract()))).status_code == 200
