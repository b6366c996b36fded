"""The client for an installation of Redis or Valkey: one server, Sentinel or Cluster, plain or by TLS."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from redis.asyncio import ConnectionPool, Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff

from taoloop.core.errors import ConfigurationError
from taoloop.core.settings import RedisSettings
from taoloop.wire.redis.packed_connections import (
    PackedConnection,
    PackedSentinelConnection,
    PackedSentinelSSLConnection,
    PackedSSLConnection,
)
from taoloop.wire.redis.redis_address import RedisAddress, Topology, parse_redis_url


@asynccontextmanager
async def redis_client(settings: RedisSettings) -> AsyncIterator[Redis]:
    """Make the client; close its connections at the end. Nothing is connected before the first command.

    A cluster's client has the same commands; a script or a pipeline of ours touches one slot.

    Raises:
        ConfigurationError: The address or a certificate cannot be used.
    """
    address = parse_redis_url(settings.url.get_secret_value())
    options = {**_connection(settings), **_credentials(address), **_tls(settings, address)}
    sentinels: list[Any] = []
    if address.topology is Topology.CLUSTER:
        client: Any = _cluster(settings, address, options)
    elif address.topology is Topology.SENTINEL:
        sentinel = _sentinel(settings, address, options)
        client = sentinel.master_for(
            address.service,
            db=address.database,
            max_connections=settings.max_connections,
            connection_class=PackedSentinelSSLConnection if address.is_encrypted else PackedSentinelConnection,
        )
        sentinels = list(sentinel.sentinels)
    else:
        client = Redis.from_pool(_single_pool(settings, address, options))
    try:
        yield cast("Redis", client)
    finally:
        await client.aclose()
        for each in sentinels:
            await each.aclose()


def _single_pool(settings: RedisSettings, address: RedisAddress, options: dict[str, Any]) -> ConnectionPool:
    ((host, port),) = address.hosts
    # Which class it is says whether it is encrypted; a pool takes no word for that.
    given = {name: value for name, value in options.items() if name != "ssl"}
    return ConnectionPool(
        connection_class=PackedSSLConnection if address.is_encrypted else PackedConnection,
        host=host,
        port=port,
        db=address.database,
        max_connections=settings.max_connections,
        **given,
    )


def _connection(settings: RedisSettings) -> dict[str, Any]:
    return {
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": settings.command_timeout_seconds,
        "socket_connect_timeout": settings.connect_timeout_seconds,
        "health_check_interval": 0,
        "protocol": 3,
    }


def _credentials(address: RedisAddress) -> dict[str, Any]:
    named = {"username": address.username, "password": address.password}
    return {name: value for name, value in named.items() if value}


def _sentinel(settings: RedisSettings, address: RedisAddress, options: dict[str, Any]) -> Sentinel:
    # Sentinels have users of their own; those of the data are not sent to them.
    own = {key: value for key, value in options.items() if key not in ("username", "password")}
    password = settings.sentinel_password.get_secret_value()
    if settings.sentinel_username:
        own["username"] = settings.sentinel_username
    if password:
        own["password"] = password
    # An answer that never comes must not hold up the question to the next sentinel.
    own["socket_timeout"] = settings.connect_timeout_seconds
    made: Any = Sentinel
    return cast("Sentinel", made(list(address.hosts), sentinel_kwargs=own, **options))


def _cluster(settings: RedisSettings, address: RedisAddress, options: dict[str, Any]) -> RedisCluster:
    nodes = [ClusterNode(host, port) for host, port in address.hosts]
    # One attempt, since the link repeats; the library then asks for the new map of slots on the next command.
    return RedisCluster(startup_nodes=nodes, max_connections=settings.max_connections, **options)


def _tls(settings: RedisSettings, address: RedisAddress) -> dict[str, Any]:
    named = {
        "ssl_ca_certs": settings.ca_file,
        "ssl_certfile": settings.certificate_file,
        "ssl_keyfile": settings.key_file,
    }
    given = {name: str(path) for name, path in named.items() if path is not None}
    if not address.is_encrypted:
        if given:
            raise ConfigurationError(
                "Certificates are given for a Redis that is reached without TLS; write rediss:// in its URL.",
                metadata={"setting": "redis.url"},
            )
        return {}
    _check_certificates(settings)
    return {"ssl": True, "ssl_min_version": ssl.TLSVersion.TLSv1_2, **given}


def _check_certificates(settings: RedisSettings) -> None:
    """Load the files once, so that one at fault is told at the start and not as an outage.

    Raises:
        ConfigurationError: With the file's setting and what is wrong with it.
    """
    context = ssl.create_default_context()
    try:
        if settings.ca_file is not None:
            context.load_verify_locations(settings.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise _unusable("ca_file", error) from error
    if settings.certificate_file is None and settings.key_file is None:
        return
    try:
        if settings.certificate_file is None:
            raise OSError("a key needs its certificate, certificate_file")
        context.load_cert_chain(settings.certificate_file, settings.key_file)
    except (OSError, ssl.SSLError) as error:
        raise _unusable("certificate_file", error) from error


def _unusable(setting: str, error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"The setting redis.{setting} cannot be used: {error}.", metadata={"setting": f"redis.{setting}"}
    )
