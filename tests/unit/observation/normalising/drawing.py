"""Response schemas, bodies that keep them and normalise rules for them, drawn from a source of chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Any

from taoloop.core import pointers
from taoloop.tools.contract import NormaliseAs, NormaliseRule
from taoloop.tools.normalisers.places import STAR, Tokens, container

TEXTS = ("5%", "1.50", "7", "shipped", "2024-05-20", "2024-05-20T10:00:00Z", "3 km", "¥2.50", "yes", "90s", "x")
NAMES = ("a", "b", "c", "d")

Bodies = Callable[[], Any]


@dataclass(frozen=True)
class Drawn:
    """A schema, bodies of it, and its places."""

    schema: Any
    body: Bodies
    places: tuple[Tokens, ...]


class Drawing:
    """Draws by one source of chance.

    Args:
        chance: The source.
    """

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    def document(self) -> Drawn:
        """Draw a response schema: an object, perhaps behind references."""
        drawn = self._object(3)
        if self._coin():
            return replace(drawn, schema={"$ref": "#/$defs/root", "$defs": {"root": drawn.schema}})
        inner = self._value(2)
        members = {"r": {"$ref": "#/$defs/inner"}, "o": {"$ref": "#/properties/r"}}
        schema = {"allOf": [drawn.schema], "properties": members, "$defs": {"inner": inner.schema}}

        def body() -> Any:
            made = drawn.body()
            more = {name: inner.body() for name in ("r", "o") if self._coin()}
            return {**made, **more} if isinstance(made, dict) else made

        places = (*drawn.places, ("r",), *(("r", *place) for place in inner.places))
        return Drawn(schema, body, places)

    def pick(self, places: tuple[Tokens, ...]) -> tuple[str, ...] | None:
        """Draw a `pick`, or none."""
        if self._coin():
            return None
        return tuple({pointers.join(*self._one(places)) for _ in range(self._chance.randint(0, 3))} - {""})

    def rule(self, places: tuple[Tokens, ...]) -> NormaliseRule:
        """Draw a rule that reads one of the places."""
        field = self._one([place for place in places if place])
        written: dict[str, Any] = {"field": pointers.join(*field), "to": pointers.join(*self._target(field))}
        kind = self._one(("plain", "as", "as", "enum"))
        if kind == "enum":
            return NormaliseRule(**written, enum={"x": "other", "5": 7, "true": "y"}, vocabulary={"sent": TEXTS})
        if kind == "plain":
            return NormaliseRule(**written)
        convert = self._one(tuple(NormaliseAs))
        options: dict[NormaliseAs, dict[str, Any]] = {
            NormaliseAs.UNIT: {"to_unit": "m"},
            NormaliseAs.CONFIDENCE: {"scale": "percent"},
            NormaliseAs.DURATION: {"unit": "s"},
            NormaliseAs.PERCENTAGE: {"unit": "percent"},
            NormaliseAs.MONEY: self._one(({}, {"currency": "CNY"})),
        }
        return NormaliseRule(**written, convert=convert, conversion_options=options.get(convert, {}))

    def _target(self, field: Tokens) -> Tokens:
        around = container(field)
        way = self._one(("same", "renamed", "new", "deep", "lifted"))
        if way == "renamed" and field[-1] != STAR:
            return (*field[:-1], self._one((*NAMES, "z")))
        if way == "deep":
            return (*around, self._one(("z", *NAMES)), "w")
        if way == "new":
            return (*around, self._one(("y", "z")))
        return field[1:] if way == "lifted" and not around and len(field) > 1 else field

    def _value(self, depth: int) -> Drawn:
        kind = self._one(("leaf", "object", "object", "array", "map")) if depth else "leaf"
        if kind == "leaf":
            return self._leaf()
        if kind == "array":
            return self._array(self._value(depth - 1))
        return self._map(self._value(depth - 1)) if kind == "map" else self._object(depth)

    def _leaf(self) -> Drawn:
        kind = self._one(("string", "integer", "number", "boolean", "words", "any"))
        bodies: dict[str, Bodies] = {
            "string": lambda: self._one(TEXTS),
            "integer": lambda: self._chance.randint(-5, 100),
            "number": lambda: self._one((7, Decimal("1.50"), Decimal("0.9"))),
            "boolean": self._coin,
            "words": lambda: self._one(("shipped", "x")),
            "any": lambda: self._one((*TEXTS, 5, None, True, {"a": 1})),
        }
        others: dict[str, Any] = {"words": {"enum": ["shipped", "x"]}, "any": True}
        schema = others.get(kind, {"type": kind, "description": f"A {kind}."})
        body = bodies[kind]
        if kind in {"string", "integer", "number"} and self._coin():
            return Drawn({**schema, "type": [kind, "null"]}, lambda: None if self._coin() else body(), ((),))
        return Drawn(schema, body, ((),))

    def _array(self, inner: Drawn) -> Drawn:
        schema: Any = {"type": "array", "items": inner.schema}
        least = 0
        if self._coin():
            schema, least = {**schema, "prefixItems": [inner.schema], "minItems": 1, "maxItems": 3}, 1
        below = (*((STAR, *place) for place in inner.places), *(("0", *place) for place in inner.places))
        return Drawn(schema, lambda: [inner.body() for _ in range(self._chance.randint(least, 3))], ((), *below))

    def _map(self, inner: Drawn) -> Drawn:
        schema: Any = {"type": "object", "additionalProperties": inner.schema}
        if self._coin():
            schema = {"type": "object", "patternProperties": {"^[xy]$": inner.schema}, "additionalProperties": False}
        places = ((), *((STAR, *place) for place in inner.places), *(("x", *place) for place in inner.places))
        return Drawn(schema, lambda: {name: inner.body() for name in "xy" if self._coin()}, places)

    def _object(self, depth: int) -> Drawn:
        names = self._chance.sample(NAMES, self._chance.randint(1, 3))
        members = {name: self._value(depth - 1) for name in names}
        required = sorted(name for name in names if self._coin())

        def body() -> Any:
            made = {name: each.body() for name, each in members.items() if name in required or self._coin()}
            return None if form == "null" and not self._chance.randint(0, 3) else made

        form = self._one(("plain", "closed", "split", "either", "counted", "null"))
        schema = self._formed(form, {name: each.schema for name, each in members.items()}, required)
        places = ((), *((name, *place) for name, each in members.items() for place in each.places))
        if form == "either":
            return Drawn(schema, lambda: {"e": "x"} if self._coin() else body(), (*places, ("e",)))
        return Drawn(schema, body, places)

    @staticmethod
    def _formed(form: str, properties: dict[str, Any], required: list[str]) -> Any:
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
        if form == "closed":
            return {**schema, "additionalProperties": False}
        if form == "split":
            first = dict(list(properties.items())[:1])
            rest = {name: each for name, each in properties.items() if name not in first}
            parts = [{"type": "object", "properties": first}, {"properties": rest, "required": required}]
            return {"allOf": parts, "maxProperties": len(properties)}
        if form == "either":
            other = {"type": "object", "properties": {"e": {"type": "string"}}, "required": ["e"]}
            return {"anyOf": [schema, other]}
        if form == "counted":
            return {**schema, "minProperties": len(required), "propertyNames": {"pattern": "^[a-e]$"}}
        return {**schema, "type": ["object", "null"]} if form == "null" else schema

    def _one(self, options: Any) -> Any:
        return self._chance.choice(options)

    def _coin(self) -> bool:
        return self._chance.random() < 0.5
