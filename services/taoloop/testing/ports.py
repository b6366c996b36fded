"""Free TCP ports of the loopback interface."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack
from typing import Final

LOOPBACK: Final = "127.0.0.1"


_DRAWN: Final = range(15_000, 32_000)
"""Below the ports that systems give to outgoing connections: one of those may be gone before its user binds it."""
_MOST_DRAWS: Final = 10_000
# Not the common generator: tests that run side by side give it the same seed, and would draw the same ports.
_random: Final = random.SystemRandom()


def free_ports(count: int) -> tuple[int, ...]:
    """Return `count` different ports that nothing listens on now.

    They are held together until all are known, so that no two are the same. Another process may still take one
    before its user does; whoever binds it then says so.

    Raises:
        OSError: There are not so many.
    """
    ports: list[int] = []
    with ExitStack() as held:
        for _ in range(_MOST_DRAWS):
            if len(ports) == count:
                return tuple(ports)
            port = _random.choice(_DRAWN)
            drawn = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            try:
                drawn.bind((LOOPBACK, port))
            except OSError:
                drawn.close()
            else:
                ports.append(port)
    raise OSError(f"there are no {count} free ports from {_DRAWN.start} to {_DRAWN.stop - 1}")


def is_taken(port: int) -> bool:
    """Return whether something listens on this port of the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((LOOPBACK, port)) == 0
