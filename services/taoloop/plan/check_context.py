"""What a plan is checked against, and the verdict."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.task import Permissions, ProvidedInput, ToolAvailability, Turn
from taoloop.plan.thinking import CompletedStep
from taoloop.tools.signature import ToolSignature

_WIDE_FROM = "\u2e80"  # CJK radicals: from here on a character is about a token


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: one per wide (CJK) character, one per four other characters, rounded up.

    It stands in for the tokenizer of the planner's model where none is configured.
    """
    wide = sum(character >= _WIDE_FROM for character in text)
    return wide + (len(text) - wide + 3) // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLimits:
    """How large a plan may be.

    Attributes:
        max_steps: Most steps, at least 1.
        max_tokens: Most tokens of the steps in their JSON form.
    """

    max_steps: int = 7
    max_tokens: int = 512


DEFAULT_LIMITS: Final = PlanLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """Everything that the check reads beside the plan.

    Attributes:
        tools: The catalogue's tools by name; `returns` is the output schema that references are checked against.
        catalogue_digest: Digest of the catalogue; empty skips the comparison, as an empty one in the plan does.
        permissions: What the plan may do.
        availability: Tools that cannot be called at present; one that is not named is available.
        turns: The conversation. None: the plan is checked without a request, so literals wait for their source,
            and spans, state and inputs are taken on trust.
        state: The session's state.
        completed: Steps of earlier iterations.
        inputs: Answers of the caller.
        limits: How large the plan may be.
        count_tokens: Counts the tokens of a text, by the planner's tokenizer where there is one.
        tainted_context: Whether untrusted text has entered the run before this plan.
    """

    tools: Mapping[str, ToolSignature]
    catalogue_digest: str = ""
    permissions: Permissions = field(default_factory=Permissions)
    availability: tuple[ToolAvailability, ...] = ()
    turns: tuple[Turn, ...] | None = None
    state: Json = ABSENT
    completed: tuple[CompletedStep, ...] = ()
    inputs: tuple[ProvidedInput, ...] = ()
    limits: PlanLimits = field(default_factory=PlanLimits)
    count_tokens: Callable[[str], int] = estimate_tokens
    tainted_context: bool = False

    @property
    def has_request(self) -> bool:
        """Whether there is a request that sources can be looked up in."""
        return self.turns is not None

    @property
    def completed_by_id(self) -> dict[str, CompletedStep]:
        """The completed steps by their id."""
        return {step.step_id: step for step in self.completed}


@dataclass(frozen=True, slots=True)
class PlanVerdict:
    """The verdict on a plan.

    Attributes:
        faults: Every fault, in the order of the plan's fields; empty when the plan may run.
        order: Step ids in an order that respects the dependencies; empty when the plan may not run.
    """

    faults: tuple[Fault, ...]
    order: tuple[str, ...]

    @property
    def is_valid(self) -> bool:
        """Whether the plan may run."""
        return not self.faults


def step_place(index: int, *tokens: str | int) -> str:
    """Return the pointer of a place in a step of the plan's JSON form."""
    return pointers.join("steps", index, *tokens)


def argument_place(index: int, pointer: str) -> str:
    """Return the pointer of an argument in a step of the plan's JSON form; of all of them for a malformed pointer."""
    try:
        pointers.parse(pointer)
    except pointers.PointerSyntaxError:
        return step_place(index, "args")
    return step_place(index, "args") + pointer


def plan_fault(
    code: FaultCode,
    place: str,
    message: str,
    *,
    expected: Json = ABSENT,
    actual: Json = ABSENT,
    candidates: tuple[str, ...] = (),
) -> Fault:
    """Return a fault of the plan stage; the suggestion is the code's own."""
    return Fault(
        code=code,
        stage=FaultStage.PLAN,
        message=message,
        field=place,
        expected=expected,
        actual=actual,
        suggestion=code.remedy,
        candidates=candidates,
    )


invalid = partial(plan_fault, FaultCode.INVALID_PLAN)


def near(name: str, names: tuple[str, ...], count: int = 5) -> tuple[str, ...]:
    """Return the names that look most like this one, best first."""
    return tuple(difflib.get_close_matches(name, names, n=count, cutoff=0.5))
