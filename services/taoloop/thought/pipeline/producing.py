"""Which tools produce what another tool needs: the typed tool graph, for identifiers that no user types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from taoloop.core import pointers
from taoloop.thought.planners.graph.index import PlannerIndex, ToolView
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.text import name_keys, stem
from taoloop.thought.planners.graph.language.vocabulary import READING_WORDS, WRITING_WORDS
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.sources import is_identifying
from taoloop.tools.schema_paths import Shape, incompatibility, types_at

MAX_DEPTH: Final = 5
"""How deep a result is looked into, its lists included."""
MAX_FIELDS: Final = 200
"""Most fields of one result that are looked at."""
FEW_PRODUCERS: Final = 4
"""What no identifier is, such as a latitude, counts as produced only where no more tools than this give it."""

_SAID: Final = frozenset(
    {
        SlotClass.ENUM,
        SlotClass.BOOLEAN,
        SlotClass.DATE,
        SlotClass.DATE_TIME,
        SlotClass.DATE_RANGE,
        SlotClass.DATE_TEXT,
        SlotClass.TIME,
        SlotClass.LIST,
    }
)
"""Kinds of values that are the user's to say, never a result's."""
_BARE: Final = frozenset({"id", "code", "number", "no", "key", "name", "reference"})
"""Names of identifiers that say nothing of whose they are."""
_VERBS: Final = frozenset(map(stem, READING_WORDS | WRITING_WORDS))
_EMAIL: Final = "email"
_FAR: Final = 2
"""How far an e-mail address of any name is from one that is wanted: whose it is, the model has to see."""


@dataclass(frozen=True, slots=True)
class ProducedField:
    """One field of a tool's result, within lists too.

    Attributes:
        number: The tool's place in the index.
        own: Comparable words of its name.
        above: Comparable words of what holds it: the members above it and the tool's name.
        shape: What may stand there.
    """

    number: int
    own: frozenset[str]
    above: frozenset[str]
    shape: Shape | None


class ToolGraph:
    """Edges from what tools need to the tools that produce it; made once, safe to share between threads.

    Args:
        index: The tools.
    """

    def __init__(self, index: PlannerIndex) -> None:
        self._index = index
        fields: defaultdict[str, list[ProducedField]] = defaultdict(list)
        for number, tool in enumerate(index.tools):
            for field in _fields(number, tool):
                for key in field.own:
                    fields[key].append(field)
        self._fields = dict(fields)
        self._required = [{_words_of(slot.name) for slot in tool.slots if slot.is_required} for tool in index.tools]
        # Filled as tools are asked about. Two threads that fill one place write the same value.
        self._needs: dict[int, tuple[tuple[int, ...], ...]] = {}

    def needs(self, number: int) -> tuple[tuple[int, ...], ...]:
        """Return, for each required parameter that other tools produce, the numbers of those tools, nearest first."""
        known = self._needs.get(number)
        if known is None:
            tool = self._index.tools[number]
            found = (self._producers(number, slot) for slot in tool.slots if slot.is_required)
            known = self._needs[number] = tuple(producers for producers in found if producers)
        return known

    def _producers(self, number: int, slot: Slot) -> tuple[int, ...]:
        if "step" not in slot.sources or slot.slot_class in _SAID or slot.shape is None:
            return ()
        ranks: dict[int, tuple[bool, int]] = {}
        wanted = _words_of(slot.name)
        about = _about(self._index.tools[number])
        is_address = slot.slot_class is SlotClass.EMAIL
        keys = wanted | {_EMAIL} if is_address else wanted
        for field in (field for key in keys for field in self._fields.get(key, ())):
            distance = _FAR if is_address and _EMAIL in field.own else None
            distance = _or_nearer(distance, _distance(wanted, about, field))
            if distance is None or field.number == number or not _fits(field, slot.shape):
                continue
            if wanted in self._required[field.number]:
                continue  # it says again what it was told: get_order(order_id) finds no order_id out
            rank = (self._index.tools[field.number].is_writing, distance)
            ranks[field.number] = min(rank, ranks.get(field.number, rank))
        if not is_identifying(slot) and len(ranks) > FEW_PRODUCERS:
            return ()
        return tuple(sorted(ranks, key=lambda producer: (ranks[producer], producer)))


def _distance(wanted: frozenset[str], about: frozenset[str], field: ProducedField) -> int | None:
    """Return how far a field's name is from the wanted one: 0 for the same words, 1 with what holds it, else None.

    `guest_id` is a field `guestId`, or the `id` of a `guest`, or the `id` that `find_guest` returns. A bare `id` is
    one of the thing that the tool is about: `cancel_order(id)` takes an order's, whatever else has an `id`.

    Args:
        wanted: Words of the parameter's name.
        about: Words of the tool's name without its verb.
        field: What another tool gives.
    """
    if field.own == wanted:
        return 0 if not wanted <= _BARE or about & field.above else None
    return 1 if field.own < wanted and wanted - field.own <= field.above else None


def _about(tool: ToolView) -> frozenset[str]:
    """Return the words of a tool's name without the verb that it begins with; `order` alone may be either."""
    words = name_keys(tool.name)
    return frozenset(words[1:] if words[:1] and words[0] in _VERBS else words)


def _or_nearer(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _fits(field: ProducedField, shape: Shape) -> bool:
    return field.shape is not None and incompatibility(field.shape, shape) is None


def _words_of(name: str) -> frozenset[str]:
    return frozenset(name_keys(name)) or frozenset({name})


def _fields(number: int, tool: ToolView) -> Iterator[ProducedField]:
    root = dict(tool.signature.returns or {})
    for count, (pointer, names) in enumerate(_places(root, "", (), 0)):
        if count >= MAX_FIELDS:
            return
        above = frozenset(key for name in names[:-1] for key in name_keys(name)) | tool.named
        yield ProducedField(number, _words_of(names[-1]), above, types_at(root, pointer))


def _places(schema: Mapping[str, Any], pointer: str, names: tuple[str, ...], depth: int) -> Iterator[_Place]:
    """Yield the scalar places of a schema with the names on the way there."""
    if depth > MAX_DEPTH:
        return
    properties, items = schema.get("properties"), schema.get("items")
    if isinstance(properties, Mapping):
        for name, member in properties.items():
            if isinstance(member, Mapping):
                yield from _places(member, pointer + pointers.join(name), (*names, str(name)), depth + 1)
    elif isinstance(items, Mapping):
        yield from _places(items, pointer + "/0", names, depth + 1)
    elif names:
        yield pointer, names


_Place = tuple[str, tuple[str, ...]]
