"""Connections that pack commands by the C library which also reads the replies: a quarter of a hop's time else."""

from __future__ import annotations

from typing import Any

from hiredis import pack_command
from redis.asyncio.connection import Connection, SSLConnection
from redis.asyncio.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection


class _Packed:
    """Packs in C. The library does so in its blocking connections, and not in these."""

    def pack_command(self, *args: Any) -> list[bytes]:
        """Return the bytes of a command; its name may be of two words, which the server wants apart."""
        name = args[0]
        if isinstance(name, str) and " " in name:
            args = (*name.split(), *args[1:])
        return [pack_command(args)]

    def pack_commands(self, commands: Any) -> list[bytes]:
        """Return the bytes of several commands, to be written at once."""
        return [b"".join(self.pack_command(*command)[0] for command in commands)]


class PackedConnection(_Packed, Connection):
    """To one server."""


class PackedSSLConnection(_Packed, SSLConnection):
    """To one server by TLS."""


class PackedSentinelConnection(_Packed, SentinelManagedConnection):
    """To the server that the sentinels name."""


class PackedSentinelSSLConnection(_Packed, SentinelManagedSSLConnection):
    """To the server that the sentinels name, by TLS."""
