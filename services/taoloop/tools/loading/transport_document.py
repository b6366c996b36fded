"""From the transport of a contract's document to its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from taoloop.core.exact_json import ABSENT
from taoloop.tools.contract import (
    ApiKeyAuth,
    Auth,
    BasicAuth,
    BearerAuth,
    GrpcTransport,
    HttpTransport,
    JobState,
    JobTransport,
    KeyPlace,
    McpCommandServer,
    McpHttpServer,
    McpTransport,
    MutualTls,
    OAuth2ClientCredentials,
    Part,
    PartEncoding,
    PythonTransport,
    Redirects,
    SqlTransport,
    Transport,
)
from taoloop.tools.loading.durations import parse_duration


def read_transport(written: Mapping[str, Any]) -> Transport:
    """Return the record of a `spec.transport` that has no form violations."""
    kind, content = next(iter(written.items()))
    return _KINDS[kind](content)


def _http(written: Mapping[str, Any]) -> HttpTransport:
    multipart = written.get("multipart")
    return HttpTransport(
        method=written["method"],
        url=written["url"],
        query=written.get("query", {}),
        headers=written.get("headers", {}),
        json=written.get("json", ABSENT),
        form=written.get("form"),
        multipart=None if multipart is None else {name: _part(part) for name, part in multipart.items()},
        text=written.get("text"),
        auth=_auth(written),
        redirects=Redirects(written.get("redirects", Redirects.NONE)),
    )


def _part(written: str | Mapping[str, Any]) -> Part:
    if isinstance(written, str):
        return Part(content=written)
    return Part(
        content=written["content"],
        file_name=written.get("file_name", ""),
        content_type=written.get("content_type", ""),
        encoding=PartEncoding(written.get("encoding", PartEncoding.TEXT)),
    )


def _auth(written: Mapping[str, Any]) -> Auth | None:
    if "auth" not in written:
        return None
    kind, content = next(iter(written["auth"].items()))
    return _AUTHS[kind](content)


def _api_key(written: Mapping[str, Any]) -> ApiKeyAuth:
    return ApiKeyAuth(location=KeyPlace(written["in"]), name=written["name"], secret=written["secret"])


def _oauth2(written: Mapping[str, Any]) -> OAuth2ClientCredentials:
    return OAuth2ClientCredentials(
        token_url=written["token_url"],
        client_id=written["client_id"],
        secret=written["secret"],
        scope=written.get("scope", ""),
    )


def _mutual_tls(written: Mapping[str, Any]) -> MutualTls:
    return MutualTls(
        certificate=written["certificate"]["secret"],
        key=written["key"]["secret"],
        ca=written["ca"]["secret"] if "ca" in written else None,
    )


def _job(written: Mapping[str, Any]) -> JobTransport:
    return JobTransport(
        create=_http(written["create"]),
        query=_http(written["query"]),
        cancel=_http(written["cancel"]) if "cancel" in written else None,
        id=written["id"],
        created_status=written.get("created_status"),
        queried_id=written.get("queried_id"),
        status=written["status"],
        states={JobState(state): _words(words) for state, words in written["states"].items()},
        result=written.get("result", ""),
        poll_every_seconds=parse_duration(written.get("poll_every", "2s")),
        total_seconds=parse_duration(written.get("total", "10m")),
    )


def _words(written: Any) -> tuple[str | int, ...]:
    words = written if isinstance(written, list) else [written]
    return tuple(word if isinstance(word, str) else int(word) for word in words)  # YAML's 2.0 is a Decimal


def _mcp(written: Mapping[str, Any]) -> McpTransport:
    server = written["server"]
    environment = {name: value["secret"] for name, value in server.get("environment", {}).items()}
    return McpTransport(
        server=(
            McpCommandServer(command=tuple(server["command"]), environment=environment)
            if "command" in server
            else McpHttpServer(url=server.get("url", ""), auth=_auth(server))
        ),
        tool=written["tool"],
        protocol_version=written.get("protocol_version"),
    )


def _grpc(written: Mapping[str, Any]) -> GrpcTransport:
    return GrpcTransport(
        base=written["base"],
        method=written["method"],
        descriptor_set=written.get("descriptor_set"),
        auth=_auth(written),
    )


def _sql(written: Mapping[str, Any]) -> SqlTransport:
    return SqlTransport(
        database=written["database"]["secret"],
        statement=written["statement"],
        max_rows=int(written.get("max_rows", 1000)),
        max_bytes=int(written.get("max_bytes", 1 << 20)),
        mask=tuple(written.get("mask", ())),
        read_only=written.get("read_only", True),
    )


_KINDS: Final[Mapping[str, Callable[[Mapping[str, Any]], Transport]]] = {
    "http": _http,
    "job": _job,
    "mcp": _mcp,
    "python": lambda written: PythonTransport(entry_point=written["entry_point"]),
    "grpc": _grpc,
    "sql": _sql,
}

_AUTHS: Final[Mapping[str, Callable[[Mapping[str, Any]], Auth]]] = {
    "bearer": lambda written: BearerAuth(secret=written["secret"]),
    "basic": lambda written: BasicAuth(user=written["user"], secret=written["secret"]),
    "api_key": _api_key,
    "oauth2": _oauth2,
    "mutual_tls": _mutual_tls,
}
