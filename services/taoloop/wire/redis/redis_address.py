"""The forms of a Redis URL: one server, Sentinel or Cluster, each with or without TLS."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from taoloop.core.errors import ConfigurationError

FORMS: Final = (
    "redis://[user:password@]host[:port][/database], redis+sentinel://host[:port][,host[:port]…]/service[/database] or "
    "redis+cluster://host[:port][,host[:port]…]; `rediss` in place of `redis` for TLS"
)
_PORTS: Final = {"single": 6379, "sentinel": 26379, "cluster": 6379}


class Topology(StrEnum):
    """How an installation is built."""

    SINGLE = "single"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """Where an installation is.

    Attributes:
        topology: How it is built.
        hosts: The server; or the sentinels; or the nodes that are asked first. At least one.
        is_encrypted: Whether connections use TLS, those to sentinels too.
        username: Empty for the default user.
        password: Empty for none; a secret.
        service: What the sentinels call the primary; empty without Sentinel.
        database: 0 in a cluster.
    """

    topology: Topology
    hosts: tuple[tuple[str, int], ...]
    is_encrypted: bool = False
    username: str = ""
    password: str = ""
    service: str = ""
    database: int = 0

    def __repr__(self) -> str:
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return f"<RedisAddress {self.topology.value} {hosts} {self.service}>"


def parse_redis_url(url: str) -> RedisAddress:
    """Return where a URL points.

    Raises:
        ConfigurationError: The URL has none of the forms; the message does not repeat it, since it may hold a password.
    """
    parts = urlsplit(url)
    plain, _, kind = parts.scheme.partition("+")
    if plain not in ("redis", "rediss") or kind not in ("", "sentinel", "cluster"):
        raise _wrong(f"the scheme {parts.scheme!r} is not known")
    topology = Topology(kind or "single")
    if parts.query or parts.fragment:
        raise _wrong("it takes no `?` and no `#`; what else there is to say has settings of its own")
    # The library splits off one host only; user and password end at the last @.
    credentials, _, netloc = parts.netloc.rpartition("@")
    username, _, password = credentials.partition(":")
    hosts = tuple(_host(text, _PORTS[topology.value]) for text in netloc.split(","))
    if topology is Topology.SINGLE and len(hosts) > 1:
        raise _wrong("one server has one host; several are sentinels or nodes of a cluster")
    service, database = _path(parts, topology)
    return RedisAddress(topology, hosts, plain == "rediss", unquote(username), unquote(password), service, database)


def _host(text: str, default_port: int) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _wrong(f"a host cannot be read: {error}") from error
    if not host:
        raise _wrong("a host is missing")
    return host, port if port is not None else default_port


def _path(parts: SplitResult, topology: Topology) -> tuple[str, int]:
    """Return the service and the database."""
    words = [unquote(word) for word in parts.path.split("/") if word]
    service = ""
    if topology is Topology.SENTINEL:
        if not words:
            raise _wrong("the service that the sentinels watch is missing: …/service")
        service = words.pop(0)
    if len(words) > 1 or any(not word.isdecimal() or not word.isascii() for word in words):
        raise _wrong("what follows the host is no database number")
    database = int(words[0]) if words else 0
    if topology is Topology.CLUSTER and database:
        raise _wrong("a cluster has the database 0 alone")
    return service, database


def _wrong(cause: str) -> ConfigurationError:
    return ConfigurationError(
        f"The Redis URL cannot be used: {cause}. It is {FORMS}.", metadata={"setting": "redis.url"}
    )
