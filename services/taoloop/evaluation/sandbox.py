"""One observation put before a planner alone: is the tool's result wrong, or does the planner misread it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, dumps, equal
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse, Evidence
from taoloop.plan.check import check_plan
from taoloop.plan.check_context import CheckContext
from taoloop.plan.flow.fan_out import with_first_items
from taoloop.plan.model import Binding, PlanStep, StepOutput, Template, ThoughtPlan
from taoloop.plan.observing import ObservationResult
from taoloop.plan.task import Permissions
from taoloop.plan.thinking import Answer, CompletedStep, Escalation, NeedInput, Refusal, ThinkRequest
from taoloop.tools.catalogue import Catalogue

STEP_ID = "1.t1"
"""The step whose result is put before the planner."""

Outcome = ThoughtPlan | Answer | NeedInput | Refusal | Escalation | None
CheckAnswer = Callable[[CheckAnswerRequest], CheckAnswerResponse]


class SandboxVerdict(StrEnum):
    """Where the fault lies, as far as facts say it."""

    UNDERSTOOD = "understood"
    """The result is valid, and the planner uses what it says."""

    TOOL_RESULT_WRONG = "tool_result_wrong"
    """The result breaks its contract: whatever the planner makes of it, the tool or the contract is to be corrected."""

    PLANNER_MISREADS = "planner_misreads"
    """The result is valid, and the planner says or refers to what it does not hold."""

    UNDECIDED = "undecided"
    """The result is valid, and the planner does nothing with it that could be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that was compared.

    Attributes:
        about: `tool` or `planner`.
        is_fault: Whether it speaks against whom it is about.
        pointer: Where in the result; empty for the whole.
        message: What is so, one sentence.
    """

    about: str
    is_fault: bool
    message: str
    pointer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What the sandbox found.

    Attributes:
        verdict: Where the fault lies.
        facts: What it rests on.
    """

    verdict: SandboxVerdict
    facts: tuple[Fact, ...]


def with_result(request: ThinkRequest, tool: str, arguments: Json, observation: ObservationResult) -> ThinkRequest:
    """Return the request for the thought that comes after one step, as the loop would put it.

    Args:
        request: The first thought's.
        tool: The tool that answered.
        arguments: What it was asked.
        observation: What is true of its answer.
    """
    done = CompletedStep(
        step_id=STEP_ID,
        tool=tool,
        arguments=arguments,
        exposed=observation.exposed,
        confidence=observation.confidence,
        trust=observation.trust,
        fault=observation.fault,
    )
    return replace(request, iteration=request.iteration + 1, completed=(*request.completed, done))


def planned_arguments(outcome: Outcome, tool: str) -> Json:
    """Return the arguments with which a plan calls a tool first; absent where it does not, or they are not known."""
    if not isinstance(outcome, ThoughtPlan):
        return ABSENT
    step = next((each for each in outcome.steps if each.tool == tool), None)
    return ABSENT if step is None else _arguments(step)


def assess(
    catalogue: Catalogue,
    request: ThinkRequest,
    observation: ObservationResult,
    outcome: Outcome,
    check_answer: CheckAnswer,
) -> Assessment:
    """Return where the fault lies between a tool's result and the planner that read it.

    Args:
        catalogue: The tools that the planner knows.
        request: What was put before it, with the result.
        observation: What is true of the result.
        outcome: What it made of it.
        check_answer: Compares an answer's values with observations.
    """
    facts = [*_tool_facts(observation), *_planner_facts(catalogue, request, observation, outcome, check_answer)]
    return Assessment(verdict=_verdict(observation, facts), facts=tuple(facts))


def _verdict(observation: ObservationResult, facts: list[Fact]) -> SandboxVerdict:
    if any(fact.is_fault for fact in facts if fact.about == "tool"):
        return SandboxVerdict.TOOL_RESULT_WRONG
    of_planner = [fact for fact in facts if fact.about == "planner"]
    if any(fact.is_fault for fact in of_planner):
        return SandboxVerdict.PLANNER_MISREADS
    has_used = any(fact.pointer for fact in of_planner)
    return SandboxVerdict.UNDERSTOOD if observation.valid and has_used else SandboxVerdict.UNDECIDED


def _tool_facts(observation: ObservationResult) -> Iterator[Fact]:
    if observation.valid:
        message = f"The result keeps its contract, confidence {observation.confidence:.2f}."
        yield Fact(about="tool", is_fault=False, message=message)
        return
    hard = [failure for failure in observation.failures if failure.hard]
    for failure in hard:
        rule = f" {failure.rule_id}" if failure.rule_id not in {"", failure.stage} else ""
        message = f"{failure.stage}{rule}: {failure.message}"
        yield Fact(about="tool", is_fault=True, pointer=failure.pointer, message=message)
    if not hard:
        yield Fact(about="tool", is_fault=False, message="The result is not there yet: the tool still works on it.")


def _planner_facts(
    catalogue: Catalogue,
    request: ThinkRequest,
    observation: ObservationResult,
    outcome: Outcome,
    check_answer: CheckAnswer,
) -> Iterator[Fact]:
    exposed = observation.exposed
    match outcome:
        case Answer():
            yield from _answer_facts(outcome, request, exposed, check_answer)
        case ThoughtPlan():
            yield from _plan_facts(outcome, catalogue, request, exposed)
        case NeedInput():
            for field in outcome.fields:
                name = field.pointer.rpartition("/")[2]
                at = _place_of(exposed, name)
                has = "" if at is None else f", which the result has at {at}"
                message = f"It asks for {name} of {field.tool}{has}."
                yield Fact(about="planner", is_fault=at is not None, pointer=at or "", message=message)
        case Escalation():
            message = f"It hands over to a person: {outcome.message}"
            yield Fact(about="planner", is_fault=observation.valid, message=message)
        case Refusal():
            yield Fact(about="planner", is_fault=False, message=f"It refuses ({outcome.reason}): {outcome.message}")
        case None:
            yield Fact(about="planner", is_fault=True, message="It gives no outcome.")


def _answer_facts(answer: Answer, request: ThinkRequest, exposed: Json, check_answer: CheckAnswer) -> Iterator[Fact]:
    evidence = [Evidence(step_id="request", exposed="\n".join(turn.text for turn in request.turns))]
    evidence += [Evidence(step_id=done.step_id, exposed=done.exposed) for done in request.completed]
    checked = check_answer(
        CheckAnswerRequest(
            text=answer.text, evidence=tuple(evidence), locale=request.locale, time_zone=request.time_zone
        )
    )
    if checked.fault is not None:
        yield Fact(about="planner", is_fault=True, message=f"Its answer cannot be checked: {checked.fault.message}")
    for claim in checked.claims:
        if claim.supported and claim.step_id == STEP_ID:
            message = f"Its answer says {claim.text}, as the result does."
            yield Fact(about="planner", is_fault=False, pointer=claim.pointer or "/", message=message)
        elif not claim.supported:
            near = f"; the nearest value is {claim.candidate}" if claim.candidate else ""
            message = f"Its answer says {claim.text}, which the result does not{near}."
            yield Fact(about="planner", is_fault=True, pointer=claim.candidate_pointer, message=message)
    if not isinstance(answer.data, Absent) and not isinstance(exposed, Absent) and equal(answer.data, exposed):
        yield Fact(about="planner", is_fault=False, pointer="/", message="The data of its answer is the result's.")
    elif not checked.claims:
        yield Fact(about="planner", is_fault=False, message="Its answer has no value that could be compared.")


def _plan_facts(plan: ThoughtPlan, catalogue: Catalogue, request: ThinkRequest, exposed: Json) -> Iterator[Fact]:
    done = next(step for step in request.completed if step.step_id == STEP_ID)
    for step in with_first_items(plan).steps:
        if step.tool == done.tool and equal_arguments(_arguments(step), done.arguments) and done.fault is None:
            message = f"It calls {step.tool} again with the arguments that were answered already."
            yield Fact(about="planner", is_fault=True, message=message)
        for binding in step.bindings:
            yield from _reference_facts(step, binding, exposed)
    context = CheckContext(
        tools={signature.name: signature for signature in catalogue.signatures()},
        permissions=request.permissions or Permissions(),
        turns=request.turns,
        state=request.state,
        completed=request.completed,
        inputs=request.inputs,
    )
    for fault in check_plan(plan, context).faults:
        message = f"Its plan is wrong at {fault.field or '/'}: {fault.code}: {fault.message}"
        yield Fact(about="planner", is_fault=True, message=message)


def _reference_facts(step: PlanStep, binding: Binding, exposed: Json) -> Iterator[Fact]:
    for source in _references(binding):
        if source.step_id != STEP_ID:
            continue
        value = pointers.find(exposed, source.pointer)
        place = source.pointer or "/"
        what = f"{step.tool}{binding.pointer}"
        if isinstance(value, Absent):
            message = f"It takes {what} from {place}, which the result does not have."
            yield Fact(about="planner", is_fault=True, pointer=place, message=message)
        else:
            message = f"It takes {what} from {place}, {_short(value)}."
            yield Fact(about="planner", is_fault=False, pointer=place, message=message)


def _references(binding: Binding) -> Iterator[StepOutput]:
    if isinstance(binding.source, StepOutput):
        yield binding.source
    elif isinstance(binding.source, Template):
        yield from (part.source for part in binding.source.parts if isinstance(part.source, StepOutput))


def equal_arguments(one: Json, other: Json) -> bool:
    """Tell whether two sets of arguments are known and the same."""
    return not isinstance(one, Absent) and not isinstance(other, Absent) and equal(one, other)


def _arguments(step: PlanStep) -> Json:
    """Return a step's arguments as far as its bindings say them; absent while one is not known."""
    arguments: JsonValue = {}
    for binding in step.bindings:
        if isinstance(binding.value, Absent):
            return ABSENT
        arguments = pointers.assign(arguments, binding.pointer, binding.value)
    return arguments


def _place_of(value: Json, name: str, at: str = "") -> str | None:
    """Return where a result has a member of this name with a value; None where it has none."""
    if isinstance(value, dict):
        if value.get(name) is not None:
            return at + pointers.join(name)
        found = (_place_of(item, name, at + pointers.join(key)) for key, item in value.items())
    elif isinstance(value, list):
        found = (_place_of(item, name, at + pointers.join(index)) for index, item in enumerate(value))
    else:
        return None
    return next((place for place in found if place is not None), None)


def _short(value: JsonValue) -> str:
    text = dumps(value)
    return text if len(text) <= 80 else text[:79] + "…"
