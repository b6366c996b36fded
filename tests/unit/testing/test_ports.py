"""Rules of free ports."""

from __future__ import annotations

import socket

from taoloop.testing.ports import LOOPBACK, free_ports, is_taken


def test_free_ports_differ_and_are_not_taken() -> None:
    ports = free_ports(5)
    assert len(set(ports)) == 5
    assert not any(is_taken(port) for port in ports)


def test_a_port_that_is_listened_on_is_taken() -> None:
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        server.listen()
        assert is_taken(server.getsockname()[1])


def test_free_ports_are_none_that_an_outgoing_connection_could_take() -> None:
    assert all(port < 32_000 for port in free_ports(50))
