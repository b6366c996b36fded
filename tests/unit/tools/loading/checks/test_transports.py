"""Transports: every request, job, server, method and statement is checked against the contract."""

from pathlib import Path
from typing import Any

import pytest

from taoloop.core import pointers
from tests.unit.tools.contracts import document
from tests.unit.tools.loading.checks.findings import errors, found, writing

_HTTP = "/spec/transport/http"
_JOB = "/spec/transport/job"
_SQL = "/spec/transport/sql"
_SELECT = "SELECT state FROM orders WHERE id = :order_id AND language = :language"


def _job(**changes: Any) -> dict[str, Any]:
    job: Any = {
        "create": {"method": "POST", "url": "{{base.orders}}/tasks", "json": {"id": "{order_id}"}},
        "query": {"method": "GET", "url": "{{base.orders}}/tasks/{job.id}"},
        "cancel": {"method": "DELETE", "url": "{{base.orders}}/tasks/{job.id}"},
        "id": "/data/task/id",
        "created_status": "/data/task/status",
        "status": "/data/status",
        "states": {"pending": "queued", "running": ["run", 2], "succeeded": "done", "failed": ["error", "lost"]},
        "result": "/data/result",
    }
    for pointer, value in changes.items():
        job = pointers.assign(job, "/" + pointer.replace("__", "/"), value)
    return document(spec__transport={"job": job})


def _sql(statement: str = _SELECT, **changes: Any) -> dict[str, Any]:
    return {"sql": {"database": {"secret": "SHOP_DB"}, "statement": statement, **changes}}


def _post(**body: Any) -> dict[str, Any]:
    return document(spec__transport={"http": {"method": "POST", "url": "{{base.orders}}/x", **body}})


@pytest.mark.parametrize(
    ("code", "pointer", "contract"),
    [
        ("UNKNOWN_PLACEHOLDER", f"{_HTTP}/form/a", _post(form={"a": "{nope}"})),
        ("UNKNOWN_PLACEHOLDER", f"{_HTTP}/text", _post(text="{nope}")),
        (
            "UNKNOWN_PLACEHOLDER",
            f"{_HTTP}/multipart/a",
            _post(multipart={"a": {"content": "x", "file_name": "{nope}"}}),
        ),
        (
            "UNKNOWN_PLACEHOLDER",
            f"{_HTTP}/auth/oauth2/token_url",
            document(
                spec__transport__http__auth={
                    "oauth2": {"token_url": "{{base.orders}}/{order_id}", "client_id": "a", "secret": "B"}
                }
            ),
        ),
        (
            "URL_BASE",
            f"{_HTTP}/auth/oauth2/token_url",
            document(
                spec__transport__http__auth={
                    "oauth2": {"token_url": "https://a/token", "client_id": "a", "secret": "B"}
                }
            ),
        ),
        ("BODY", f"{_HTTP}/form", writing(spec__transport__http__form={"a": "b"})),
        ("BODY", f"{_HTTP}/text", document(spec__transport__http__text="hello")),
        ("FORM", f"{_HTTP}/redirects", document(spec__transport__http__redirects="all")),
        ("FORM", f"{_HTTP}/method", document(spec__transport__http__method="TRACE")),
        ("UNKNOWN_PLACEHOLDER", f"{_JOB}/create/url", _job(create__url="{{base.orders}}/{job.id}")),
        ("UNKNOWN_PLACEHOLDER", f"{_JOB}/query/query/a", _job(query__query={"a": "{nope}"})),
        ("URL_BASE", f"{_JOB}/query/url", _job(query__url="http://x/{job.id}")),
        ("UNKNOWN_BASE", f"{_JOB}/cancel/url", _job(cancel__url="{{base.nope}}/{job.id}")),
        ("JOB_ID", f"{_JOB}/query", _job(query__url="{{base.orders}}/tasks")),
        ("JOB_POINTER", f"{_JOB}/status", _job(status="/data/~2")),
        ("JOB_POINTER", f"{_JOB}/queried_id", _job(queried_id="/~")),
        ("JOB_POINTER", f"{_JOB}/result", _job(result="data")),
        ("JOB_STATES", f"{_JOB}/states/failed", _job(states__failed=["done"])),
        ("JOB_TIMING", f"{_JOB}/poll_every", _job(poll_every="0")),
        ("JOB_TIMING", f"{_JOB}/total", _job(poll_every="5s", total="5s")),
        ("FORM", f"{_JOB}/states/failed", _job(states={"pending": "a", "running": "b", "succeeded": "c"})),
        ("FORM", f"{_JOB}/states/paused", _job(states__paused="p")),
        ("FORM", f"{_JOB}/id", _job(id="")),
        (
            "MCP_SERVER",
            "/spec/transport/mcp/server",
            document(spec__transport={"mcp": {"server": {"auth": {"bearer": {"secret": "A"}}}, "tool": "a"}}),
        ),
        (
            "MCP_SERVER",
            "/spec/transport/mcp/server",
            document(
                spec__transport={"mcp": {"server": {"url": "{{base.orders}}/mcp", "command": ["a"]}, "tool": "a"}}
            ),
        ),
        (
            "MCP_SERVER",
            "/spec/transport/mcp/server/environment",
            document(
                spec__transport={"mcp": {"server": {"url": "{{base.orders}}/mcp", "environment": {}}, "tool": "a"}}
            ),
        ),
        (
            "UNKNOWN_BASE",
            "/spec/transport/mcp/server/url",
            document(spec__transport={"mcp": {"server": {"url": "{{base.nope}}/mcp"}, "tool": "a"}}),
        ),
        (
            "FORM",
            "/spec/transport/mcp/tool",
            document(spec__transport={"mcp": {"server": {"command": ["a"]}, "tool": "a b"}}),
        ),
        (
            "FORM",
            "/spec/transport/mcp/protocol_version",
            document(spec__transport={"mcp": {"server": {"command": ["a"]}, "tool": "a", "protocol_version": "1"}}),
        ),
        (
            "UNKNOWN_BASE",
            "/spec/transport/grpc/base",
            document(spec__transport={"grpc": {"base": "nope", "method": "shop.v1.Orders/Get"}}),
        ),
        (
            "FORM",
            "/spec/transport/grpc/method",
            document(spec__transport={"grpc": {"base": "orders", "method": "Get"}}),
        ),
        (
            "DESCRIPTOR_SET",
            "/spec/transport/grpc/descriptor_set",
            document(spec__transport={"grpc": {"base": "orders", "method": "a.B/C", "descriptor_set": "../a.pb"}}),
        ),
        (
            "DESCRIPTOR_SET",
            "/spec/transport/grpc/descriptor_set",
            document(spec__transport={"grpc": {"base": "orders", "method": "a.B/C", "descriptor_set": "a.pb"}}),
        ),
        (
            "FORM",
            "/spec/transport/python/entry_point",
            document(spec__transport={"python": {"entry_point": "shop.orders"}}),
        ),
        ("SQL_STATEMENT", f"{_SQL}/statement", document(spec__transport=_sql(_SELECT + "; DROP TABLE orders"))),
        (
            "SQL_WRITES",
            f"{_SQL}/statement",
            document(spec__transport=_sql("UPDATE t SET a = :order_id, b = :language")),
        ),
        (
            "SQL_WRITES",
            f"{_SQL}/statement",
            document(
                spec__transport=_sql(
                    "WITH a AS (DELETE FROM t WHERE b = :order_id RETURNING *) SELECT * FROM a WHERE c = :language"
                )
            ),
        ),
        ("UNKNOWN_PLACEHOLDER", f"{_SQL}/statement", document(spec__transport=_sql(_SELECT + " AND a = :nope"))),
        ("SQL_EFFECT", _SQL, document(spec__transport=_sql(read_only=False))),
        ("SQL_EFFECT", _SQL, document(spec__effect="write", spec__transport=_sql())),
        ("FORM", f"{_SQL}/max_rows", document(spec__transport=_sql(max_rows=0))),
    ],
)
def test_a_transport_that_cannot_work_is_found(
    tmp_path: Path, code: str, pointer: str, contract: dict[str, Any]
) -> None:
    assert errors(tmp_path, contract) == [(code, pointer)]


@pytest.mark.parametrize(
    "contract",
    [
        _job(),
        _job(states__cancelled="gone", poll_every="1s", total="1h"),
        document(spec__transport={"mcp": {"server": {"url": "{{base.orders}}/mcp"}, "tool": "search"}}),
        document(
            spec__transport={
                "mcp": {
                    "server": {"command": ["server"], "environment": {"KEY": {"secret": "A"}}},
                    "tool": "a.b",
                    "protocol_version": "2025-11-25",
                }
            }
        ),
        document(spec__transport={"grpc": {"base": "orders", "method": "shop.v1.Orders/Get"}}),
        document(spec__transport={"python": {"entry_point": "shop.orders:get"}}),
        document(spec__transport=_sql(mask=["phone"], max_bytes=1000)),
        document(
            spec__effect="write", spec__transport=_sql("UPDATE t SET a = :order_id, b = :language", read_only=False)
        ),
        document(spec__transport__http__auth={"api_key": {"in": "query", "name": "key", "secret": "A"}}),
        document(spec__transport__http__auth={"basic": {"user": "a", "secret": "A"}}),
        document(spec__transport__http__auth={"mutual_tls": {"certificate": {"secret": "A"}, "key": {"secret": "B"}}}),
    ],
)
def test_a_transport_that_works_is_let_through(tmp_path: Path, contract: dict[str, Any]) -> None:
    assert found(tmp_path, contract) == []


def test_a_parameter_that_a_statement_does_not_use_is_a_warning(tmp_path: Path) -> None:
    contract = document(spec__transport=_sql("SELECT state FROM orders WHERE id = :order_id"))
    assert found(tmp_path, contract) == [("UNUSED_PARAMETER", f"{_SQL}/statement")]


def test_a_content_type_that_hides_the_boundary_is_found(tmp_path: Path) -> None:
    contract = _post(multipart={"a": "{order_id}"}, headers={"content-type": "multipart/form-data"})
    assert errors(tmp_path, contract) == [("BODY", f"{_HTTP}/headers/content-type")]


def test_a_descriptor_set_of_the_catalogue_is_let_through(tmp_path: Path) -> None:
    (tmp_path / "a.pb").write_bytes(b"")
    grpc = {"base": "orders", "method": "a.B/C", "descriptor_set": "a.pb"}
    assert found(tmp_path, document(spec__transport={"grpc": grpc})) == []


@pytest.mark.parametrize(
    "auth",
    [
        {"api_key": {"in": "query", "name": "key", "secret": "KEY"}},
        {"oauth2": {"token_url": "{{base.orders}}/token", "client_id": "c", "secret": "KEY"}},
    ],
)
def test_credentials_that_grpc_has_no_place_for_are_found(tmp_path: Path, auth: dict[str, Any]) -> None:
    transport = {"grpc": {"base": "orders", "method": "shop.v1.Orders/Get", "auth": auth}}
    assert errors(tmp_path, document(spec__transport=transport)) == [("GRPC_AUTH", "/spec/transport/grpc/auth")]


def test_an_entry_point_can_be_named(tmp_path: Path) -> None:
    for entry_point in ("find_order", "shop.orders:find", "shop.orders:Orders.find"):
        assert errors(tmp_path, document(spec__transport={"python": {"entry_point": entry_point}})) == []


@pytest.mark.parametrize(
    ("place", "transport"),
    [
        ("http", {"method": "GET", "url": "{{base.orders}}/{order_id}"}),
        ("mcp/server", {"server": {"url": "{{base.orders}}/mcp"}, "tool": "search"}),
        ("grpc", {"base": "orders", "method": "shop.v1.Orders/Get"}),
    ],
)
def test_a_header_that_the_transport_writes_itself_carries_no_credentials(
    tmp_path: Path, place: str, transport: dict[str, Any]
) -> None:
    auth: Any = {"api_key": {"in": "header", "name": "X-Request-Id", "secret": "KEY"}}
    whole: Any = pointers.assign({place.partition("/")[0]: transport}, f"/{place}/auth", auth)
    expected = ("RESERVED_HEADER", f"/spec/transport/{place}/auth/api_key/name")
    assert expected in errors(tmp_path, document(spec__transport=whole))
