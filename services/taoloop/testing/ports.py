"""Free TCP ports of the loopback interface."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import Final

LOOPBACK: Final = "127.0.0.1"


def free_ports(count: int) -> tuple[int, ...]:
    """Return `count` different ports that nothing listens on now.

    They are held together until all are known, so that no two are the same. Another process may still take one
    before its user does; whoever binds it then says so.
    """
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) for _ in range(count)]
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return tuple(int(each.getsockname()[1]) for each in sockets)


def is_taken(port: int) -> bool:
    """Return whether something listens on this port of the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((LOOPBACK, port)) == 0
