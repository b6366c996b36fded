"""The form of a skeleton for one offer, as a JSON Schema that servers compile to a grammar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from taoloop.core.exact_json import digest
from taoloop.thought.planners.model.offer import Mode, Offer, OfferedTool, Reason, fitting
from taoloop.thought.planners.model.parameters import Parameter, ParameterKind
from taoloop.thought.planners.model.reading import CLOCK_FORMATS

MAX_QUOTE_CHARACTERS: Final = 200
"""Longest quote that the grammar lets a model write."""
MAX_SENTENCE_CHARACTERS: Final = 160
"""Longest sentence of reasoning."""
MAX_ITEMS: Final = 12
"""Most items of a list."""
MAX_ASKED: Final = 5
"""Most values that are asked for at once."""

Schema = dict[str, Any]


def skeleton_schema(offer: Offer, reason: Reason = Reason.OFF) -> Schema:
    """Return the JSON Schema of the skeletons for an offer: every one that it allows has a length that is bounded.

    Steps are positional, so that the schema of the third knows that it may point at the first two; a pointer names a
    place of a result that fits the parameter for at least one offered tool. Which tool the earlier step calls cannot
    be said in a schema: the expansion checks that.
    """
    parts = _Parts(offer)
    ways: dict[Mode, Callable[[], Schema]] = {
        Mode.PLAN: lambda: _array([parts.step(number) for number in range(1, offer.limits.max_steps + 1)], 1),
        Mode.ASK: parts.asked,
        Mode.NONE: lambda: {"const": True},
        Mode.DONE: lambda: _list({"enum": list(offer.completed)}, len(offer.completed)),
    }
    forms = [_object({**_reasoning(offer, reason), mode.value: ways[mode]()}) for mode in Mode if mode in offer.modes]
    schema = forms[0] if len(forms) == 1 else {"type": "object", "anyOf": forms}
    return {**schema, "$defs": parts.shared} if parts.shared else schema


@dataclass(slots=True)
class _Parts:
    """The parts of one schema; equal ones are written once."""

    offer: Offer
    shared: dict[str, Schema] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def step(self, number: int) -> Schema:
        """Return the form of a step that may point at the `number - 1` steps before it."""
        tools = enumerate(self.offer.tools, 1)
        return self._share("s", _any([self._call(index, tool, number) for index, tool in tools]))

    def asked(self) -> Schema:
        """Return the form of a question: a tool, and names of its parameters."""
        return _any(
            [
                _array([{"const": number}, *[{"enum": names}] * min(MAX_ASKED, len(names))], 2)
                for number, tool in enumerate(self.offer.tools, 1)
                if (names := leaf_names(tool.parameters))
            ]
        )

    def _call(self, index: int, tool: OfferedTool, number: int) -> Schema:
        needed = sum(parameter.is_required for parameter in tool.parameters)
        return _array([{"const": index}, *[self._value(each, number) for each in tool.parameters]], 1 + needed)

    def _value(self, parameter: Parameter, number: int) -> Schema:
        forms: list[Schema] = []
        if parameter.kind is ParameterKind.LEAF:
            forms += self._leaf(parameter)
        elif parameter.kind is ParameterKind.OBJECT:
            needed = sum(member.is_required for member in parameter.members)
            forms.append(_array([self._value(member, number) for member in parameter.members], needed))
        elif parameter.kind is ParameterKind.LIST:
            forms.append(_list(self._value(parameter.members[0], number), MAX_ITEMS))
        if pointing := self._pointers(parameter, number):
            forms.append(self._share("p", _any(pointing)))
        if not parameter.is_required or not forms:
            forms.append({"type": "null"})
        return self._share("v", _any(forms))

    def _leaf(self, parameter: Parameter) -> list[Schema]:
        forms: list[Schema] = []
        if parameter.choices:
            forms.append({"enum": [choice.number for choice in parameter.choices]})
        if "query" in parameter.sources and parameter.is_boolean and parameter.shape.values is None:
            forms += [_object({word: self._quote()}) for word in ("true", "false")]
        elif "query" in parameter.sources and parameter.shape.values is None:
            forms.append(self._quote())
        if parameter.schema.get("format") in CLOCK_FORMATS:
            forms.append(_object({"now": {"const": True}}))
        if "generated" in parameter.sources and "string" in parameter.shape.types:
            forms.append(_object({"text": self._quote()}))
        return forms

    def _quote(self) -> Schema:
        return self._share("q", {"type": "string", "minLength": 1, "maxLength": MAX_QUOTE_CHARACTERS})

    def _pointers(self, parameter: Parameter, number: int) -> list[Schema]:
        """Return what may be pointed at, each by an object with one key: a step, a letter, `state` or `input`."""
        forms: list[Schema] = []
        if "step" in parameter.sources:
            if number > 1 and (places := self._outputs(parameter)) is not None:
                forms += [self._share("r", _object({str(before): places})) for before in range(1, number)]
            forms += [
                _object({letter: {"enum": names}})
                for letter, (_, known) in self.offer.completed.items()
                if (names := [place.name for place in fitting(known, parameter)])
            ]
        if "state" in parameter.sources and (names := [place.name for place in fitting(self.offer.state, parameter)]):
            forms.append(_object({"state": {"enum": names}}))
        if "input" in parameter.sources:
            names = [name for name, (_, place) in self.offer.inputs.items() if fitting([place], parameter)]
            forms += [_object({"input": {"enum": names}})] if names else []
        return forms

    def _outputs(self, parameter: Parameter) -> Schema | None:
        """Return the names of places that fit; any short name where a tool does not say what it returns."""
        if any(tool.outputs is None for tool in self.offer.tools):
            return self._share("o", {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,60}$"})
        names = [place.name for tool in self.offer.tools for place in tool.outputs_for(parameter)]
        return self._share("o", {"enum": list(dict.fromkeys(names))}) if names else None

    def _share(self, kind: str, schema: Schema) -> Schema:
        """Return a reference to the schema, which is kept once under a short name."""
        key = digest(schema)
        if key not in self._names:
            self._names[key] = f"{kind}{len(self._names)}"
            self.shared[self._names[key]] = schema
        return {"$ref": f"#/$defs/{self._names[key]}"}


def leaf_names(parameters: Sequence[Parameter], before: str = "") -> list[str]:
    """Return the names of the values that can be asked for, members of objects with points, such as `address.city`."""
    names: list[str] = []
    for parameter in parameters:
        name = f"{before}{parameter.name}"
        if parameter.kind is ParameterKind.OBJECT:
            names += leaf_names(parameter.members, f"{name}.")
        else:
            names.append(name)
    return names


def _reasoning(offer: Offer, reason: Reason) -> dict[str, Schema]:
    sentence: Schema = {"type": "string", "maxLength": MAX_SENTENCE_CHARACTERS}
    if reason is Reason.OFF:
        return {}
    if reason is Reason.BRIEF:
        return {"why": sentence}
    facts = {"type": "array", "items": sentence, "maxItems": 5}
    tool = {"enum": list(range(len(offer.tools) + 1))}
    return {"known": facts, "gap": facts, "tool": tool, "why": sentence, "expected": sentence}


def _object(members: Mapping[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": dict(members),
        "required": list(members),
        "additionalProperties": False,
    }


def _array(items: list[Schema], least: int) -> Schema:
    return {"type": "array", "prefixItems": items, "minItems": least, "maxItems": len(items), "items": False}


def _list(item: Schema, most: int) -> Schema:
    return {"type": "array", "items": item, "minItems": 1, "maxItems": most}


def _any(forms: list[Schema]) -> Schema:
    if not forms:
        return {"not": {}}
    return forms[0] if len(forms) == 1 else {"anyOf": forms}
