"""A plan written as the skeleton that expands to it: for worked examples, and for what a model is trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue, equal
from taoloop.plan.model import (
    Binding,
    ContractValue,
    Generated,
    InputValue,
    PlanStep,
    QuerySpan,
    RequestClock,
    StatePath,
    StepOutput,
    ThoughtPlan,
)
from taoloop.thought.planners.model.offer import Mode, Offer, OfferedTool
from taoloop.thought.planners.model.parameters import Parameter, ParameterKind
from taoloop.thought.planners.model.places import WHOLE, NamedPlace


class NotExpressible(ValueError):
    """The plan points at something that a skeleton for this offer has no word for."""


def compact(plan: ThoughtPlan, offer: Offer) -> JsonValue:
    """Return the skeleton of a plan; it expands to the same steps with the same values.

    Raises:
        NotExpressible: A tool is not offered, or a source is a template or lies outside of the named places.
    """
    earlier: dict[str, tuple[int, OfferedTool]] = {}
    steps: list[JsonValue] = []
    for position, step in enumerate(plan.steps, 1):
        number = offer.number(step.tool)
        if number is None:
            raise NotExpressible(f"The tool {step.tool!r} is not offered.")
        tool = offer.tools[number - 1]
        steps.append([number, *_Step(step, offer, dict(earlier)).written(tool)])
        earlier[step.step_id] = (position, tool)
    return {Mode.PLAN.value: steps}


class _Step:
    def __init__(self, step: PlanStep, offer: Offer, earlier: Mapping[str, tuple[int, OfferedTool]]) -> None:
        self._offer = offer
        self._earlier = earlier
        self._bound = {binding.pointer: binding for binding in step.bindings}

    def written(self, tool: OfferedTool) -> list[JsonValue]:
        values = self._members(tool.parameters, "")
        if self._bound:
            raise NotExpressible(f"There is no parameter at {next(iter(self._bound))!r}.")
        return values

    def _members(self, parameters: Sequence[Parameter], place: str) -> list[JsonValue]:
        values = [self._value(parameter, place + pointers.join(parameter.name)) for parameter in parameters]
        while values and values[-1] is None:
            values.pop()
        return values

    def _value(self, parameter: Parameter, place: str) -> JsonValue:
        binding = self._bound.pop(place, None)
        if binding is not None:
            return self._source(parameter, binding)
        if parameter.kind is ParameterKind.OBJECT:
            return self._members(parameter.members, place) or None
        if parameter.kind is ParameterKind.LIST:
            items: list[JsonValue] = []
            while (item := self._value(parameter.members[0], f"{place}/{len(items)}")) is not None:
                items.append(item)
            return items or None
        return None

    def _source(self, parameter: Parameter, binding: Binding) -> JsonValue:
        match binding.source:
            case QuerySpan() if parameter.shape.values is not None:
                found = [choice.number for choice in parameter.choices if equal(choice.value, binding.value)]
                if found:
                    return found[0]
            case QuerySpan(text=text):
                is_truth = parameter.is_boolean and isinstance(binding.value, bool)
                return {"true" if binding.value else "false": text} if is_truth else text
            case ContractValue(pointer=pointer):
                found = [choice.number for choice in parameter.choices if choice.pointer == pointer]
                if found:
                    return found[0]
            case StepOutput() as output:
                return self._output(output)
            case _:
                return self._known(binding)
        raise _no_word(binding)

    def _known(self, binding: Binding) -> JsonValue:
        match binding.source:
            case StatePath(pointer=pointer):
                return {"state": _name(self._offer.state, pointer)}
            case InputValue(input_id=input_id, pointer=pointer):
                for name, (known, place) in self._offer.inputs.items():
                    if (known, place.pointer) == (input_id, pointer):
                        return {"input": name}
            case RequestClock():
                return {"now": True}
            case Generated(text=text):
                return {"text": text}
        raise _no_word(binding)

    def _output(self, output: StepOutput) -> JsonValue:
        if output.step_id in self._earlier:
            number, tool = self._earlier[output.step_id]
            if tool.outputs is None:
                return {str(number): ".".join(pointers.parse(output.pointer)) or WHOLE}
            return {str(number): _name(tool.outputs, output.pointer)}
        for letter, (step, places) in self._offer.completed.items():
            if step.step_id == output.step_id:
                return {letter: _name(places, output.pointer)}
        raise NotExpressible(f"There is no step {output.step_id!r}.")


def _no_word(binding: Binding) -> NotExpressible:
    return NotExpressible(f"A skeleton has no word for the source of {binding.pointer!r}.")


def _name(places: Sequence[NamedPlace], pointer: str) -> str:
    for place in places:
        if place.pointer == pointer:
            return place.name
    raise NotExpressible(f"No place has the pointer {pointer!r}.")
