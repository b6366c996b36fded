"""Learns what was seen of a tool from its samples, and adds what its contract lists by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.tools.contract import ToolContract
from taoloop.tools.loading.samples import Sample, filled
from taoloop.tools.rules import CompiledRule, RuleData, Verdict
from taoloop.tools.seen.declared import Declared, declared_by
from taoloop.tools.seen.enumerated import enumerated_values
from taoloop.tools.seen.place import STAR, Place, is_field_name

_MAX_DEPTH: Final = 16
_MAX_PLACES: Final = 4096
_NO_BODY: Final = frozenset({202, 204})
_PLACEHOLDER: Final = "{{arguments."


@dataclass(slots=True)
class _Draft:
    """A place while it is learnt."""

    types: set[str] = field(default_factory=set)
    fields: dict[str, _Draft] = field(default_factory=dict)
    items: _Draft | None = None
    texts: Counter[str] = field(default_factory=Counter)
    is_filled: bool = False
    """Whether a sample takes its text from the arguments, which says nothing about values."""
    listed: set[str] = field(default_factory=set)


def learn(contract: ToolContract, samples: Iterable[Sample]) -> Place:
    """Return what was seen of the tool.

    What makes something known: the samples that are successes by status, success rule and schema and are not stated
    to fail, and what the contract names itself, as properties, as `enum` or `const`, as the keys of an `enum`
    normaliser, as `known`.
    What a schema merely allows is not known. Without a sample of an object no member of it is new, and without one
    of a value no type is.
    """
    root = _Draft()
    for sample in samples:
        if _is_success(contract, sample):
            _observe(root, sample.body, filled(sample.body, sample.arguments), 0)
    _add_contract(root, contract)
    declared = declared_by(contract.response, [contract.response])
    return _Freezer().frozen(root, declared, "", 0)


def _is_success(contract: ToolContract, sample: Sample) -> bool:
    if not 200 <= sample.status < 300 or sample.status in _NO_BODY or sample.body is None:
        return False
    if sample.expect is not None and not sample.expect.valid:
        return False
    body = filled(sample.body, sample.arguments)
    if contract.success is not ABSENT:
        data = RuleData({"status_code": sample.status, "body": body})
        if CompiledRule.compile(contract.success).verdict(data).verdict is not Verdict.PASS:
            return False
    return contract.compiled_response.is_valid(body)


def _observe(draft: _Draft, written: JsonValue, value: JsonValue, depth: int) -> None:
    draft.types.add(_type_name(value))
    if isinstance(value, str):
        draft.texts[value] += 1
        draft.is_filled = draft.is_filled or (isinstance(written, str) and _PLACEHOLDER in written)
    if depth >= _MAX_DEPTH:
        return
    if isinstance(value, dict) and isinstance(written, dict):
        for name, member in value.items():
            _observe(draft.fields.setdefault(name, _Draft()), written.get(name), member, depth + 1)
    elif isinstance(value, list) and isinstance(written, list):
        for item, written_item in zip(value, written, strict=True):
            draft.items = draft.items or _Draft()
            _observe(draft.items, written_item, item, depth + 1)


def _add_contract(root: _Draft, contract: ToolContract) -> None:
    """Add the values that the normalisers and `known` list for places of the body."""
    moved = set()
    for rule in contract.observe.normalise:
        moved |= {rule.field, rule.to}
        words = [*(rule.enum or ()), *(word for words in (rule.vocabulary or {}).values() for word in words)]
        if words:
            _at(root, pointers.parse(rule.field)).listed |= {word for word in words if isinstance(word, str)}
    for pointer, values in contract.observe.known.items():
        if pointer not in moved:
            _at(root, pointers.parse(pointer)).listed |= {value for value in values if isinstance(value, str)}


def _at(draft: _Draft, tokens: Sequence[str]) -> _Draft:
    for token in tokens:
        if token == STAR:
            draft.items = draft.items or _Draft()
            draft = draft.items
        else:
            draft = draft.fields.setdefault(token, _Draft())
    return draft


class _Freezer:
    """Makes places of drafts, and not more than `_MAX_PLACES`: a schema may reach itself."""

    def __init__(self) -> None:
        self._left = _MAX_PLACES

    def frozen(self, draft: _Draft, declared: Declared, name: str, depth: int) -> Place:
        self._left -= 1
        if depth >= _MAX_DEPTH or self._left < 0:
            return Place()
        types = set(draft.types)
        if types and declared.allows_null:
            types.add("null")
        is_map = declared.is_map or any(not is_field_name(each) for each in draft.fields)
        return Place(
            types=frozenset(types),
            fields={} if is_map else dict(self._fields(draft, declared, depth)),
            is_closed="object" in draft.types and not is_map,
            members=self._members(draft, declared, name, depth) if is_map else None,
            items=self._items(draft, declared, name, depth),
            values=_values(draft, declared, name),
        )

    def _fields(self, draft: _Draft, declared: Declared, depth: int) -> Iterator[tuple[str, Place]]:
        for name in {**draft.fields, **declared.properties}:
            below = declared.of_property(name)
            yield name, self.frozen(draft.fields.get(name, _Draft()), below, name, depth + 1)

    def _members(self, draft: _Draft, declared: Declared, name: str, depth: int) -> Place:
        merged = _Draft()
        for member in draft.fields.values():
            _merge(merged, member)
        if draft.items is not None and "array" not in draft.types:  # what the contract says of `*`
            _merge(merged, draft.items)
        return self.frozen(merged, declared.of_members(), name, depth + 1)

    def _items(self, draft: _Draft, declared: Declared, name: str, depth: int) -> Place | None:
        if draft.items is None and not declared.items:
            return None
        return self.frozen(draft.items or _Draft(), declared.of_items(), name, depth + 1)


def _values(draft: _Draft, declared: Declared, name: str) -> frozenset[str] | None:
    listed = draft.listed | declared.values
    if listed:
        return frozenset(listed) | frozenset(draft.texts)
    if draft.is_filled or declared.has_form:
        return None
    return enumerated_values(name, draft.texts)


def _merge(into: _Draft, other: _Draft) -> None:
    into.types |= other.types
    into.texts.update(other.texts)
    into.listed |= other.listed
    into.is_filled = into.is_filled or other.is_filled
    for name, member in other.fields.items():
        _merge(into.fields.setdefault(name, _Draft()), member)
    if other.items is not None:
        into.items = into.items or _Draft()
        _merge(into.items, other.items)


def _type_name(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float | Decimal):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
