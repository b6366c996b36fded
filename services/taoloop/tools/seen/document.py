"""What was seen, as JSON: a bundle carries it in the samples' place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.seen.place import TYPE_NAMES, Place

_MAX_DEPTH: Final = 32


class SeenRefused(ValueError):
    """The value does not say what was seen of a tool."""


def to_document(place: Place) -> dict[str, Any]:
    """Return the place as JSON; equal places give equal JSON."""
    document: dict[str, Any] = {}
    if place.types:
        document["types"] = sorted(place.types)
    if place.fields:
        document["fields"] = {name: to_document(below) for name, below in sorted(place.fields.items())}
    if place.is_closed:
        document["closed"] = True
    if place.members is not None:
        document["members"] = to_document(place.members)
    if place.items is not None:
        document["items"] = to_document(place.items)
    if place.values is not None:
        document["values"] = sorted(place.values)
    return document


def from_document(document: JsonValue) -> Place:
    """Return the place that `to_document` wrote.

    Raises:
        SeenRefused: The JSON is not of that form.
    """
    return _place(document, 0)


def _place(document: JsonValue, depth: int) -> Place:
    if not isinstance(document, Mapping) or depth > _MAX_DEPTH:
        raise SeenRefused("a place is an object, and places nest to a bounded depth")
    values = _texts(document, "values")
    fields = document.get("fields", {})
    types = _texts(document, "types") or frozenset()
    if not types <= TYPE_NAMES or not isinstance(fields, Mapping):
        raise SeenRefused("`types` are names of JSON types, and `fields` an object")
    return Place(
        types=types,
        fields={name: _place(below, depth + 1) for name, below in fields.items()},
        is_closed=document.get("closed") is True,
        members=_below(document, "members", depth),
        items=_below(document, "items", depth),
        values=values,
    )


def _below(document: Mapping[str, JsonValue], name: str, depth: int) -> Place | None:
    return _place(document[name], depth + 1) if name in document else None


def _texts(document: Mapping[str, JsonValue], name: str) -> frozenset[str] | None:
    if name not in document:
        return None
    listed = document[name]
    if not isinstance(listed, list):
        raise SeenRefused(f"`{name}` is a list of texts")
    texts = frozenset(text for text in listed if isinstance(text, str))
    if len(texts) != len(listed):
        raise SeenRefused(f"`{name}` is a list of texts, each once")
    return texts
