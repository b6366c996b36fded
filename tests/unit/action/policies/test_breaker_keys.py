"""Rules of what shares a breaker."""

from __future__ import annotations

import pytest

from taoloop.action.policies.breaker_registry import BreakerKey
from taoloop.tools.contract import (
    GrpcTransport,
    HttpTransport,
    JobTransport,
    McpCommandServer,
    McpHttpServer,
    McpTransport,
    PythonTransport,
    SqlTransport,
    Transport,
)
from tests.unit.action.calls import contract

BASES = {"a": "https://A.example/v1", "b": "http://b.example", "c": "http://c.example:8080"}
GET = HttpTransport(method="GET", url="{{base.b}}/x/{key}")


@pytest.mark.parametrize(
    ("transport", "address"),
    [
        (HttpTransport(method="GET", url="{{base.a}}/x"), ("https", "a.example", 443)),
        (GET, ("http", "b.example", 80)),
        (JobTransport(create=GET, query=GET, id="/id", status="/s", states={}), ("http", "b.example", 80)),
        (McpTransport(server=McpHttpServer(url="{{base.c}}/mcp"), tool="t"), ("http", "c.example", 8080)),
        (McpTransport(server=McpCommandServer(command=("server", "-x")), tool="t"), ("stdio", "server", 0)),
        (GrpcTransport(base="c", method="p.S/M"), ("http", "c.example", 8080)),
        (GrpcTransport(base="unknown", method="p.S/M"), ("", "", 0)),
        (HttpTransport(method="GET", url="{{base.unknown}}/x"), ("", "", 0)),
        (HttpTransport(method="GET", url="http://no.base/x"), ("", "", 0)),
        (PythonTransport(entry_point="m:f"), ("python", "m:f", 0)),
        (SqlTransport(database="DB", statement="select 1"), ("sql", "DB", 0)),
        (None, ("", "", 0)),
    ],
)
def test_the_key_is_the_tool_and_the_origin(transport: Transport | None, address: tuple[str, str, int]) -> None:
    assert BreakerKey.of(contract(transport=transport), BASES) == BreakerKey("look_up", *address)
