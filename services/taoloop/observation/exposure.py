"""Which part of the data prompts and answers may see, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue

MAX_OMITTED: Final = 100
"""Most pointers that a verdict lists as left out."""


@dataclass(frozen=True, slots=True)
class ExposedTree:
    """The exposed places as a tree of pointer tokens.

    Attributes:
        is_whole: Whether everything below this place is exposed.
        children: The places below by token; empty when the whole is exposed.
    """

    is_whole: bool = False
    children: dict[str, ExposedTree] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exposure:
    """The part that may be seen.

    Attributes:
        exposed: That part; absent when nothing of the data is exposed.
        omitted: Pointers of what was left out, in the order of the data, at most `MAX_OMITTED`.
    """

    exposed: Json
    omitted: tuple[str, ...] = ()


def compile_exposed(places: Iterable[str]) -> ExposedTree:
    """Return the tree of these pointers; the empty pointer exposes everything.

    Raises:
        PointerSyntaxError: A place is not a JSON pointer.
    """
    wanted = sorted(pointers.parse(place) for place in places)
    return _tree(wanted, 0)


def expose(data: JsonValue, tree: ExposedTree | None) -> Exposure:
    """Return the exposed part of the data; a contract without `expose` shows all of it.

    Members that are not exposed are left out of objects. In an array they become null before and between exposed
    items, so that pointers into the part still point at the same item.
    """
    if tree is None or tree.is_whole:
        return Exposure(exposed=data)
    omitted: list[str] = []
    exposed = _part(data, tree, (), omitted)
    return Exposure(exposed=exposed, omitted=tuple(omitted[:MAX_OMITTED]))


def _tree(wanted: list[tuple[str, ...]], depth: int) -> ExposedTree:
    if any(len(tokens) == depth for tokens in wanted):
        return ExposedTree(is_whole=True)
    groups: dict[str, list[tuple[str, ...]]] = {}
    for tokens in wanted:
        groups.setdefault(tokens[depth], []).append(tokens)
    return ExposedTree(children={token: _tree(group, depth + 1) for token, group in groups.items()})


def _part(value: JsonValue, tree: ExposedTree, path: tuple[str | int, ...], omitted: list[str]) -> Json:
    if tree.is_whole:
        return value
    if isinstance(value, dict):
        members = {}
        for key, member in value.items():
            kept = _child(member, tree.children.get(key), (*path, key), omitted)
            if kept is not ABSENT:
                members[key] = kept
        return members
    if isinstance(value, list):
        parts = [
            _child(item, tree.children.get(str(index)), (*path, index), omitted) for index, item in enumerate(value)
        ]
        while parts and parts[-1] is ABSENT:
            parts.pop()
        return [None if part is ABSENT else part for part in parts]
    omitted.append(pointers.join(*path))
    return ABSENT


def _child(value: JsonValue, tree: ExposedTree | None, path: tuple[str | int, ...], omitted: list[str]) -> Json:
    if tree is None:
        if len(omitted) < MAX_OMITTED:
            omitted.append(pointers.join(*path))
        return ABSENT
    return _part(value, tree, path, omitted)
