"""What every call of one contract has in common, worked out once, and the request of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from yarl import URL

from taoloop.action.ports import ToolCall, TransportFault
from taoloop.action.transports.http_request import (
    HttpRequest,
    RequestRefused,
    SentKey,
    build_request,
    build_url,
    is_url_alone,
    origin_of,
    path_template,
    placed_names,
    with_base,
)
from taoloop.core import pointers
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import names
from taoloop.core.telemetry.names import Attribute
from taoloop.tools.contract import HttpTransport, Redirects, ToolContract


@dataclass(frozen=True, slots=True)
class Prepared:
    """What every call of one contract has in common."""

    contract: ToolContract
    template: HttpTransport
    path: str
    span_name: str
    attributes: Mapping[Attribute, str | int | None]
    placed: frozenset[str]
    is_url_alone: bool
    is_one_exchange: bool
    """Whether a call is one request: no credential is asked for, and no redirect followed."""
    method: str
    origin: str
    """Of every URL of the contract: no argument changes it."""


def request_of(prepared: Prepared, call: ToolCall) -> HttpRequest:
    """Return the request of a call, without what ties it to its trace.

    Raises:
        TransportFault: INVALID_PARAMETER, an argument cannot be sent; nothing has left.
    """
    arguments = call.arguments
    if prepared.is_url_alone and not call.idempotency_key and prepared.placed.issuperset(arguments):
        try:
            url = build_url(prepared.template.url, arguments)
        except RequestRefused as exc:
            raise _refused(exc) from exc
        return HttpRequest(method=prepared.method, url=url, headers={}, body=None)
    place = call.contract.idempotency
    key = SentKey(place, call.idempotency_key) if place is not None and call.idempotency_key else None
    try:
        return build_request(prepared.template, arguments, key, prepared.placed)
    except RequestRefused as exc:
        raise _refused(exc) from exc


def _refused(error: RequestRefused) -> TransportFault:
    pointer = pointers.join(error.parameter) if error.parameter else ""
    return TransportFault(FaultCode.INVALID_PARAMETER, _sentence(error.message), may_have_left=False, pointer=pointer)


def _attributes(contract: ToolContract, template: HttpTransport, path: str) -> Mapping[Attribute, str | int | None]:
    """Return what the span of each call tells; no argument of a call changes the server."""
    try:
        target = URL(template.url.removesuffix(path) if path != "/" else template.url)
        port = target.port
    except ValueError as exc:
        message = f"The URL of the tool {contract.name} is malformed."
        raise TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False) from exc
    return {
        Attribute.HTTP_METHOD: template.method.upper(),
        Attribute.URL_TEMPLATE: path,
        Attribute.URL_SCHEME: target.scheme,
        Attribute.SERVER_ADDRESS: target.host,
        Attribute.SERVER_PORT: port,
    }


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def prepare(contract: ToolContract, bases: Mapping[str, str]) -> Prepared:
    """Work out what every call of a contract has in common.

    Raises:
        TransportFault: The contract cannot be called over HTTP.
    """
    template = _template(contract, bases)
    path = path_template(template.url)
    method = template.method.upper()
    return Prepared(
        contract,
        template,
        path,
        names.http_span(method, path),
        _attributes(contract, template, path),
        frozenset(placed_names(template)),
        is_url_alone(template),
        template.auth is None and template.redirects is Redirects.NONE,
        method,
        origin_of(template.url),
    )


def _template(contract: ToolContract, bases: Mapping[str, str]) -> HttpTransport:
    if contract.http is None:
        message = f"The tool {contract.name} has no HTTP transport."
        raise TransportFault(FaultCode.NOT_YET_SUPPORTED, message, may_have_left=False)
    try:
        return with_base(contract.http, bases)
    except RequestRefused as exc:
        raise TransportFault(FaultCode.TOOL_UNREACHABLE, _sentence(exc.message), may_have_left=False) from exc
