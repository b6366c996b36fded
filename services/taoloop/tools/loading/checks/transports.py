"""Checks of transports: addresses, jobs, and the places that MCP and gRPC name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from taoloop.core import pointers
from taoloop.tools import placeholders
from taoloop.tools.contract import (
    ApiKeyAuth,
    Auth,
    GrpcTransport,
    JobTransport,
    KeyPlace,
    McpHttpServer,
    McpTransport,
    OAuth2ClientCredentials,
    ToolContract,
)
from taoloop.tools.loading.checks.faults import ContractFault, base_faults, reserved_header_faults, unknown_base
from taoloop.tools.loading.checks.requests import requests_of


def transport_faults(contract: ToolContract, bases: Collection[str]) -> Iterator[ContractFault]:
    """Yield what is wrong with how a tool is reached, as far as it can be told without the schemas."""
    for pointer, http in requests_of(contract):
        yield from base_faults(http.url, pointer + "/url", bases)
        yield from _auth_faults(http.auth, pointer + "/auth", bases)
    match contract.transport:
        case JobTransport() as job:
            yield from _job_faults(job)
        case McpTransport() as mcp:
            yield from _mcp_faults(mcp, contract.document["spec"]["transport"]["mcp"]["server"], bases)
        case GrpcTransport() as grpc:
            yield from _grpc_faults(grpc, bases)
        case _:
            return


def _auth_faults(auth: Auth | None, pointer: str, bases: Collection[str]) -> Iterator[ContractFault]:
    if isinstance(auth, ApiKeyAuth) and auth.location is KeyPlace.HEADER:
        yield from reserved_header_faults(auth.name, pointer + "/api_key/name")
    if not isinstance(auth, OAuth2ClientCredentials):
        return
    place = pointer + "/oauth2/token_url"
    yield from base_faults(auth.token_url, place, bases)
    yield from _no_arguments(auth.token_url, place)


def _no_arguments(url: str, pointer: str) -> Iterator[ContractFault]:
    for name in dict.fromkeys(placeholders.names(url)):
        cause = f"the placeholder {{{name}}} stands in an address that takes no arguments"
        yield ContractFault(pointer, "UNKNOWN_PLACEHOLDER", cause, "Remove it.")


def _job_faults(job: JobTransport) -> Iterator[ContractFault]:
    pointer = "/spec/transport/job"
    places = {
        "id": job.id,
        "created_status": job.created_status,
        "queried_id": job.queried_id,
        "status": job.status,
        "result": job.result,
    }
    for name, place in places.items():
        if place is not None and not _is_pointer(place):
            cause = f"{place!r} is no JSON pointer"
            yield ContractFault(f"{pointer}/{name}", "JOB_POINTER", cause, "Write a pointer such as /data/task/id.")
    meanings: dict[tuple[str, str | int], str] = {}
    for state, words in job.states.items():
        for word in words:
            before = meanings.setdefault((type(word).__name__, word), state)
            if before != state:
                cause = f"the word {word!r} stands for {before} and for {state}"
                yield ContractFault(f"{pointer}/states/{state}", "JOB_STATES", cause, "Give each word one state.")
    if job.poll_every_seconds <= 0:
        yield ContractFault(pointer + "/poll_every", "JOB_TIMING", "poll_every is zero", "Give a pause above zero.")
    elif job.total_seconds <= job.poll_every_seconds:
        cause = f"total ({job.total_seconds:g} s) is not above poll_every ({job.poll_every_seconds:g} s)"
        yield ContractFault(pointer + "/total", "JOB_TIMING", cause, "Raise total or lower poll_every.")


def _is_pointer(text: str) -> bool:
    try:
        pointers.parse(text)
    except pointers.PointerSyntaxError:
        return False
    return True


def _mcp_faults(mcp: McpTransport, server: Mapping[str, Any], bases: Collection[str]) -> Iterator[ContractFault]:
    pointer = "/spec/transport/mcp/server"
    if ("url" in server) is ("command" in server):
        yield ContractFault(pointer, "MCP_SERVER", "the server has not exactly one of url and command", "Keep one.")
        return
    kind, stray = ("command", "auth") if "command" in server else ("url", "environment")
    if stray in server:
        cause = f"{stray} does not go with {kind}"
        yield ContractFault(f"{pointer}/{stray}", "MCP_SERVER", cause, f"Remove {stray}.")
    if "url" in server:
        yield from base_faults(server["url"], pointer + "/url", bases)
        yield from _no_arguments(server["url"], pointer + "/url")
    if isinstance(mcp.server, McpHttpServer):
        yield from _auth_faults(mcp.server.auth, pointer + "/auth", bases)


def _grpc_faults(grpc: GrpcTransport, bases: Collection[str]) -> Iterator[ContractFault]:
    pointer = "/spec/transport/grpc"
    if grpc.base not in bases:
        yield unknown_base(grpc.base, pointer + "/base")
    is_query = isinstance(grpc.auth, ApiKeyAuth) and grpc.auth.location is KeyPlace.QUERY
    if is_query or isinstance(grpc.auth, OAuth2ClientCredentials):
        cause = "gRPC has no place for credentials of this kind"
        yield ContractFault(pointer + "/auth", "GRPC_AUTH", cause, "Use bearer, basic, a header's key or mutual_tls.")
    else:
        yield from _auth_faults(grpc.auth, pointer + "/auth", bases)
    if grpc.descriptor_set is not None:
        path = PurePosixPath(grpc.descriptor_set)
        if path.is_absolute() or ".." in path.parts:
            cause = f"the descriptor set {grpc.descriptor_set!r} lies outside the catalogue"
            yield ContractFault(pointer + "/descriptor_set", "DESCRIPTOR_SET", cause, "Name a file of the catalogue.")
