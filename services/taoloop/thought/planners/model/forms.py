"""The forms of replies, made once for each set of offered tools and fitting places, and how long a reply may be."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from taoloop.core.exact_json import digest
from taoloop.models.ports import JsonForm
from taoloop.thought.planners.model.grammar import skeleton_schema
from taoloop.thought.planners.model.offer import Offer, Reason, fitting
from taoloop.thought.planners.model.parameters import Parameter
from taoloop.thought.planners.model.places import NamedPlace

FORM_NAME: Final = "skeleton"
_REPEATED = re.compile(r"\{\d+,(\d+)\}\$?$")
_END_TOKENS: Final = 16
"""What a model may write beside the JSON: the end of its turn, and a blank here and there."""


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """What a reply has to look like.

    Attributes:
        form: For the server.
        max_tokens: The longest reply that the form allows, in tokens of one character; at most the limit of the forms.
    """

    form: JsonForm
    max_tokens: int


class ReplyForms:
    """Makes forms, and keeps those that were used last; safe to share between threads.

    Args:
        max_tokens: Longest reply, whatever a form allows.
        capacity: How many forms are kept; one for a dozen tools has about 30 kB.
    """

    def __init__(self, max_tokens: int, capacity: int = 128) -> None:
        self._max_tokens = max_tokens
        self._capacity = capacity
        self._kept: OrderedDict[str, ReplyForm] = OrderedDict()
        self._lock = Lock()
        self.made = 0

    def __repr__(self) -> str:
        return f"<ReplyForms {len(self._kept)} of {self._capacity} kept, {self.made} made>"

    def of(self, offer: Offer, reason: Reason) -> ReplyForm:
        """Return the form of the skeletons for an offer."""
        key = _key(offer, reason)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
        made = self._make(offer, reason)
        with self._lock:
            self.made += 1
            self._kept[key] = made
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        return made

    def _make(self, offer: Offer, reason: Reason) -> ReplyForm:
        schema = skeleton_schema(offer, reason)
        longest = longest_characters(schema) + _END_TOKENS
        return ReplyForm(JsonForm(FORM_NAME, schema, is_told=True), min(longest, self._max_tokens))


def longest_characters(schema: dict[str, Any]) -> int:
    """Return how many characters the longest JSON text of a skeleton's schema has, written without blanks.

    Escapes are not counted: a quote full of them is no quote of a user.

    >>> longest_characters({"type": "array", "prefixItems": [{"const": 12}, {"enum": ["a", "bcd"]}]})
    10
    """
    return _Measure(schema.get("$defs", {})).of(schema)


class _Measure:
    def __init__(self, shared: dict[str, Any]) -> None:
        self._shared = shared
        self._known: dict[str, int] = {}

    def of(self, schema: dict[str, Any]) -> int:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name not in self._known:
                self._known[name] = self.of(self._shared[name])
            return self._known[name]
        if "anyOf" in schema:
            return max(self.of(one) for one in schema["anyOf"])
        if "const" in schema or "enum" in schema:
            return max(_written(value) for value in schema.get("enum", [schema.get("const")]))
        match schema.get("type"):
            case "object":
                return 1 + sum(len(name) + 4 + self.of(part) for name, part in schema["properties"].items())
            case "array":
                return self._array(schema)
            case "string":
                return 2 + _longest_text(schema)
        return 4  # null; a schema that nothing fits has no text at all

    def _array(self, schema: dict[str, Any]) -> int:
        items = schema.get("prefixItems")
        if items is None:
            return 1 + int(schema["maxItems"]) * (1 + self.of(schema["items"]))
        return 1 + sum(1 + self.of(item) for item in items)


def _written(value: object) -> int:
    return len(value) + 2 if isinstance(value, str) else len(str(value))


def _longest_text(schema: dict[str, Any]) -> int:
    repeated = _REPEATED.search(schema.get("pattern", ""))
    return int(repeated[1]) if repeated else int(schema.get("maxLength", 0))


def _key(offer: Offer, reason: Reason) -> str:
    """Return what a form depends on: values of the state count only as far as they fit a parameter that lists values.

    So the state of a thousand users, each with an id of his own, takes one form.
    """
    listed = [each for tool in offer.tools for each in _listing(tool.parameters)]
    return digest(
        [
            reason.value,
            sorted(mode.value for mode in offer.modes),
            offer.limits.max_steps,
            [tool.name for tool in offer.tools],
            _told(offer.state, listed),
            [[name, _told([place], listed)] for name, (_, place) in offer.inputs.items()],
            [[letter, _told(places, listed)] for letter, (_, places) in offer.completed.items()],
        ]
    )


def _told(places: Sequence[NamedPlace], listed: Sequence[Parameter]) -> list[Any]:
    return [
        [
            place.name,
            sorted(place.shape.types),
            sorted(place.shape.formats),
            [bool(fitting([place], parameter)) for parameter in listed],
        ]
        for place in places
    ]


def _listing(parameters: Iterable[Parameter]) -> Iterable[Parameter]:
    """Yield the parameters, on every level, whose schema lists their values."""
    for parameter in parameters:
        if parameter.shape.values is not None:
            yield parameter
        yield from _listing(parameter.members)
