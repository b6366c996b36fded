"""Tells at once of most bodies that nothing in them is new: a place as a schema, which one native call checks."""

from __future__ import annotations

from typing import Any, Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.seen.place import Novelty, Place


class Familiar:
    """What was seen of a tool, ready for any number of bodies; safe to share between tasks and threads.

    Args:
        place: The root of what was seen.
    """

    __slots__ = ("_place", "_schema")

    def __init__(self, place: Place) -> None:
        self._place: Final = place
        self._schema: Final = CompiledSchema.own(_schema_of(place))

    def novelties(self, body: JsonValue) -> tuple[Novelty, ...]:
        """Return what `Place.novelties` does; only a body that has some is walked."""
        return () if self._schema.is_valid(body) else self._place.novelties(body)

    def __repr__(self) -> str:
        return f"Familiar({self._place!r})"


def _schema_of(place: Place) -> dict[str, Any]:
    """Return the schema that the values keep which have nothing new; places that take anything are left out."""
    schema: dict[str, Any] = {}
    if place.types:
        schema["type"] = sorted(place.types)
    if place.values is not None:
        schema |= {"if": {"type": "string"}, "then": {"enum": sorted(place.values)}}
    if place.members is not None:
        schema |= _unless_empty("additionalProperties", _schema_of(place.members))
    else:
        fields = {name: _schema_of(below) for name, below in place.fields.items()}
        if place.is_closed:
            schema |= {"properties": fields, "additionalProperties": False}
        else:
            schema |= _unless_empty("properties", {name: below for name, below in fields.items() if below})
    if place.items is not None:
        schema |= _unless_empty("items", _schema_of(place.items))
    return schema


def _unless_empty(keyword: str, value: dict[str, Any]) -> dict[str, Any]:
    return {keyword: value} if value else {}
