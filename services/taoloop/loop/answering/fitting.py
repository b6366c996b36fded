"""Results built into the form that a caller's output schema asks for: by names alone, and never by a guess."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, equal
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.pointers import below, join
from taoloop.loop.answering.findings import exposed_of
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.check_context import near
from taoloop.tools.schema_refusals import SchemaRefused, resolve_local
from taoloop.tools.schemas import CompiledSchema
from taoloop.values.conversions import ConversionContext, convert
from taoloop.values.refusals import ValueRefused

MAX_DEPTH: Final = 16
"""How deep a form is built; a schema that reaches itself may go on for ever."""
MAX_PLACES: Final = 5000
"""Most values of the results that names are looked for in; of more none is taken, since another might be meant."""
MAX_LOOKED_AT: Final = 50 * MAX_PLACES
"""Most values that are looked at for one form: parts of a schema that share parts grow beyond all bounds."""
_PART_COSTS: Final = 25
"""What a part of a schema costs besides, in values that are looked at."""
MAX_CANDIDATES: Final = 8
"""Most places that a fault names."""

_NOT_IN_NAMES: Final = re.compile(r"[\W_]+")
_CONVERTED: Final = ("integer", "number", "boolean", "string")
"""Types that another spelling of the same value becomes: digits a number, a number its digits."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A value of the results.

    Attributes:
        pointer: Where: the step's id, and the pointer into its data.
        names: The names on the way there, without the indices of lists.
        value: The value.
    """

    pointer: str
    names: tuple[str, ...]
    value: JsonValue


class _NotBuilt(Exception):
    def __init__(self, pointer: str, message: str, schema: Json, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.fault = Fault(
            code=FaultCode.SCHEMA_VIOLATION,
            stage=FaultStage.ANSWER,
            message=message,
            field=pointer,
            expected=schema,
            suggestion="Ask for fields that the tools return, by their names, or leave the field optional.",
            candidates=tuple(candidates)[:MAX_CANDIDATES],
        )


class _Misfit(_NotBuilt):
    """A part of the schema that the results have nothing for; without an optional part the rest may be had."""


class _TooMuch(_NotBuilt):
    """Results or schema too large to be looked through, so that nothing is known of the rest either."""


def fitted(spoken: Sequence[StepRecord], whole: Json, schema: dict[str, JsonValue], locale: str) -> JsonValue | Fault:
    """Return the results in the form of a schema, or why they cannot be brought into it.

    What fits as it is stays as it is, all results together or the one of them that fits. Else the form is built: each
    property takes the value of the same name, `orderId` that of `order_id` or of `id` within `order`; a list takes
    the list of its name, or the only list whose items have what is asked for. A value of another type is taken only
    where nothing is lost, `"12.50"` as a number. Where two different values have the name, none is taken.

    Args:
        spoken: The results that the answer speaks of.
        whole: The same as one value.
        schema: An object schema that compiles.
        locale: BCP 47 tag; it decides how numbers in texts are read.
    """
    compiled = CompiledSchema.compile(schema)
    as_they_are = [exposed_of(record) for record in spoken]
    first = None if isinstance(whole, Absent) else whole
    if compiled.is_valid(first):
        return first
    fits = [value for value in as_they_are if compiled.is_valid(value)]
    if len(fits) == 1:
        return fits[0]
    roots = [_Place(record.step_id, (), value) for record, value in zip(spoken, as_they_are, strict=True)]
    try:
        built = _Form(schema, locale).built(schema, "", roots)
    except _NotBuilt as failed:
        return failed.fault
    violations = compiled.violations(built)
    return built if not violations else violation_fault(violations[0].pointer, violations[0].message, schema, built)


def violation_fault(pointer: str, message: str, schema: Json, actual: Json = ABSENT) -> Fault:
    """Return the fault of data that does not keep the task's output schema."""
    return Fault(
        code=FaultCode.SCHEMA_VIOLATION,
        stage=FaultStage.ANSWER,
        message=f"The answer's data does not fit the task's output schema: {message}",
        field=pointer,
        expected=schema,
        actual=actual,
    )


class _Form:
    """Builds values for the parts of one schema."""

    def __init__(self, root: dict[str, JsonValue], locale: str) -> None:
        self._root = root
        self._context = ConversionContext(locale=locale)
        self._compiled: dict[int, CompiledSchema | None] = {}
        self._being_built: set[tuple[int, int]] = set()
        self._looked_at = 0

    def built(self, schema: Any, pointer: str, around: Sequence[_Place], depth: int = 0) -> JsonValue:
        """Return a value for a part of the schema from the values around, or raise why there is none."""
        node = self._resolved(schema)
        if depth > MAX_DEPTH:
            raise _Misfit(pointer, f"The output schema is deeper than {MAX_DEPTH} levels.", schema)
        properties = node.get("properties")
        if isinstance(properties, Mapping) and properties:
            return self._object_once(node, properties, pointer, around, depth)
        if _is_list(node):
            return self._list(node, pointer, _lists(self._below(around, pointer)), around, depth)
        scalars = [place for place in self._below(around, pointer) if not isinstance(place.value, dict | list)]
        return self._only(node, pointer, scalars, "The results have no value of this kind.")

    def _object_once(
        self, node: Mapping[str, Any], properties: Mapping[str, Any], pointer: str, around: Sequence[_Place], depth: int
    ) -> JsonValue:
        """Return an object, but none within itself of the same values: it would be one copy after another."""
        key = (id(node), id(around))
        if key in self._being_built:
            raise _Misfit(pointer, "The results have no further value for a part that contains itself.", dict(node))
        self._being_built.add(key)
        try:
            return self._object(node, properties, pointer, around, depth)
        finally:
            self._being_built.discard(key)

    def _object(
        self, node: Mapping[str, Any], properties: Mapping[str, Any], pointer: str, around: Sequence[_Place], depth: int
    ) -> JsonValue:
        required = frozenset(node.get("required", ()))
        places = self._below(around, pointer)
        made: dict[str, JsonValue] = {}
        for name, schema in properties.items():
            try:
                made[name] = self._property(name, schema, below(pointer, name), places, around, depth + 1)
            except _Misfit:
                if name in required:
                    raise
        if not made:
            raise _Misfit(pointer, "The results have none of its properties.", dict(node), tuple(_names_of(places)))
        return made

    def _property(  # the property, its place, and where to look
        self, name: str, schema: Any, pointer: str, places: Sequence[_Place], around: Sequence[_Place], depth: int
    ) -> JsonValue:
        node = self._resolved(schema)
        named = _named(name, places)
        if isinstance(node.get("properties"), Mapping):
            inner = [place for place in named if isinstance(place.value, dict)]
            return self._one_of(inner, node, pointer, depth) if inner else self.built(node, pointer, around, depth)
        if _is_list(node):
            lists = [place for place in named if isinstance(place.value, list)]
            return self._list(node, pointer, lists or _lists(places), around, depth)
        names = tuple(_names_of(places))
        missing = f"The results have no value named {name!r}."
        return self._only(node, pointer, named, missing, near(name, names) or names)

    def _one_of(self, inner: Sequence[_Place], node: Mapping[str, Any], pointer: str, depth: int) -> JsonValue:
        """Return the only value that objects of the right name make."""
        made: list[tuple[_Place, JsonValue]] = []
        misfit: _Misfit | None = None
        for place in inner:
            fits = self._fits(node, place.value)
            try:
                made.append((place, place.value if fits else self.built(node, pointer, [place], depth)))
            except _Misfit as found:
                misfit = misfit or found
        if not made and misfit is not None:
            raise misfit
        return _single(made, pointer, node)

    def _list(
        self, node: Mapping[str, Any], pointer: str, lists: Sequence[_Place], around: Sequence[_Place], depth: int
    ) -> JsonValue:
        made: list[tuple[_Place, JsonValue]] = []
        misfit = _Misfit(pointer, "The results have no list for it.", dict(node))
        for place in lists:
            assert isinstance(place.value, list)
            try:
                items = [
                    self._item(node.get("items"), _item_of(pointer, index), place, index, depth)
                    for index in range(len(place.value))
                ]
            except _Misfit as found:
                misfit = found
                continue
            if self._fits(node, items):
                made.append((place, items))
        if not made and len(around) > 1:  # results of several calls of one kind are a list as well
            every = _Place("", (), [place.value for place in around])
            return self._list(node, pointer, [every], [every], depth)
        if not made:
            raise misfit
        return _single(made, pointer, node)

    def _item(self, items: Any, pointer: str, of: _Place, index: int, depth: int) -> JsonValue:
        assert isinstance(of.value, list)
        value = of.value[index]
        node = self._resolved(items)
        if self._fits(node, value):
            return value
        place = _Place(f"{of.pointer}/{index}", (), value)
        if isinstance(node.get("properties"), Mapping) or _is_list(node):
            return self.built(node, pointer, [place], depth + 1)
        return self._only(node, pointer, [place], "The item is of another kind.")

    def _only(
        self, node: Mapping[str, Any], pointer: str, places: Sequence[_Place], missing: str, names: Sequence[str] = ()
    ) -> JsonValue:
        found = [(place, value) for place in places if not isinstance(value := self._as(node, place.value), Absent)]
        if not found:
            told = [place.pointer for place in places] or names
            message = f"{missing[:-1]} that fits." if places else missing
            raise _Misfit(pointer, message, dict(node), told)
        return _single(found, pointer, node)

    def _as(self, node: Mapping[str, Any], value: JsonValue) -> Json:
        """Return the value as the schema takes it; absent where it does not without a loss."""
        if self._fits(node, value):
            return value
        if value is None or isinstance(value, dict | list):
            return ABSENT
        wanted = node.get("type")
        for to in (wanted,) if isinstance(wanted, str) else wanted if isinstance(wanted, list) else ():
            if to not in _CONVERTED:
                continue
            try:
                made = convert(to, value, self._context)
            except ValueRefused:
                continue
            if self._fits(node, made):
                return made
        return ABSENT

    def _fits(self, node: Mapping[str, Any], value: JsonValue) -> bool:
        compiled = self._compiled_of(node)
        return compiled is not None and compiled.is_valid(value)

    def _compiled_of(self, node: Mapping[str, Any]) -> CompiledSchema | None:
        if id(node) not in self._compiled:
            shared: dict[str, JsonValue] = {
                key: self._root[key] for key in ("$defs", "definitions") if key in self._root
            }
            try:
                self._compiled[id(node)] = CompiledSchema.compile({**node, **shared})
            except SchemaRefused:
                self._compiled[id(node)] = None  # it points at another part of the whole
        return self._compiled[id(node)]

    def _below(self, around: Sequence[_Place], pointer: str) -> list[_Place]:
        """Return every value below, the nearest first."""
        found = list(islice(_walk(around), MAX_PLACES + 1))
        self._looked_at += len(found) + _PART_COSTS
        if len(found) > MAX_PLACES:
            message = f"The results have more than {MAX_PLACES} values; names are not looked for."
            raise _TooMuch(pointer, message, ABSENT)
        if self._looked_at > MAX_LOOKED_AT:
            message = f"The output schema asks for too much: {MAX_LOOKED_AT} values were looked at for its parts."
            raise _TooMuch(pointer, message, ABSENT)
        return found

    def _resolved(self, schema: Any) -> Mapping[str, Any]:
        for _ in range(MAX_DEPTH):
            reference = schema.get("$ref") if isinstance(schema, Mapping) else None
            if not isinstance(reference, str):
                break
            schema = resolve_local(self._root, reference)
        return schema if isinstance(schema, Mapping) else _ANYTHING


_ANYTHING: Final[Mapping[str, Any]] = {}


def _item_of(pointer: str, index: int) -> str:
    """Return the pointer of a list's item."""
    return pointer + join(index)


def _single(found: Sequence[tuple[_Place, JsonValue]], pointer: str, node: Mapping[str, Any]) -> JsonValue:
    first = found[0][1]
    if any(not equal(first, value) for _, value in found[1:]):
        message = "The results have several different values for it, and which is meant is not guessed."
        raise _Misfit(pointer, message, dict(node), [place.pointer for place, _ in found])
    return first


def _is_list(node: Mapping[str, Any]) -> bool:
    return node.get("type") == "array" or ("items" in node and "type" not in node)


def _walk(around: Sequence[_Place]) -> Iterator[_Place]:
    """Yield every value below, the nearest first, so that a fault names what a reader would look at first."""
    waiting = list(around)
    while waiting:
        deeper: list[_Place] = []
        for place in waiting:
            yield place
            if isinstance(place.value, dict):
                deeper += [
                    _Place(below(place.pointer, key), (*place.names, key), value) for key, value in place.value.items()
                ]
            elif isinstance(place.value, list):
                deeper += [
                    _Place(f"{place.pointer}/{index}", place.names, item) for index, item in enumerate(place.value)
                ]
        waiting = deeper


def _lists(places: Sequence[_Place]) -> list[_Place]:
    return [place for place in places if isinstance(place.value, list)]


def _named(name: str, places: Sequence[_Place]) -> list[_Place]:
    """Return the places of a name: spelt so, else spelt alike, else by what holds it, `order_id` as `id` of `order`."""
    members = [place for place in places if place.names and not _is_item(place)]
    wanted = _folded(name)
    for is_it in (
        lambda place: place.names[-1] == name,
        lambda place: _folded(place.names[-1]) == wanted,
        lambda place: any(_folded("".join(place.names[-count:])) == wanted for count in (2, 3)),
    ):
        found = [place for place in members if is_it(place)]
        if found:
            return found
    return []


def _names_of(places: Sequence[_Place]) -> list[str]:
    return list(dict.fromkeys(place.names[-1] for place in places if place.names))


def _is_item(place: _Place) -> bool:
    """Tell whether a place is an item of a list, which has the list's name and not its own."""
    return place.pointer.rpartition("/")[2].isdecimal() and not place.names[-1].isdecimal()


def _folded(name: str) -> str:
    return _NOT_IN_NAMES.sub("", name).casefold()
