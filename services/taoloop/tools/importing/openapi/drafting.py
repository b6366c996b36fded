"""From chosen operations of an OpenAPI document to drafts of contracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from taoloop.tools.importing.choosing import DEFAULT_MAX_TOOLS, chosen
from taoloop.tools.importing.decisions import open_decisions
from taoloop.tools.importing.findings import Decision, Draft, ImportReport, Notes, contract_document
from taoloop.tools.importing.naming import one_line, shortened, snake_case, unique
from taoloop.tools.importing.openapi.credentials import CredentialReader
from taoloop.tools.importing.openapi.document import OpenApiDocument, Operation
from taoloop.tools.importing.openapi.replies import ReplyReader
from taoloop.tools.importing.openapi.requests import RequestReader
from taoloop.tools.importing.openapi.servers import BaseBook
from taoloop.tools.signature import Effect, Reach

_EFFECTS: Final[Mapping[str, Effect]] = {
    "GET": Effect.READ,
    "HEAD": Effect.READ,
    "OPTIONS": Effect.READ,
    "QUERY": Effect.READ,
    "PUT": Effect.IDEMPOTENT_WRITE,
    "DELETE": Effect.IDEMPOTENT_WRITE,
    "POST": Effect.WRITE,
    "PATCH": Effect.WRITE,
}


def draft_openapi(
    document: OpenApiDocument,
    include: Sequence[str],
    *,
    max_tools: int = DEFAULT_MAX_TOOLS,
    base: tuple[str, str] = ("", ""),
) -> ImportReport:
    """Draft a contract for each operation that a pattern names.

    Args:
        document: The document.
        include: Shell patterns for ids, for `METHOD /path`, or `tag:PATTERN`.
        max_tools: Most operations that may be chosen.
        base: Name and URL of the base; an empty part is taken from the document.

    Raises:
        ImportRefused: A pattern names nothing, or too many operations are chosen.
    """
    notes = Notes()
    book = BaseBook(document, notes, name=base[0], url=base[1])
    drafts: dict[str, Draft] = {}
    operations = tuple(document.operations())
    for operation in chosen(operations, include, Operation.is_named, max_tools, "operation"):
        if operation.method in _EFFECTS:
            name = unique(snake_case(operation.id or operation.title, otherwise="operation"), drafts)
            drafts[name] = _draft(document, operation, name, book)
        else:
            cause = f"{operation.title} is left out: the method {operation.method} is not sent"
            notes.warn("METHOD", operation.pointer, cause, "Choose another operation.")
    return ImportReport(drafts=tuple(drafts.values()), bases=book.bases, findings=notes.findings)


def _draft(document: OpenApiDocument, operation: Operation, name: str, book: BaseBook) -> Draft:
    notes = Notes()
    effect = _EFFECTS[operation.method]
    requests = RequestReader(document, operation, notes)
    base = book.of(operation)
    http = requests.read(base)
    credentials = CredentialReader(document, book, notes)
    http.update(credentials.read(operation, base))
    reach = book.reach(base)
    description = _description(operation, notes)
    spec: dict[str, Any] = {
        "description": description,
        "effect": effect.value,
        "reach": reach.value,
        "parameters": requests.parameters.schema(),
        **_reply_first(ReplyReader(document, operation, notes).read(), http),
        **_key_place(requests.idempotency_header, effect),
        "timeout": "10s",
    }
    return Draft(
        name=name,
        source=f"{operation.title} ({operation.id})" if operation.id else operation.title,
        document=contract_document(
            name,
            spec,
            imported_from=f"{document.name}#{operation.pointer}",
            imported={"operation": dict(operation.content), "contract": spec},
        ),
        decisions=(*_decisions(operation, spec, effect, reach), *credentials.decisions),
        findings=notes.findings,
    )


def _description(operation: Operation, notes: Notes) -> str:
    line = one_line(operation.summary)
    if not line:
        notes.warn(
            "DESCRIPTION", operation.pointer, "the operation has no summary", "Say what the tool answers or does."
        )
        return operation.title
    short = shortened(line)
    if short.endswith("…"):
        cause = f"the description is cut from {len(line)} characters: {line[:300]!r}"
        notes.warn("DESCRIPTION", operation.pointer, cause, "Say in one line what the tool answers or does.")
    return short


def _reply_first(reply: dict[str, Any], http: dict[str, Any]) -> dict[str, Any]:
    """Return the fields in the order in which people read them: the response, how to call, then errors."""
    errors: dict[str, Any] = {name: reply[name] for name in ("empty", "errors") if name in reply}
    return {"response": reply["response"], "transport": {"http": http}, **errors}


def _key_place(header: str, effect: Effect) -> dict[str, Any]:
    return {"idempotency": {"in": "header", "name": header}} if header and effect is not Effect.READ else {}


def _decisions(operation: Operation, spec: Mapping[str, Any], effect: Effect, reach: Reach) -> Iterator[Decision]:
    has_key = "idempotency" in spec
    yield from open_decisions(effect, f"guessed from the method {operation.method}", reach, has_key=has_key)
