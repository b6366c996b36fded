"""Bundles: a catalogue as one deterministic JSON text, to be shipped and checked as a whole."""

from __future__ import annotations

from typing import Any

from taoloop.core import exact_json
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading.bundle_file import API_VERSION, KIND, Bundle, BundleRefused, read_bundle

__all__ = ["Bundle", "BundleRefused", "pack", "read_bundle"]


def pack(catalogue: Catalogue) -> str:
    """Return the bundle's text: the same catalogue and bases give the same bytes, whatever its files were called.

    Samples are no part of it. A catalogue of foreign signatures cannot be packed.

    Raises:
        ValueError: A tool has no contract of its own.
    """
    for tool in catalogue:
        if "spec" not in tool.contract.document:
            raise ValueError(f"the tool {tool.contract.name} has a signature only, no contract")
    documents: list[Any] = [dict(tool.contract.document) for tool in catalogue]
    content = {
        "apiVersion": API_VERSION,
        "bases": dict(catalogue.bases),
        "digest": catalogue.digest,
        "kind": KIND,
        "name": catalogue.name,
        "tools": documents,
    }
    return exact_json.canonical(content) + "\n"
