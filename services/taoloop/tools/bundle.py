"""Bundles: a catalogue as one deterministic JSON text, to be shipped and checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taoloop.core import exact_json
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading.bundle_file import API_VERSION, KIND, Bundle, BundleRefused, read_bundle
from taoloop.tools.seen.document import to_document
from taoloop.tools.seen.place import Place

__all__ = ["Bundle", "BundleRefused", "pack", "read_bundle"]


def pack(catalogue: Catalogue, seen: Mapping[str, Place] | None = None) -> str:
    """Return the bundle's text: the same catalogue and bases give the same bytes, whatever its files were called.

    Samples are no part of it; what they show of each tool is, where it is given. A catalogue of foreign signatures
    cannot be packed.

    Args:
        catalogue: What is packed.
        seen: What was seen of the tools, by name, as `read_seen` returns it: without it a service that reads the
            bundle knows only what the contracts list, and tells less of what changes upstream.

    Raises:
        ValueError: A tool has no contract of its own.
    """
    for tool in catalogue:
        if "spec" not in tool.contract.document:
            raise ValueError(f"the tool {tool.contract.name} has a signature only, no contract")
    documents: list[Any] = [dict(tool.contract.document) for tool in catalogue]
    content: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "bases": dict(catalogue.bases),
        "digest": catalogue.digest,
        "kind": KIND,
        "name": catalogue.name,
        "tools": documents,
    }
    if seen:
        content["seen"] = {name: to_document(place) for name, place in seen.items()}
    return exact_json.canonical(content) + "\n"
