"""A catalogue compiled for planning: what each tool says of itself, and which tools know a word."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from taoloop.core import pointers
from taoloop.thought.planners.graph.language.text import keys, name_keys, stem
from taoloop.thought.planners.graph.language.thesaurus import near_words
from taoloop.thought.planners.graph.language.vocabulary import CHINESE_WRITING_WORDS, STOP_WORDS, WRITING_WORDS
from taoloop.thought.planners.graph.offers.synonyms import other_words
from taoloop.thought.planners.graph.slots import Slot, compile_groups, compile_slots, with_tool_words
from taoloop.tools.schema_paths import Shape, types_at
from taoloop.tools.signature import Effect, ToolSignature

# How much a word counts by where the tool says it. Set by hand on example catalogues; to be fitted on generated data.
NAME_WEIGHT: Final = 1.0
USE_WHEN_WEIGHT: Final = 1.0
DESCRIPTION_WEIGHT: Final = 0.8
PARAMETER_NAME_WEIGHT: Final = 0.6
PARAMETER_TEXT_WEIGHT: Final = 0.45
ENUM_WEIGHT: Final = 0.3
EXAMPLE_WEIGHT: Final = 0.3
"""How much a word counts that stands in a value which a parameter's description quotes."""
OUTPUT_WEIGHT: Final = 0.3
"""How much a word counts by which the tool calls a field of its result."""
NEAR_FACTOR: Final = 0.7
"""What is left of a word's weight for another word that means nearly the same."""


@dataclass(frozen=True, slots=True)
class OutputField:
    """One scalar field of a tool's normalised result, with what may stand there by its schema."""

    pointer: str
    name: str
    schema: Mapping[str, Any]
    shape: Shape | None
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ListedField:
    """One scalar field of the items of a list in a tool's result.

    Attributes:
        field: The field, at its place in the list's first item.
        list_pointer: Where the list is.
    """

    field: OutputField
    list_pointer: str


@dataclass(frozen=True, slots=True)
class ToolView:
    """One tool, ready for ranking and filling.

    Attributes:
        signature: The tool as its catalogue gives it.
        slots: The leaves of its parameters.
        groups: The required objects that hold some of them.
        outputs: The scalar fields of its result that no list stands above.
        listed: The scalar fields of the items of its lists.
        terms: Comparable words with the largest weight that any of its texts gives them.
        avoid: Words that speak against it and that nothing else of it has.
        writing_words: The writing verbs that its texts use.
        named: Comparable words of its name.
        described: Comparable words of its description and of when to use it.
    """

    signature: ToolSignature
    slots: tuple[Slot, ...]
    groups: tuple[Slot, ...]
    outputs: tuple[OutputField, ...]
    terms: Mapping[str, float]
    avoid: frozenset[str]
    writing_words: frozenset[str]
    named: frozenset[str] = frozenset()
    described: frozenset[str] = frozenset()
    listed: tuple[ListedField, ...] = ()

    @property
    def name(self) -> str:
        """Return the tool's name."""
        return self.signature.name

    @property
    def is_writing(self) -> bool:
        """Whether a call of it changes something."""
        return self.signature.effect is not Effect.READ


class PlannerIndex:
    """The tools of one catalogue and an inverted index over their words; it never changes after it is made."""

    def __init__(self, signatures: Iterable[ToolSignature]) -> None:
        self.tools: Final = tuple(_view(signature) for signature in signatures)
        self._by_name = {tool.name: tool for tool in self.tools}
        postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, tool in enumerate(self.tools):
            for term, weight in tool.terms.items():
                postings[term].append((number, weight))
        self._postings = dict(postings)
        self._rarities = {term: self._rarity(len(numbers)) for term, numbers in self._postings.items()}
        self._producers = _by_field(self.tools, lambda tool: tool.outputs)
        self._listers = _by_field(self.tools, lambda tool: tuple(each.field for each in tool.listed))

    def get(self, name: str) -> ToolView | None:
        """Return the tool with this name."""
        return self._by_name.get(name)

    def postings(self, term: str) -> tuple[tuple[int, float], ...]:
        """Return the numbers of the tools that have the word, with its weight in each."""
        return tuple(self._postings.get(term, ()))

    def rarity(self, term: str) -> float:
        """Return how much the word tells tools apart: more than 0 for every word that some tool has, else 0.

        Source: the inverse document frequency of Okapi BM25, in the form that never turns negative.
        """
        return self._rarities.get(term, 0.0)

    def _rarity(self, count: int) -> float:
        return math.log1p((len(self.tools) - count + 0.5) / (count + 0.5))

    @property
    def highest_rarity(self) -> float:
        """Return the rarity of a word that one tool alone has; 1.0 for an empty catalogue."""
        return math.log1p((len(self.tools) - 0.5) / 1.5) if self.tools else 1.0

    def producers(self, field_name: str) -> tuple[ToolView, ...]:
        """Return the tools whose result has a field of this name, in the catalogue's order."""
        return tuple(self._producers.get(field_name, ()))

    def listers(self, field_name: str) -> tuple[ToolView, ...]:
        """Return the tools whose result has a list of items with a field of this name, in the catalogue's order."""
        return tuple(self._listers.get(field_name, ()))


def _by_field(
    tools: tuple[ToolView, ...], fields_of: Callable[[ToolView], tuple[OutputField, ...]]
) -> dict[str, list[ToolView]]:
    found: defaultdict[str, list[ToolView]] = defaultdict(list)
    for tool in tools:
        for name in dict.fromkeys(field.name for field in fields_of(tool)):
            found[name].append(tool)
    return dict(found)


def _view(signature: ToolSignature) -> ToolView:
    said_of_it = {*name_keys(signature.name), *keys(signature.description)}
    near = frozenset(other for word in said_of_it for other in near_words(word))
    given = {word for field in _outputs(signature.returns or {}, signature.returns or {}, "", 0)
             for word in name_keys(field.name)}  # fmt: skip
    slots = with_tool_words(compile_slots(signature.parameters), frozenset(said_of_it) | near | given)
    terms: dict[str, float] = {}
    for weight, words in _texts(signature, slots):
        for word in words:
            terms[word] = max(terms.get(word, 0.0), weight)
    for word, weight in tuple(terms.items()):
        for other in near_words(word):
            terms[other] = max(terms.get(other, 0.0), weight * NEAR_FACTOR)
    chosen = " ".join(str(member) for slot in slots for member in slot.enum)
    said = f"{signature.name.replace('_', ' ').replace('.', ' ')} {signature.description} {signature.use_when} {chosen}"
    return ToolView(
        signature=signature,
        slots=slots,
        groups=compile_groups(signature.parameters),
        outputs=tuple(_outputs(signature.returns or {}, signature.returns or {}, "", 0)),
        terms=terms,
        avoid=frozenset(keys(signature.avoid_when)) - frozenset(terms),
        writing_words=_writing_words(said),
        named=frozenset(word for word in name_keys(signature.name) if word not in STOP_WORDS),
        described=frozenset((*keys(signature.description), *keys(signature.use_when))),
        listed=tuple(_listed(signature.returns or {}, signature.returns or {}, "", 0)),
    )


def _texts(signature: ToolSignature, slots: tuple[Slot, ...]) -> Iterator[tuple[float, Iterable[str]]]:
    yield NAME_WEIGHT, (word for word in name_keys(signature.name) if word not in STOP_WORDS)
    yield USE_WHEN_WEIGHT, keys(signature.use_when)
    yield DESCRIPTION_WEIGHT, keys(signature.description)
    for field in _outputs(signature.returns or {}, signature.returns or {}, "", 0):
        yield OUTPUT_WEIGHT, (word for word in name_keys(field.name) if word not in STOP_WORDS)
    for slot in slots:
        yield PARAMETER_NAME_WEIGHT, (word for word in name_keys(slot.name) if word not in STOP_WORDS)
        yield PARAMETER_TEXT_WEIGHT, (word for word in slot.words if word not in STOP_WORDS)
        yield ENUM_WEIGHT, (key for member in slot.enum if isinstance(member, str) for key in keys(member))
        yield (
            ENUM_WEIGHT,
            (
                key
                for member in slot.enum
                if isinstance(member, str)
                for word in other_words(member)
                for key in keys(word)
            ),
        )
        yield EXAMPLE_WEIGHT, (key for example in slot.examples for key in keys(example))


def _writing_words(text: str) -> frozenset[str]:
    said = {stem(word) for word in re.findall(r"[a-z]+", text.lower())}
    english = {word for word in WRITING_WORDS if stem(word) in said or said.intersection(near_words(stem(word)))}
    return frozenset(english | {word for word in CHINESE_WRITING_WORDS if word in text})


def _outputs(schema: Mapping[str, Any], root: Mapping[str, Any], pointer: str, depth: int) -> Iterator[OutputField]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth > 4:
        return
    for name, member in properties.items():
        if not isinstance(member, Mapping):
            continue
        own = pointer + pointers.join(name)
        if isinstance(member.get("properties"), Mapping):
            yield from _outputs(member, root, own, depth + 1)
        else:
            yield OutputField(own, str(name), member, types_at(dict(root), own), frozenset(name_keys(str(name))))


def _listed(schema: Mapping[str, Any], root: Mapping[str, Any], pointer: str, depth: int) -> Iterator[ListedField]:
    """Yield the fields of the items of every list; of a list of values, named in the plural, the value itself."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth > 4:
        return
    for name, member in properties.items():
        own, items = pointer + pointers.join(name), member.get("items") if isinstance(member, Mapping) else None
        if isinstance(items, Mapping):
            first = own + pointers.join(0)
            fields = tuple(_outputs(items, root, first, depth + 1)) or _value_of(str(name), items, root, first)
            yield from (ListedField(field, own) for field in fields)
        elif isinstance(member, Mapping):
            yield from _listed(member, root, own, depth + 1)


def _value_of(name: str, items: Mapping[str, Any], root: Mapping[str, Any], place: str) -> tuple[OutputField, ...]:
    one = name.removesuffix("s")
    return (OutputField(place, one, items, types_at(dict(root), place), frozenset(name_keys(one))),)
