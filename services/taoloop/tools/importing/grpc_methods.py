"""Unary methods of a gRPC service as drafts of contracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from taoloop.tools.importing.choosing import chosen
from taoloop.tools.importing.decisions import open_decisions
from taoloop.tools.importing.findings import Draft, ImportReport, Notes, contract_document
from taoloop.tools.importing.foreign_schema import as_parameters, carried_schema
from taoloop.tools.importing.naming import shortened, snake_case, unique
from taoloop.tools.importing.openapi.schemas import Direction
from taoloop.tools.signature import Effect, Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpcMethod:
    """One unary method, its messages described as JSON Schemas.

    Attributes:
        path: `package.Service/Method`.
        request: Schema of the request.
        reply: Schema of the reply.
        effect: What its options say of idempotency; None when they say nothing.
        exact_fields: Fields whose 64-bit integers are more than a double holds.
    """

    path: str
    request: Mapping[str, Any]
    reply: Mapping[str, Any]
    effect: Effect | None = None
    exact_fields: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the method's own name."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpcPlace:
    """Where the methods are served.

    Attributes:
        base: Name of the base.
        url: Its address, `https` for TLS.
        descriptor_set: File of the catalogue with their descriptors; empty asks the server's reflection.
        reach: Who sees what is sent there.
    """

    base: str
    url: str
    descriptor_set: str = ""
    reach: Reach = Reach.OUTWARD


def draft_grpc(
    methods: Sequence[GrpcMethod], place: GrpcPlace, include: Sequence[str], *, max_tools: int
) -> ImportReport:
    """Draft a contract for each method that a pattern names.

    Args:
        methods: Of the service.
        place: Where it is served.
        include: Shell patterns for names of methods.
        max_tools: Most methods that may be chosen.

    Raises:
        ImportRefused: A pattern names nothing, or too many methods are chosen.
    """
    drafts: dict[str, Draft] = {}
    for method in chosen(methods, include, lambda each, pattern: fnmatchcase(each.name, pattern), max_tools, "method"):
        name = unique(snake_case(method.name), drafts)
        drafts[name] = _draft(name, method, place)
    return ImportReport(drafts=tuple(drafts.values()), bases={place.base: place.url})


def _draft(name: str, method: GrpcMethod, place: GrpcPlace) -> Draft:
    notes = Notes()
    effect = method.effect or Effect.WRITE
    words = name.replace("_", " ").capitalize()
    notes.warn(
        "DESCRIPTION", method.path, "descriptors hold no comments", "Say in one line what the tool answers or does."
    )
    for field in method.exact_fields:
        cause = f"{field} is a 64-bit integer, kept exact as a number"
        notes.warn("INT64", method.path, cause, "Map it to a text where a reader in JavaScript gets it.")
    descriptors = {"descriptor_set": place.descriptor_set} if place.descriptor_set else {}
    spec: dict[str, Any] = {
        "description": shortened(words),
        "effect": effect.value,
        "reach": place.reach.value,
        "parameters": as_parameters(carried_schema(method.request, notes, Direction.REQUEST), notes),
        "response": carried_schema(method.reply, notes, Direction.RESPONSE),
        "transport": {"grpc": {"base": place.base, "method": method.path, **descriptors}},
        "timeout": "10s",
    }
    ground = (
        "said by the method's options" if method.effect else "the method's options say nothing, so the worst is assumed"
    )
    return Draft(
        name=name,
        source=f"the gRPC method {method.path}",
        document=contract_document(
            name,
            spec,
            imported_from=f"grpc:{method.path}",
            imported={"request": dict(method.request), "reply": dict(method.reply)},
        ),
        decisions=tuple(open_decisions(effect, ground, place.reach)),
        findings=notes.findings,
    )
