"""Redis URLs: every form that is taken, and what is said about the others."""

from __future__ import annotations

import pytest

from taoloop.core.errors import ConfigurationError
from taoloop.wire.redis.redis_address import RedisAddress, Topology, parse_redis_url


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://cache", RedisAddress(Topology.SINGLE, (("cache", 6379),))),
        ("redis://cache:7000/3", RedisAddress(Topology.SINGLE, (("cache", 7000),), database=3)),
        ("redis://[::1]:7000", RedisAddress(Topology.SINGLE, (("::1", 7000),))),
        (
            "rediss://app:p%40ss%2F@cache/0",
            RedisAddress(Topology.SINGLE, (("cache", 6379),), is_encrypted=True, username="app", password="p@ss/"),
        ),
        ("redis://:secret@cache", RedisAddress(Topology.SINGLE, (("cache", 6379),), password="secret")),
        (
            "redis+sentinel://a,b:26380,[::1]:1/main/2",
            RedisAddress(Topology.SENTINEL, (("a", 26379), ("b", 26380), ("::1", 1)), service="main", database=2),
        ),
        (
            "rediss+sentinel://u:p@a/main",
            RedisAddress(
                Topology.SENTINEL, (("a", 26379),), is_encrypted=True, username="u", password="p", service="main"
            ),
        ),
        ("redis+cluster://a,b:7001", RedisAddress(Topology.CLUSTER, (("a", 6379), ("b", 7001)))),
        ("redis+cluster://a/0", RedisAddress(Topology.CLUSTER, (("a", 6379),))),
    ],
)
def test_a_url_says_where_an_installation_is(url: str, address: RedisAddress) -> None:
    assert parse_redis_url(url) == address


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("http://cache", "the scheme 'http' is not known"),
        ("redis+proxy://cache", "the scheme 'redis+proxy' is not known"),
        ("cache:6379", "the scheme"),
        ("redis://", "a host is missing"),
        ("redis+cluster://a,,b", "a host is missing"),
        ("redis://cache:70000", "a host cannot be read"),
        ("redis://a,b", "several are sentinels or nodes of a cluster"),
        ("redis+sentinel://a,b", "the service that the sentinels watch is missing"),
        ("redis+cluster://a/1", "a cluster has the database 0 alone"),
        ("redis://cache/first", "no database number"),
        ("redis://cache/0/1", "no database number"),
        ("redis://cache?ssl_cert_reqs=none", "takes no `?`"),
    ],
)
def test_a_url_of_no_form_says_what_is_wrong_and_keeps_its_password(url: str, cause: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_redis_url(url.replace("://", "://user:hunter2@") if url.partition("://")[2] else url)

    assert cause in caught.value.message
    assert "hunter2" not in caught.value.message


def test_an_address_shows_no_password() -> None:
    assert repr(parse_redis_url("redis+sentinel://u:hunter2@a/main")) == "<RedisAddress sentinel a:26379 main>"
