"""Rules that hold at the moment of connecting."""

import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from taoloop.action.egress.rules import EgressRules
from taoloop.action.transports.egress_guard import Egress, EgressForbidden, EgressGuard


class Names(AbstractResolver):
    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.is_closed = False

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=0)
            for address in self.addresses
        ]

    async def close(self) -> None:
        self.is_closed = True


def info(address: str) -> tuple[int, int, int, str, tuple[object, ...]]:
    return (socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, 80))


async def test_a_name_with_one_forbidden_address_is_refused_whole() -> None:
    names = Names("93.184.216.34", "10.0.0.1")
    resolver = EgressGuard(Egress(resolver=names)).resolver()
    with pytest.raises(EgressForbidden, match=r"10\.0\.0\.1 is a private address"):
        await resolver.resolve("a.test", 80)
    await resolver.close()
    assert names.is_closed


async def test_a_name_with_allowed_addresses_is_resolved() -> None:
    egress = Egress(EgressRules.of(["10.0.0.0/8"]), Names("10.0.0.1"))
    found = await EgressGuard(egress).resolver().resolve("a.test", 80)
    assert [each["host"] for each in found] == ["10.0.0.1"]


def test_the_address_that_is_dialled_is_judged_again() -> None:
    with pytest.raises(EgressForbidden):
        EgressGuard(Egress()).make_socket(info("127.0.0.1"))


def test_an_admitted_base_opens_its_address_and_open_sockets_are_counted() -> None:
    guard = EgressGuard(Egress())
    guard.admit_base("127.0.0.1")
    guard.admit_base("127.0.0.1")
    assert repr(guard) == "EgressGuard(allow=['127.0.0.1/32'])"
    made = guard.make_socket(info("127.0.0.1"))
    assert guard.open_connections == 1
    made.close()
    assert guard.open_connections == 0
    guard.make_socket(info("127.0.0.1")).close()
