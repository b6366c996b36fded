"""From the response schema to the output schema, by the same steps that make the data from a body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue, equal
from taoloop.tools.contract import NormaliseRule, Observe, Take
from taoloop.tools.normalisers import conversions, plugins
from taoloop.tools.normalisers.place_tree import tokens_tree
from taoloop.tools.normalisers.places import STAR, Tokens, container, overlap, pointer, with_all_items
from taoloop.tools.output_schema.edits import Editor
from taoloop.tools.output_schema.nodes import (
    Schema,
    child,
    is_always_there,
    is_declared,
    place,
    self_contained,
    shape,
)
from taoloop.tools.output_schema.problems import DerivationProblem, PlacedRule, conflicts, placed_rules
from taoloop.tools.schema_paths import Shape

_KEPT: Final = ("title", "description")


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The result of a derivation.

    Attributes:
        schema: JSON Schema of the normalised data; rules with problems are left out.
        problems: Rules that could not be applied, by their position.
        sources: What may stand in the response where a rule reads, by the position of the rule.
    """

    schema: Mapping[str, Any] | bool
    problems: tuple[DerivationProblem, ...]
    sources: Mapping[int, Shape]


def derive(response: Mapping[str, Any] | bool, observe: Observe) -> OutputSchema:
    """Follow `min_score`, `pick` and `normalise` on the response schema; the input stays as it is.

    Whatever the normaliser makes of a body that keeps the response schema keeps the derived schema, but for values
    outside of the contract's `known`, which break the consistency.
    """
    if not observe.normalise and observe.pick is None and observe.min_score is None:
        return OutputSchema(response, (), {})
    return _Derivation(self_contained(response), observe).result()


class _Derivation:
    """One derivation and what it has come to."""

    def __init__(self, response: Schema, observe: Observe) -> None:
        self._observe = observe
        self._editor = Editor(response)
        if observe.min_score is not None:
            field = pointers.parse(observe.min_score.field)
            if place(response, field) is not None:
                is_best = observe.min_score.take is Take.BEST
                self._editor.choose_hits(field, observe.min_score.min, is_best_only=is_best)
        self._body = self._editor.schema
        self._problems: list[DerivationProblem] = []
        self._sources: dict[int, Shape] = {}
        self._moved: set[Tokens] = set()

    def result(self) -> OutputSchema:
        placed, problems = placed_rules(self._observe.normalise)
        self._problems += problems
        readable = [rule for rule in placed if self._is_readable(rule)]
        clashing = {problem.index: problem for problem in conflicts(readable)}
        self._problems += clashing.values()
        fitting = [rule for rule in readable if rule.index not in clashing]
        self._moved = {rule.field for rule in fitting if rule.is_moved}
        values = {rule.index: self._value(rule) for rule in fitting}
        self._take(fitting, values)
        self._prune(fitting)
        for rule in sorted(fitting, key=lambda each: len(each.to)):
            self._place(rule, values[rule.index])
        problems = sorted(self._problems, key=lambda problem: problem.index)
        return OutputSchema(self._editor.schema, tuple(problems), self._sources)

    def _is_readable(self, rule: PlacedRule) -> bool:
        found = place(self._body, rule.field)
        if found is None:
            message = f"the response schema has no field {rule.rule.field}"
            remedy = "Name a field of the response schema."
            self._problems.append(DerivationProblem(rule.index, "field", message, remedy))
            return False
        self._sources[rule.index] = shape(self._body, found)
        return True

    def _take(self, rules: Sequence[PlacedRule], values: dict[int, Schema]) -> None:
        """Take moved members out, deepest first, so that an outer one moves without what was taken out of it."""
        for field in sorted({rule.field for rule in rules if rule.is_moved}, key=len, reverse=True):
            for rule in rules:
                if rule.field == field and rule.rule.is_plain:
                    values[rule.index] = place(self._editor.schema, field) or values[rule.index]
            self._editor.remove(field)

    def _prune(self, rules: Sequence[PlacedRule]) -> None:
        if self._observe.pick is None:
            return
        staying = [with_all_items(rule.field) for rule in rules if not rule.is_moved]
        self._editor.prune(tokens_tree([*_parsed(self._observe.pick), *staying]))

    def _place(self, rule: PlacedRule, value: Schema) -> None:
        if rule.field not in self._moved:
            if not rule.rule.is_plain:
                self._editor.change(rule.to, value)
            return
        problem = self._taken(rule)
        if problem is not None:
            self._problems.append(problem)
            return
        self._editor.put(rule.to, value, is_required=self._is_always_there(rule.field))

    def _taken(self, rule: PlacedRule) -> DerivationProblem | None:
        """Return why a value cannot be put in its place: another one is there, or one that holds no members."""
        root, node = self._editor.schema, self._editor.schema
        is_sure = True
        for depth, token in enumerate(rule.to):
            types = shape(root, node).types
            holds_members = bool(types & {"object", "array"}) if is_sure else types <= {"object", "null"}
            if not holds_members:
                message = f"{pointer(rule.to[:depth]) or 'the body'} need not be an object"
                return DerivationProblem(rule.index, "to", message, "Give it another place.")
            if not is_declared(root, node, token):
                return None
            below = child(root, node, token)
            assert below is not None
            # What a star stands for is never made, so that nothing is put there where the list is missing.
            is_sure = STAR in rule.to[depth:] or is_always_there(root, node, (token,))
            node = below
        if rule.to[-1] == STAR:
            return None
        message = f"the output already has a field {rule.rule.to}"
        return DerivationProblem(rule.index, "to", message, "Give it another name, or move the other field.")

    def _is_always_there(self, field: Tokens) -> bool:
        """Tell whether a field is in every body, or in every item that its last star stands for."""
        around = container(field)
        node = place(self._body, around)
        return node is not None and is_always_there(self._body, node, field[len(around) :])

    def _value(self, rule: PlacedRule) -> Schema:
        """Return the schema of what a rule makes."""
        source = place(self._body, rule.field)
        assert source is not None
        if rule.rule.is_plain:
            return source
        made = self._made(rule.rule)
        if isinstance(made, bool):
            return made
        kept: dict[str, Any] = {key: source[key] for key in _KEPT if isinstance(source, dict) and key in source}
        if "description" in kept and "description" in made:
            made = {**made, "description": f"{str(kept['description']).rstrip('. ')}. {made['description']}"}
        made = {**kept, **made}
        return _nullable(made) if "null" in self._sources[rule.index].types else made

    def _made(self, rule: NormaliseRule) -> Schema:
        if rule.plugin:
            try:
                return plugins.result_schema(plugins.load(rule.plugin))
            except plugins.PluginUnusable:
                return True
        if rule.convert is not None:
            return conversions.result_schema(rule)
        return {"enum": list(self._words(rule))}

    def _words(self, rule: NormaliseRule) -> Iterator[JsonValue]:
        """Yield our values: those of the map, and those that the contract knows at the place."""
        seen: list[JsonValue] = []
        known = next((values for at, values in self._observe.known.items() if _meets(at, rule.to)), ())
        for value in (*(rule.enum or {}).values(), *(rule.vocabulary or {}), *known):
            if value is not None and not any(equal(value, other) for other in seen):
                seen.append(value)
                yield value


def _nullable(schema: dict[str, Any]) -> Schema:
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _meets(place_of_known: str, to: str) -> bool:
    try:
        return overlap(pointers.parse(place_of_known), pointers.parse(to))
    except pointers.PointerSyntaxError:
        return False


def _parsed(places: Sequence[str]) -> Iterator[Tokens]:
    for written in places:
        try:
            yield pointers.parse(written)
        except pointers.PointerSyntaxError:
            continue
