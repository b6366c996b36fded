"""The arguments of one step: values of a skeleton become bindings, questions to the user, or faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue, dumps
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.check_context import near, plan_fault
from taoloop.plan.model import (
    Binding,
    ContractValue,
    Convert,
    Generated,
    InputValue,
    RequestClock,
    StatePath,
    StepOutput,
)
from taoloop.plan.task import InputField, InputReason, Turn
from taoloop.thought.planners.model.offer import Offer, OfferedTool
from taoloop.thought.planners.model.parameters import Parameter, ParameterKind, alone
from taoloop.thought.planners.model.places import NamedPlace
from taoloop.thought.planners.model.quotes import Quoted, find_quote
from taoloop.thought.planners.model.reading import CLOCK_FORMATS, read_words
from taoloop.thought.planners.unread import Unread
from taoloop.values.conversions import ConversionContext

MAX_SHOWN_CHARACTERS: Final = 200
"""Longest part of a reply that a fault repeats."""


class Flag(StrEnum):
    """What was noticed while a skeleton was expanded."""

    SEVERAL_PLACES = "several_places"
    """The user said a quote several times; the first place was taken."""
    FOLDED_QUOTE = "folded_quote"
    """A quote differs from what stands there in letter case, blanks or outer quotes."""
    INSIDE_WORD = "inside_word"
    """A quote is a part of a word."""
    NUMBER_AS_QUOTE = "number_as_quote"
    """A bare number was taken for a quote of its digits."""


@dataclass(slots=True)
class Filled:
    """What the values of one step came to.

    Attributes:
        bindings: The arguments.
        asked: Values that only the user can give.
        faults: What the model has to write again; `field` is the place in the skeleton.
        flags: What was noticed.
        steps: Ids of the steps that are pointed at.
    """

    bindings: list[Binding] = field(default_factory=list)
    asked: list[InputField] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    flags: set[Flag] = field(default_factory=set)
    steps: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the values of a step can point at.

    Attributes:
        offer: Tools and places.
        turns: The conversation.
        conversion: How words are read.
        earlier: Id and tool of each step before this one, in order.
    """

    offer: Offer
    turns: Sequence[Turn]
    conversion: ConversionContext
    earlier: Sequence[tuple[str, OfferedTool]]


def fill(tool: OfferedTool, values: Sequence[JsonValue], at: str, around: Surroundings) -> Filled:
    """Turn the values of one step, by position, into bindings.

    Args:
        tool: The tool that is called.
        values: One for each parameter, in its order; missing ones at the end are left out.
        at: Pointer of the step in the skeleton.
        around: What can be pointed at.
    """
    filling = _Filling(tool, around, Filled())
    filling.members(tool.parameters, values, "", (at, 1))
    return filling.filled


@dataclass(slots=True)
class _Filling:
    tool: OfferedTool
    around: Surroundings
    filled: Filled

    def members(
        self, parameters: Sequence[Parameter], values: Sequence[JsonValue], prefix: str, where: tuple[str, int]
    ) -> None:
        """Fill parameters by position; `where` is the list in the skeleton and the index of its first value."""
        at, offset = where
        if len(values) > len(parameters):
            message = f"{self.tool.name!r} takes {len(parameters)} values here, not {len(values)}."
            self._fault(FaultCode.UNKNOWN_PARAMETER, at, message)
            return
        for index, parameter in enumerate(parameters):
            value = values[index] if index < len(values) else None
            self.value(parameter, value, prefix + pointers.join(parameter.name), f"{at}/{index + offset}")

    def value(self, parameter: Parameter, value: JsonValue, pointer: str, at: str) -> None:
        """Fill one parameter, whose place in the arguments is `pointer`."""
        if value is None:
            if parameter.is_required:
                self._ask(parameter, pointer, InputReason.MISSING)
        elif isinstance(value, dict):
            self._pointed(parameter, value, pointer, at)
        elif isinstance(value, list):
            self._listed(parameter, value, pointer, at)
        elif parameter.kind is not ParameterKind.LEAF:
            expected = "a pointer" if parameter.kind is ParameterKind.OPAQUE else "a list of values"
            self._fault(FaultCode.TYPE_MISMATCH, at, f"{pointer!r} takes {expected}.", value)
        elif isinstance(value, str):
            self._quoted(parameter, value, pointer, at)
        elif parameter.choices and isinstance(value, int) and not isinstance(value, bool):
            self._chosen(parameter, value, pointer, at)
        elif isinstance(value, int | Decimal) and not isinstance(value, bool):
            self.filled.flags.add(Flag.NUMBER_AS_QUOTE)
            self._quoted(parameter, dumps(value), pointer, at)
        else:
            message = f"{pointer!r} takes a quote of the request or a pointer, not a bare value."
            self._fault(FaultCode.TYPE_MISMATCH, at, message, value)

    def _listed(self, parameter: Parameter, value: list[JsonValue], pointer: str, at: str) -> None:
        if parameter.kind is ParameterKind.OBJECT:
            self.members(parameter.members, value, pointer, (at, 0))
        elif parameter.kind is ParameterKind.LIST and value:
            for index, item in enumerate(value):
                self.value(parameter.members[0], item, f"{pointer}/{index}", f"{at}/{index}")
        else:
            self._fault(FaultCode.TYPE_MISMATCH, at, f"{pointer!r} takes one value, not a list.")

    def _chosen(self, parameter: Parameter, number: int, pointer: str, at: str) -> None:
        choice = next((each for each in parameter.choices if each.number == number), None)
        if choice is None:
            offered = tuple(str(each.number) for each in parameter.choices)[:20]
            self._fault(FaultCode.UNKNOWN_REFERENCE, at, f"{pointer!r} has no value {number}.", number, offered)
            return
        source = ContractValue(kind=choice.kind, pointer=choice.pointer)
        self._bind(Binding(pointer=pointer, source=source, value=choice.value))

    def _quoted(self, parameter: Parameter, quote: str, pointer: str, at: str) -> None:
        """Bind words of the user; words that nobody said, or that give no value, are asked for."""
        if "query" not in parameter.sources:
            message = f"The contract does not let {pointer!r} come from the request."
            self._fault(FaultCode.SOURCE_NOT_ALLOWED, at, message)
            return
        found = self._found(quote)
        if found is None:
            self._ask(parameter, pointer, InputReason.MISSING)
            return
        read = read_words(parameter, found.span.text, self.around.conversion)
        if isinstance(read, Unread):
            self._ask(parameter, pointer, read.reason, read.candidates)
            return
        source = read.choice or found.span
        self._bind(Binding(pointer=pointer, source=source, convert=read.convert, value=read.value))

    def _found(self, quote: str) -> Quoted | None:
        found = find_quote(quote, self.around.turns)
        if found is not None:
            self.filled.flags |= {Flag.SEVERAL_PLACES} if found.count > 1 else set()
            self.filled.flags |= {Flag.FOLDED_QUOTE} if found.is_folded else set()
            self.filled.flags |= {Flag.INSIDE_WORD} if found.is_inside_word else set()
        return found

    def _pointed(self, parameter: Parameter, value: dict[str, JsonValue], pointer: str, at: str) -> None:
        """Bind what an object with one key points at."""
        key, target = next(iter(value.items())) if len(value) == 1 else ("", None)
        if key in _WORDS and parameter.kind is ParameterKind.LEAF:
            _WORDS[key](self, parameter, target, pointer, at)
        elif key in {"state", "input"} and isinstance(target, str):
            self._known(key, target, pointer, at)
        elif key.isascii() and key.isdecimal() and isinstance(target, str):
            self._output(int(key[:9]), target, pointer, at)
        elif key in self.around.offer.completed and isinstance(target, str):
            step, places = self.around.offer.completed[key]
            self._place(step.step_id, places, target, pointer, at)
        else:
            message = f"{pointer!r} takes a pointer to an earlier step, the state or an input, with one key."
            keys = (
                *(str(n) for n, _ in enumerate(self.around.earlier, 1)),
                *self.around.offer.completed,
                "state",
                "input",
            )
            self._fault(FaultCode.UNKNOWN_REFERENCE, at, message, key, keys[:20])

    def _output(self, number: int, name: str, pointer: str, at: str) -> None:
        if not 0 < number <= len(self.around.earlier):
            message = f"{pointer!r} points at step {number}, which is not an earlier one."
            self._fault(FaultCode.UNKNOWN_REFERENCE, at, message, number)
            return
        step_id, tool = self.around.earlier[number - 1]
        if tool.outputs is None:
            place = "" if name == "." else pointers.join(*name[:MAX_SHOWN_CHARACTERS].split("."))
            self._bind(Binding(pointer=pointer, source=StepOutput(step_id=step_id, pointer=place)))
            self.filled.steps[step_id] = None
            return
        self._place(step_id, tool.outputs, name, pointer, at)

    def _place(self, step_id: str, places: Sequence[NamedPlace], name: str, pointer: str, at: str) -> None:
        place = next((each for each in places if each.name == name), None)
        if place is None:
            names = tuple(each.name for each in places)
            candidates = tuple(dict.fromkeys([*near(name[:60], names), *names]))[:20]
            self._fault(FaultCode.UNKNOWN_REFERENCE, at, f"That result has no {name[:60]!r}.", name, candidates)
            return
        self.filled.steps[step_id] = None
        self._bind(Binding(pointer=pointer, source=StepOutput(step_id=step_id, pointer=place.pointer)))

    def _known(self, key: str, name: str, pointer: str, at: str) -> None:
        offer = self.around.offer
        if key == "input" and name in offer.inputs:
            input_id, place = offer.inputs[name]
            given = InputValue(input_id=input_id, pointer=place.pointer)
            self._bind(Binding(pointer=pointer, source=given, value=_only(place)))
            return
        found = next((each for each in offer.state if each.name == name), None) if key == "state" else None
        if found is not None:
            self._bind(Binding(pointer=pointer, source=StatePath(pointer=found.pointer), value=_only(found)))
            return
        names = tuple(offer.inputs) if key == "input" else tuple(each.name for each in offer.state)
        self._fault(FaultCode.UNKNOWN_REFERENCE, at, f"The {key} has no {name[:60]!r}.", name, names[:20])

    def truth(self, parameter: Parameter, quote: JsonValue, pointer: str, at: str, *, value: bool) -> None:
        """Bind true or false by the words that say so."""
        found = self._found(quote) if isinstance(quote, str) else None
        if not parameter.is_boolean:
            self._fault(FaultCode.TYPE_MISMATCH, at, f"{pointer!r} is neither true nor false.")
        elif found is None:
            self._ask(parameter, pointer, InputReason.MISSING)
        else:
            convert = Convert(to="enum", options={"values": {found.span.text: value}})
            self._bind(Binding(pointer=pointer, source=found.span, convert=convert, value=value))

    def now(self, parameter: Parameter, _: JsonValue, pointer: str, at: str) -> None:
        name = parameter.schema.get("format")
        if name not in CLOCK_FORMATS:
            self._fault(FaultCode.TYPE_MISMATCH, at, f"{pointer!r} takes no time.")
            return
        self._bind(Binding(pointer=pointer, source=RequestClock(), convert=CLOCK_FORMATS[name]))

    def written(self, parameter: Parameter, text: JsonValue, pointer: str, at: str) -> None:
        if "generated" not in parameter.sources or not isinstance(text, str):
            message = f"The contract does not let a model write {pointer!r}."
            self._fault(FaultCode.SOURCE_NOT_ALLOWED, at, message)
            return
        self._bind(Binding(pointer=pointer, source=Generated(text=text)))

    def _bind(self, binding: Binding) -> None:
        self.filled.bindings.append(binding)

    def _ask(self, parameter: Parameter, pointer: str, reason: InputReason, candidates: tuple[str, ...] = ()) -> None:
        asked = InputField(
            pointer=pointer,
            tool=self.tool.name,
            schema=alone(parameter.schema, self.tool.signature.parameters),
            reason=reason,
            candidates=candidates or tuple(str(each.value) for each in parameter.choices if each.number)[:20],
        )
        self.filled.asked.append(asked)

    def _fault(
        self, code: FaultCode, at: str, message: str, actual: Json = ABSENT, candidates: tuple[str, ...] = ()
    ) -> None:
        shown = actual[:MAX_SHOWN_CHARACTERS] if isinstance(actual, str) else actual
        self.filled.faults.append(plan_fault(code, at, message, actual=shown, candidates=candidates))


def _only(place: NamedPlace) -> Json:
    """Return the value that stands at a place of a known value: what the resolver has to find there again."""
    return place.shape.values[0] if place.shape.values else ABSENT


_Word = Callable[[_Filling, Parameter, JsonValue, str, str], None]
_WORDS: Final[dict[str, _Word]] = {
    "true": lambda filling, *rest: filling.truth(*rest, value=True),
    "false": lambda filling, *rest: filling.truth(*rest, value=False),
    "now": _Filling.now,
    "text": _Filling.written,
}
