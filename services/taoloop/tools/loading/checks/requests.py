"""Checks of HTTP requests as templates, of a tool itself or of the steps of its job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.tools import placeholders
from taoloop.tools.contract import HttpTransport, JobTransport, ToolContract
from taoloop.tools.loading.checks.faults import ContractFault, text_faults
from taoloop.tools.signature import Effect

JOB_ID: Final = "job.id"
"""The placeholder of a job's id in the requests that ask for it or cancel it."""

_NO_BODY: Final = frozenset({"GET", "HEAD"})


def requests_of(contract: ToolContract) -> Iterator[tuple[str, HttpTransport]]:
    """Yield every HTTP request of a contract with its pointer."""
    transport = contract.transport
    if isinstance(transport, HttpTransport):
        yield "/spec/transport/http", transport
    elif isinstance(transport, JobTransport):
        pointer = "/spec/transport/job"
        yield pointer + "/create", transport.create
        yield pointer + "/query", transport.query
        if transport.cancel is not None:
            yield pointer + "/cancel", transport.cancel


def request_faults(contract: ToolContract) -> Iterator[ContractFault]:
    """Yield what is wrong with the requests of a contract whose schemas compile."""
    for pointer, http in requests_of(contract):
        asks_for_job = pointer.endswith(("/query", "/cancel"))
        yield from _template_faults(contract, http, pointer, also=(JOB_ID,) if asks_for_job else ())
        yield from _body_faults(http, pointer)
        if not asks_for_job and http.method in {*_NO_BODY, "OPTIONS"} and contract.effect is not Effect.READ:
            cause = f"the effect is {contract.effect}, and {http.method} promises to change nothing"
            yield ContractFault(pointer + "/method", "METHOD", cause, "Check effect and method.", is_warning=True)
        if asks_for_job and not any(JOB_ID in placeholders.names(text) for _, text in _texts(http, pointer)):
            cause = "the request does not name the job"
            yield ContractFault(pointer, "JOB_ID", cause, "Write {job.id} where the server expects the job's id.")


def _template_faults(
    contract: ToolContract, http: HttpTransport, pointer: str, *, also: tuple[str, ...]
) -> Iterator[ContractFault]:
    required = contract.parameters.get("required", ())
    for place, text in _texts(http, pointer):
        yield from text_faults(contract.parameters, text, place, also=also)
    for name in dict.fromkeys(placeholders.names(http.url)):
        if name in contract.parameters.get("properties", {}) and name not in required:
            cause = f"the parameter {name!r} stands in the url and is not required"
            yield ContractFault(pointer + "/url", "URL_PARAMETER", cause, f"Add {name} to parameters.required.")


def _texts(http: HttpTransport, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield every text of the request that may hold placeholders, with its pointer."""
    yield pointer + "/url", http.url
    fields: dict[str, JsonValue] = {"query": dict(http.query), "headers": dict(http.headers)}
    if http.form is not None:
        fields["form"] = dict(http.form)
    if http.text is not None:
        fields["text"] = http.text
    yield from placeholders.texts(fields, pointer)
    if http.json is not ABSENT:
        yield from placeholders.texts(http.json, pointer + "/json")
    for name, part in (http.multipart or {}).items():
        parts: dict[str, JsonValue] = {name: [part.content, part.file_name]}
        for place, text in placeholders.texts(parts, pointer + "/multipart"):
            yield place.rpartition("/")[0], text


def _body_faults(http: HttpTransport, pointer: str) -> Iterator[ContractFault]:
    bodies = [name for name, is_there in _bodies(http).items() if is_there]
    if len(bodies) > 1:
        cause = f"{' and '.join(bodies)} stand together, and a request has one body"
        yield ContractFault(f"{pointer}/{bodies[1]}", "BODY", cause, "Keep one of them.")
    if bodies and http.method in _NO_BODY:
        cause = f"a {http.method} request has a body"
        yield ContractFault(f"{pointer}/{bodies[0]}", "BODY", cause, "Use query parameters, or another method.")
    content_type = next((name for name in http.headers if name.lower() == "content-type"), None)
    if content_type is not None and http.multipart is not None:
        cause = "a Content-Type of its own hides the boundary of a multipart body"
        yield ContractFault(f"{pointer}/headers/{content_type}", "BODY", cause, "Remove the header.")


def _bodies(http: HttpTransport) -> Mapping[str, bool]:
    return {
        "json": http.json is not ABSENT,
        "form": http.form is not None,
        "multipart": http.multipart is not None,
        "text": http.text is not None,
    }
