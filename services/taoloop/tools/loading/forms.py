"""The forms of the two kinds of documents, compiled once."""

from __future__ import annotations

from functools import cache
from importlib import resources

from taoloop.core import exact_json
from taoloop.tools.schemas import CompiledSchema


@cache
def contract_form() -> CompiledSchema:
    """Return the compiled schema of a tool contract."""
    return _compiled("contract.schema.json")


@cache
def catalogue_form() -> CompiledSchema:
    """Return the compiled schema of `catalogue.yaml`."""
    return _compiled("catalogue.schema.json")


def _compiled(name: str) -> CompiledSchema:
    text = resources.files("taoloop.tools").joinpath(name).read_text(encoding="utf-8")
    return CompiledSchema.compile(exact_json.loads(text))
