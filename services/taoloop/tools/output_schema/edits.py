"""Changes to a schema that keep it true of values that were changed in the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from taoloop.tools.normalisers.place_tree import PlaceTree
from taoloop.tools.normalisers.places import STAR, array_index
from taoloop.tools.output_schema.nodes import (
    Schema,
    child,
    either,
    inlined,
    is_always_there,
    patterns_of,
    together,
)

_Simple = dict[str, Any]
"""A schema without the parts that it combines."""

_Edit = Callable[[_Simple], _Simple]

# What these say of a value need not be true any more when something inside it has changed.
_OF_THE_WHOLE: Final = frozenset(
    {
        "const", "enum", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies",
        "propertyNames", "if", "then", "else", "not", "contains", "minContains", "maxContains", "uniqueItems",
        "unevaluatedProperties", "unevaluatedItems", "default", "examples",
    }
)  # fmt: skip


class Editor:
    """Changes one document; what does not change is shared with the schema that it was made from.

    Attributes:
        schema: The document as it stands.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def change(self, tokens: Sequence[str], new: Schema) -> None:
        """Say what stands at a place from now on, where something stands there."""
        self._edit(tokens, lambda simple: self._with_child(simple, tokens[-1], lambda _old: new))

    def remove(self, tokens: Sequence[str]) -> None:
        """Take a member out; items of arrays stay."""
        self._edit(tokens, lambda simple: _without(simple, tokens[-1]))

    def put(self, tokens: Sequence[str], new: Schema, *, is_required: bool) -> None:
        """Say that a value stands at a place, in objects that are made where there are none."""
        self.schema = self._put(self.schema, tokens, new, is_required=is_required)

    def prune(self, tree: PlaceTree) -> None:
        """Leave only what the tree means."""
        self.schema = self._pruned(self.schema, tree)

    def choose_hits(self, field: Sequence[str], lowest: Decimal, *, is_best_only: bool) -> None:
        """Say that a list of hits is not empty, and that the score of each is a number of at least the lowest."""
        star = list(field).index(STAR)
        score = {"type": "number", "minimum": lowest}
        self._edit(field, lambda simple: self._with_child(simple, field[-1], lambda old: together([old, score])))
        self.schema = self._along(self.schema, field[:star], lambda simple: _fewer(simple, is_best_only=is_best_only))

    def _edit(self, tokens: Sequence[str], edit: _Edit) -> None:
        self.schema = self._along(self.schema, tokens[:-1], edit)

    def _along(self, node: Any, tokens: Sequence[str], edit: _Edit) -> Schema:
        """Apply an edit to every schema that speaks of the value at a place."""
        if not tokens:
            return self._over(node, edit)
        return self._over(
            node, lambda simple: self._with_child(simple, tokens[0], lambda old: self._along(old, tokens[1:], edit))
        )

    def _over(self, node: Any, edit: _Edit) -> Schema:
        """Apply an edit to a schema and to all that it combines; of `oneOf` only one or more is sure afterwards."""
        written = inlined(self.schema, node)
        if isinstance(written, bool):
            return edit({}) if written else False
        simple = {key: value for key, value in written.items() if key not in {"allOf", "anyOf", "oneOf"}}
        edited = edit(simple)
        parts = [self._over(part, edit) for part in written.get("allOf", ())]
        parts += [
            {"anyOf": [self._over(part, edit) for part in written[keyword]]}
            for keyword in ("anyOf", "oneOf")
            if keyword in written
        ]
        if len(parts) == 1 and isinstance(parts[0], dict) and parts[0].keys() == {"anyOf"}:
            return {**edited, **parts[0]}
        return {**edited, "allOf": parts} if parts else edited

    def _with_child(self, simple: _Simple, token: str, change: Callable[[Any], Schema]) -> _Simple:
        """Change what one schema says of a member or item, or of all of them."""
        edited = _relaxed(simple)
        if token == STAR:
            return _every_child(edited, change)
        index = array_index(token)
        if index is not None and _names_item(simple, token):
            edited |= _item(edited, index, change)
            if "properties" not in simple and "additionalProperties" not in simple:
                return edited
        matched = patterns_of(simple, token)
        if simple.get("additionalProperties") is False and token not in simple.get("properties", {}) and not matched:
            return edited
        own = child(True, {**simple, "type": "object"}, token)
        new = change(True if own is None else own)
        return edited if new in (True, {}) and _is_silent(simple, token) else _declared(edited, token, new, matched)

    def _put(self, node: Any, tokens: Sequence[str], new: Schema, *, is_required: bool) -> Schema:
        token, rest = tokens[0], tokens[1:]
        written = inlined(self.schema, node)
        if isinstance(written, bool):
            written = {}
        parts = {key: value for key, value in written.items() if key in {"allOf", "anyOf", "oneOf"}}
        permitted = self._over(written, lambda simple: self._permitted(simple, tokens)) if parts else None
        simple = {key: value for key, value in written.items() if key not in parts}
        if not rest:
            edited = _every_child(_relaxed(simple), lambda _old: new) if token == STAR else _member(simple, token, new)
        else:
            edited = self._with_put_below(node, simple, tokens, new, is_required=is_required)
        if is_required and STAR not in tokens and array_index(token) is None:
            edited["required"] = list(dict.fromkeys([*edited.get("required", ()), token]))
        if isinstance(permitted, dict):
            edited |= {key: permitted[key] for key in ("allOf", "anyOf") if key in permitted}
        return edited

    def _with_put_below(
        self, node: Any, simple: _Simple, tokens: Sequence[str], new: Schema, *, is_required: bool
    ) -> _Simple:
        """Put below a member: one that need not be there is made, and then has nothing else that it requires."""
        token, rest = tokens[0], tokens[1:]
        whole = child(self.schema, node, token)
        is_made = token != STAR and not is_always_there(self.schema, node, (token,))

        def below(own: Any) -> Schema:
            if whole is None:
                own = {"type": "object", "properties": {}}
            elif is_made:
                own = self._over(own, _not_required)
            return self._put(own, rest, new, is_required=is_required)

        if token == STAR or _names_item(simple, token):
            return self._with_child(simple, token, below)
        own = child(True, {**simple, "type": "object"}, token)
        return _declared(_relaxed(simple), token, below(True if own is None else own), patterns_of(simple, token))

    def _permitted(self, simple: _Simple, tokens: Sequence[str]) -> _Simple:
        """Let one of the combined schemas take what is put at a place below it."""
        token, rest = tokens[0], tokens[1:]
        is_of_items = token == STAR or _names_item(simple, token)
        if not is_of_items and _is_silent(simple, token):
            return _relaxed(simple)

        def below(old: Any) -> Schema:
            return self._over(old, lambda inner: self._permitted(_not_required(inner), rest)) if rest else True

        if is_of_items:
            return self._with_child(simple, token, below)
        own = child(True, {**simple, "type": "object"}, token)
        return _declared(_relaxed(simple), token, below(True if own is None else own), patterns_of(simple, token))

    def _pruned(self, node: Any, tree: PlaceTree) -> Schema:
        if tree.is_whole:
            return node if isinstance(node, bool) else dict(node)
        return self._over(node, lambda simple: self._pruned_simple(simple, tree))

    def _pruned_simple(self, simple: _Simple, tree: PlaceTree) -> _Simple:
        edited = {key: value for key, value in _relaxed(simple).items() if key not in _OF_MEMBERS}
        members = {}
        for name in dict.fromkeys([*simple.get("properties", {}), *tree.children]):
            below = tree.child(name)
            own = child(True, {**simple, "type": "object"}, name)
            if below is not None and own is not None:
                members[name] = self._pruned(own, below)
        edited["properties"] = members
        if tree.every is not None:
            edited |= self._pruned_every({**simple, **_opened(simple)}, tree.every)
        required = [name for name in simple.get("required", ()) if tree.child(name) is not None]
        items = self._pruned_items(simple, tree.every)
        if tree.every is not None and "minItems" in simple:
            items["minItems"] = simple["minItems"]
        return {**edited, **({"required": required} if required else {}), **items}

    def _pruned_every(self, simple: _Simple, every: PlaceTree) -> _Simple:
        kept: _Simple = {}
        patterns, others = simple.get("patternProperties"), simple.get("additionalProperties")
        if patterns:
            kept["patternProperties"] = {name: self._pruned(part, every) for name, part in patterns.items()}
        if isinstance(others, Mapping) or others is True:
            kept["additionalProperties"] = self._pruned(others, every)
        return kept

    def _pruned_items(self, simple: _Simple, every: PlaceTree | None) -> _Simple:
        if every is None:
            return {}
        kept: _Simple = {}
        if "items" in simple:
            kept["items"] = self._pruned(simple["items"], every)
        if "prefixItems" in simple:
            kept["prefixItems"] = [self._pruned(part, every) for part in simple["prefixItems"]]
        return kept


_OF_MEMBERS: Final = frozenset(
    {"properties", "patternProperties", "additionalProperties", "required", "items", "prefixItems", "minItems"}
)


def _relaxed(simple: _Simple) -> _Simple:
    kept = {key: value for key, value in simple.items() if key not in _OF_THE_WHOLE}
    values = simple.get("enum", [simple["const"]] if "const" in simple else ())
    # A scalar has nothing inside that could have changed.
    are_scalars = values and not any(isinstance(value, list | dict) for value in values)
    return {**kept, "enum": list(values)} if are_scalars else kept


def _not_required(simple: _Simple) -> _Simple:
    return {key: value for key, value in simple.items() if key != "required"}


def _without(simple: _Simple, token: str) -> _Simple:
    edited = _relaxed(simple)
    if token in edited.get("properties", {}):
        edited["properties"] = {name: part for name, part in edited["properties"].items() if name != token}
    if token in edited.get("required", ()):
        edited["required"] = [name for name in edited["required"] if name != token]
    return edited


def _member(simple: _Simple, token: str, new: Schema) -> _Simple:
    """Say what a member is from now on, whether it was declared or not."""
    matched = patterns_of(simple, token)
    index = array_index(token)
    edited = _declared({**_relaxed(simple), **_opened(simple)}, token, new, matched)
    return edited if index is None else {**edited, **_item(edited, index, lambda _old: new)}


def _declared(edited: _Simple, token: str, new: Schema, matched: Sequence[str]) -> _Simple:
    """Declare a member; patterns that match its name speak of it no more, and then of no member."""
    result = {**edited, **_opened(edited), "properties": {**edited.get("properties", {}), token: new}}
    if matched:
        patterns = {name: part for name, part in result["patternProperties"].items() if name not in matched}
        del result["patternProperties"]
        result |= {"patternProperties": patterns} if patterns else {}
        if result.get("additionalProperties", True) is not True:
            del result["additionalProperties"]
    return result


def _opened(simple: _Simple) -> _Simple:
    """Keep an object open that declares no member at all, when it gets a first one."""
    is_open = "properties" not in simple and "additionalProperties" not in simple and "patternProperties" not in simple
    return {"additionalProperties": True} if is_open else {}


def _is_silent(simple: _Simple, token: str) -> bool:
    """Tell whether a schema says nothing of a member, so that it takes anything there."""
    if token in simple.get("properties", {}) or patterns_of(simple, token):
        return False
    return simple.get("additionalProperties", True) is True


def _every_child(simple: _Simple, change: Callable[[Any], Schema]) -> _Simple:
    edited = dict(simple)
    for keyword in ("properties", "patternProperties"):
        if keyword in simple:
            edited[keyword] = {name: change(part) for name, part in simple[keyword].items()}
    if isinstance(simple.get("additionalProperties"), Mapping) or simple.get("additionalProperties") is True:
        edited["additionalProperties"] = change(simple["additionalProperties"])
    if "prefixItems" in simple:
        edited["prefixItems"] = [change(part) for part in simple["prefixItems"]]
    if "items" in simple or simple.get("type") == "array":
        edited["items"] = change(simple.get("items", True))
    return edited


def _item(simple: _Simple, index: int, change: Callable[[Any], Schema]) -> _Simple:
    prefix = simple.get("prefixItems", [])
    if index < len(prefix):
        return {"prefixItems": [change(part) if place == index else part for place, part in enumerate(prefix)]}
    return {"items": either([simple["items"], change(simple["items"])])} if "items" in simple else {}


def _fewer(simple: _Simple, *, is_best_only: bool) -> _Simple:
    """Say that some items or members are gone, and at least one is left."""
    edited = _not_required(_relaxed(simple))
    if _may_be_array(simple):
        edited["minItems"] = 1
        if is_best_only:
            edited["maxItems"] = 1
        if "prefixItems" in edited:
            edited["items"] = either([*edited.pop("prefixItems"), edited.get("items", True)])
    return edited


def _names_item(simple: _Simple, token: str) -> bool:
    """Tell whether a schema speaks of items, and the token is the place of one."""
    return array_index(token) is not None and ("items" in simple or "prefixItems" in simple)


def _may_be_array(simple: _Simple) -> bool:
    written = simple.get("type", "array")
    return "array" in ([written] if isinstance(written, str) else written)
