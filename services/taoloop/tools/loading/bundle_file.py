"""A bundle read back from its file: one JSON text with every contract and the digest of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.loading.findings import Finding, Severity
from taoloop.tools.schemas import CompiledSchema

KIND: Final = "CatalogueBundle"
API_VERSION: Final = "taoloop.dev/v1"

MAX_BUNDLE_BYTES: Final = 64 << 20
"""Largest bundle that is read."""

_FORM: Final = CompiledSchema.compile(
    {
        "type": "object",
        "required": ["apiVersion", "kind", "name", "digest", "bases", "tools"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": KIND},
            "name": {"type": "string"},
            "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "bases": {"type": "object", "additionalProperties": {"type": "string"}},
            "tools": {"type": "array", "items": {"type": "object"}},
            "seen": {"type": "object", "additionalProperties": {"type": "object"}},
        },
    }
)


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a bundle holds, with its digest verified.

    Attributes:
        name: Of the catalogue.
        digest: Of the catalogue, which is also that of the documents.
        bases: Base URLs as they were packed.
        documents: The contracts without their samples.
        seen: What the samples showed of each tool, by name; no part of the digest, since it decides nothing.
    """

    name: str
    digest: str
    bases: Mapping[str, str]
    documents: tuple[dict[str, Any], ...]
    seen: Mapping[str, Any] = field(default_factory=dict)


class BundleRefused(ValueError):
    """The text is no bundle, or not the one that its digest promises."""


def documents_digest(documents: tuple[Mapping[str, Any], ...]) -> str:
    """Return the digest that a catalogue of these contracts has."""
    return exact_json.digest({_name(document): exact_json.digest(document) for document in documents})


def read_bundle(text: str) -> Bundle:
    """Read the text of a bundle.

    Raises:
        BundleRefused: Not JSON, not a bundle, or changed after it was packed.
    """
    try:
        value = exact_json.loads(text, max_bytes=MAX_BUNDLE_BYTES)
    except exact_json.JsonSyntaxError as exc:
        raise BundleRefused(f"the bundle is not JSON: {exc}") from exc
    violations = _FORM.violations(value)
    if violations or not isinstance(value, dict):
        raise BundleRefused(f"the file is no bundle: {violations[0].pointer or '(root)'}: {violations[0].message}")
    content: dict[str, Any] = value
    documents = tuple(content["tools"])
    if documents_digest(documents) != content["digest"]:
        raise BundleRefused("the bundle was changed after it was packed: its digest does not fit its contracts")
    return Bundle(content["name"], content["digest"], content["bases"], documents, content.get("seen", {}))


def read_bundle_file(path: Path) -> Bundle | Finding:
    """Read a bundle from its file; a finding says why it cannot be used."""
    try:
        if path.stat().st_size > MAX_BUNDLE_BYTES:
            return _finding(path, f"the bundle has more than {MAX_BUNDLE_BYTES} bytes")
        return read_bundle(path.read_bytes().decode())
    except (OSError, ValueError) as exc:
        return _finding(path, str(exc))


def _finding(path: Path, cause: str) -> Finding:
    return Finding(
        severity=Severity.ERROR,
        code="BUNDLE",
        file=str(path),
        cause=cause,
        remedy="Pack the catalogue again.",
    )


def _name(document: Mapping[str, JsonValue]) -> str:
    metadata = document.get("metadata")
    return str(metadata.get("name")) if isinstance(metadata, dict) else ""
