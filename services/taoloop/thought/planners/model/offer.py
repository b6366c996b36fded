"""What a model is offered for one request: numbered tools, and named places in what is known already."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import Absent
from taoloop.plan.check_context import DEFAULT_LIMITS, PlanLimits
from taoloop.plan.thinking import CompletedStep, ThinkRequest
from taoloop.thought.planners.model.parameters import Parameter, parameters_of
from taoloop.thought.planners.model.places import NamedPlace, places_of_schema, places_of_value
from taoloop.tools.schema_paths import incompatibility
from taoloop.tools.signature import ToolSignature


class Mode(StrEnum):
    """What a thought may come to; the values are the keys of a skeleton."""

    PLAN = "plan"
    """Call tools."""
    ASK = "ask"
    """Ask the user for values."""
    NONE = "none"
    """Say that no tool fits."""
    DONE = "done"
    """Answer with the results that are there."""


ALL_MODES: Final = frozenset(Mode)


class Reason(StrEnum):
    """How much a model says about its choice before it makes it."""

    FULL = "full"
    """Five fields: known, gap, tool, why, expected; about 120 tokens."""
    BRIEF = "brief"
    """One sentence: why."""
    OFF = "off"
    """Nothing."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool with its number, prepared once for any number of requests.

    Attributes:
        signature: The tool.
        parameters: Its parameters by position.
        outputs: Places of its result; None when the tool does not say.
    """

    signature: ToolSignature
    parameters: tuple[Parameter, ...]
    outputs: tuple[NamedPlace, ...] | None

    @classmethod
    def of(cls, signature: ToolSignature) -> OfferedTool:
        """Prepare a tool."""
        outputs = None if signature.returns is None else places_of_schema(signature.returns)
        return cls(signature, parameters_of(signature), outputs)

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.signature.name

    def outputs_for(self, parameter: Parameter) -> tuple[NamedPlace, ...]:
        """Return the places of the result that fit a parameter."""
        return fitting(self.outputs or (), parameter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Everything that a skeleton for one request can point at.

    Attributes:
        tools: The tools; the first has number 1.
        state: Places of the session's state.
        inputs: Places of the user's answers, by the id of the question; a later answer hides an earlier one's name.
        completed: Steps that succeeded, by letter, with the places of what may be seen of their results.
        modes: What the thought may come to.
        limits: How large a plan may be.
    """

    tools: tuple[OfferedTool, ...]
    state: tuple[NamedPlace, ...] = ()
    inputs: Mapping[str, tuple[str, NamedPlace]]
    completed: Mapping[str, tuple[CompletedStep, tuple[NamedPlace, ...]]]
    modes: frozenset[Mode] = ALL_MODES
    limits: PlanLimits = DEFAULT_LIMITS

    @classmethod
    def of(
        cls,
        tools: Sequence[OfferedTool],
        request: ThinkRequest,
        modes: frozenset[Mode] = ALL_MODES,
        limits: PlanLimits = DEFAULT_LIMITS,
    ) -> Offer:
        """Offer tools for a request; without completed steps there is nothing to answer with."""
        succeeded = [step for step in request.completed if step.fault is None]
        completed = {
            letter: (step, () if isinstance(step.exposed, Absent) else places_of_value(step.exposed))
            for letter, step in zip(string.ascii_lowercase, succeeded, strict=False)
        }
        inputs = {
            _short(place): (given.input_id, place)
            for given in request.inputs
            if not isinstance(given.values, Absent)
            for place in places_of_value(given.values)
        }
        return cls(
            tools=tuple(tools),
            state=() if isinstance(request.state, Absent) else places_of_value(request.state),
            inputs=inputs,
            completed=completed,
            modes=modes if completed else modes - {Mode.DONE},
            limits=limits,
        )

    def number(self, name: str) -> int | None:
        """Return the number of a tool."""
        return next((number for number, tool in enumerate(self.tools, 1) if tool.name == name), None)


def fitting(places: Sequence[NamedPlace], parameter: Parameter) -> tuple[NamedPlace, ...]:
    """Return the places where something may stand that fits a parameter."""
    return tuple(place for place in places if incompatibility(place.shape, parameter.shape) is None)


def _short(place: NamedPlace) -> str:
    tokens = pointers.parse(place.pointer)
    return place.name if len(tokens) != 1 else tokens[0]
