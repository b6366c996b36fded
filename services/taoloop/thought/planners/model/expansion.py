"""A skeleton expanded by code: quotes are found, pointers resolved, and the plan is type-checked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.check import check_plan
from taoloop.plan.check_context import CheckContext, PlanVerdict, near, plan_fault
from taoloop.plan.model import Decision, DecisionKind, PlanStep, Reasoning, ThoughtPlan
from taoloop.plan.rules.snapshot import DATE_RANGE, USER_INTENT, day_range
from taoloop.plan.task import InputField, InputReason, Permissions
from taoloop.plan.thinking import Answer, NeedInput, Refusal, RefusalReason, ThinkRequest
from taoloop.thought.parsing import Repair
from taoloop.thought.parsing.reasoning import reasoning_of
from taoloop.thought.planners.known import answer_of
from taoloop.thought.planners.model.filling import Filled, Flag, Surroundings, fill
from taoloop.thought.planners.model.grammar import leaf_names
from taoloop.thought.planners.model.offer import Mode, Offer, OfferedTool
from taoloop.thought.planners.model.parameters import Parameter, ParameterKind, alone
from taoloop.thought.planners.model.reading import takes_days
from taoloop.tools.signature import Effect, ToolSignature
from taoloop.values.conversions import ConversionContext

PLAN_VERSION: Final = "1.0"
PLANNER_NAME: Final = "model/1"
_MAX_WORDS: Final = 500
_IDENTIFIER = re.compile(r"[A-Za-z]\w*[_.]\w+")

Outcome = ThoughtPlan | NeedInput | Refusal | Answer
Checker = Callable[[ThoughtPlan, CheckContext], PlanVerdict]
"""Checks a plan."""


class SkeletonRefused(ValueError):
    """The skeleton makes no plan that may run; the faults say what to write otherwise.

    Attributes:
        faults: Every fault; `field` is the place in the skeleton, or in the plan for faults of the plan's check.
    """

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """What a skeleton came to.

    Attributes:
        outcome: A plan without thought id and time, a question, a refusal, or an answer of facts.
        reasoning: What the model said about its choice.
        flags: What was noticed on the way.
        repairs: What was mended in the reply, where it was read from a text.
    """

    outcome: Outcome
    reasoning: Reasoning = field(default_factory=Reasoning)
    flags: frozenset[Flag] = frozenset()
    repairs: frozenset[Repair] = frozenset()


def expand(
    skeleton: JsonValue,
    offer: Offer,
    request: ThinkRequest,
    context: CheckContext | None = None,
    blocks: Sequence[str] = (),
    check: Checker = check_plan,
) -> Expansion:
    """Expand the skeleton of a reply.

    Args:
        skeleton: The object that the model wrote.
        offer: What it was offered.
        request: What it was asked; its turns are the stored ones.
        context: What the plan is checked against; left out, the offered tools and the request.
        blocks: Reasoning that stood beside the skeleton; it counts where the skeleton itself says nothing.
        check: Checks the plan: `check_plan`, or the same with a measurement around it.

    Raises:
        SkeletonRefused: It is no skeleton, or its plan does not pass the check.
    """
    return _Expanding(offer, request, context or context_of(offer, request), check).run(skeleton, blocks)


def context_of(offer: Offer, request: ThinkRequest) -> CheckContext:
    """Return what a plan for the request is checked against when only the offered tools are known."""
    tools: dict[str, ToolSignature] = {tool.name: tool.signature for tool in offer.tools}
    return CheckContext(
        tools=tools,
        catalogue_digest=request.catalogue_digest,
        permissions=request.permissions or Permissions(),
        availability=request.availability,
        turns=request.turns,
        state=request.state,
        completed=request.completed,
        inputs=request.inputs,
        limits=offer.limits,
        tainted_context=request.tainted_context,
    )


class _Expanding:
    def __init__(self, offer: Offer, request: ThinkRequest, context: CheckContext, check: Checker) -> None:
        self._offer = offer
        self._request = request
        self._context = context
        self._check = check
        self._conversion = ConversionContext(
            reference_time=request.reference_time, time_zone=request.time_zone, locale=request.locale
        )

    def run(self, skeleton: JsonValue, blocks: Sequence[str]) -> Expansion:
        if not isinstance(skeleton, dict):
            raise _refused("", "The reply is not an object.")
        modes = [mode for mode in Mode if mode.value in skeleton]
        if len(modes) != 1 or modes[0] not in self._offer.modes:
            allowed = tuple(mode.value for mode in Mode if mode in self._offer.modes)
            raise _refused("", f"The reply has exactly one of the keys {', '.join(allowed)}.", allowed)
        said = self._reasoning(skeleton)
        reasoning = said if said != Reasoning() else self._named(reasoning_of(blocks))
        value = skeleton[modes[0].value]
        match modes[0]:
            case Mode.PLAN:
                return replace(self._planned(value, reasoning), reasoning=reasoning)
            case Mode.ASK:
                return Expansion(outcome=self._asked(value), reasoning=reasoning)
            case Mode.DONE:
                return Expansion(outcome=self._done(value), reasoning=reasoning)
            case _:
                return Expansion(outcome=Refusal(reason=RefusalReason.NO_TOOL), reasoning=reasoning)

    def _planned(self, value: JsonValue, reasoning: Reasoning) -> Expansion:
        if value == []:
            raise SkeletonRefused((plan_fault(FaultCode.EMPTY_PLAN, "/plan", "The plan has no step."),))
        if not isinstance(value, list):
            raise _refused("/plan", "The plan is a list of steps, each a list: a tool's number, then its values.")
        if len(value) > self._offer.limits.max_steps:
            message = f"The plan has {len(value)} steps, more than {self._offer.limits.max_steps}."
            raise SkeletonRefused((plan_fault(FaultCode.PLAN_TOO_LARGE, "/plan", message),))
        steps, filled = self._steps(value)
        if faults := tuple(fault for each in filled for fault in each.faults):
            raise SkeletonRefused(faults)
        flags = frozenset(flag for each in filled for flag in each.flags)
        if asked := tuple(field for each in filled for field in each.asked):
            return Expansion(outcome=self._question(asked), flags=flags)
        plan = self._plan(steps, reasoning)
        verdict = self._check(plan, self._context)
        if not verdict.is_valid:
            raise SkeletonRefused(verdict.faults)
        return Expansion(outcome=plan, flags=flags)

    def _steps(self, written: list[JsonValue]) -> tuple[tuple[PlanStep, ...], tuple[Filled, ...]]:
        steps: list[PlanStep] = []
        every: list[Filled] = []
        earlier: list[tuple[str, OfferedTool]] = []
        for index, value in enumerate(written):
            at = f"/plan/{index}"
            if not isinstance(value, list) or not value:
                raise _refused(at, "A step is a list: a tool's number, then its values.")
            tool = self._tool(value[0], f"{at}/0")
            around = Surroundings(self._offer, self._request.turns, self._conversion, tuple(earlier))
            filled = fill(tool, value[1:], at, around)
            step = self._step(f"{self._request.iteration}.t{index + 1}", tool, filled, [name for name, _ in earlier])
            steps.append(step)
            every.append(filled)
            earlier.append((step.step_id, tool))
        return tuple(steps), tuple(every)

    def _step(self, step_id: str, tool: OfferedTool, filled: Filled, earlier: Sequence[str]) -> PlanStep:
        """Return a step; one that writes waits for every step before it."""
        is_writing = tool.signature.effect is not Effect.READ
        return PlanStep(
            step_id=step_id,
            description=tool.signature.description.partition("\n")[0][:120],
            tool=tool.name,
            bindings=tuple(filled.bindings),
            depends_on=tuple(name for name in earlier if is_writing or name in filled.steps),
        )

    def _with_snapshot(self, steps: tuple[PlanStep, ...]) -> tuple[tuple[PlanStep, ...], JsonValue]:
        """Return the steps with what they use of the state snapshot, and the snapshot: the intent, and the days."""
        days = [self._days(step) for step in steps]
        first = next(filter(None, days), "")
        snapshot: JsonValue = {USER_INTENT: steps[-1].tool, **({DATE_RANGE: first} if first else {})}
        using = (DATE_RANGE,)
        used = [
            replace(step, uses_snapshot=using) if own and own == first else step
            for step, own in zip(steps, days, strict=True)
        ]
        return tuple(used), snapshot

    def _days(self, step: PlanStep) -> str:
        number = self._offer.number(step.tool)
        leaves = {} if number is None else _leaves(self._offer.tools[number - 1].parameters, "")
        places = {place for place, parameter in leaves.values() if takes_days(parameter)}
        return day_range(binding.value for binding in step.bindings if binding.pointer in places)

    def _plan(self, steps: tuple[PlanStep, ...], reasoning: Reasoning) -> ThoughtPlan:
        steps, snapshot = self._with_snapshot(steps)
        return ThoughtPlan(
            version=PLAN_VERSION,
            run_id=self._request.run_id,
            iteration=self._request.iteration,
            catalogue_digest=self._context.catalogue_digest,
            planner=PLANNER_NAME,
            reasoning=reasoning,
            steps=steps,
            state_snapshot=snapshot,
            final_output_schema=self._request.output_schema,
            tainted_context=self._request.tainted_context,
            decision=Decision(kind=DecisionKind.PLAN),
        )

    def _asked(self, value: JsonValue) -> NeedInput:
        if not isinstance(value, list) or len(value) < 2:
            raise _refused("/ask", "A question is a list: a tool's number, then names of its parameters.")
        tool = self._tool(value[0], "/ask/0")
        known = _leaves(tool.parameters, "")
        fields: list[InputField] = []
        for index, name in enumerate(value[1:], 1):
            found = known.get(name) if isinstance(name, str) else None
            if found is None:
                names = tuple(leaf_names(tool.parameters))
                candidates = (*near(str(name)[:60], names), *names)[:20]
                raise _refused(f"/ask/{index}", f"{tool.name!r} has no parameter {str(name)[:60]!r}.", candidates)
            pointer, parameter = found
            choices = tuple(str(choice.value) for choice in parameter.choices if choice.number)[:20]
            schema = alone(parameter.schema, tool.signature.parameters)
            fields.append(InputField(pointer=pointer, tool=tool.name, schema=schema, candidates=choices))
        return self._question(tuple(fields))

    def _question(self, fields: tuple[InputField, ...]) -> NeedInput:
        """Return a question whose id depends on the run, the thought and what is asked alone."""
        unique = tuple({(one.tool, one.pointer): one for one in fields}.values())
        places = [f"{one.tool}\n{one.pointer}" for one in unique]
        text = "\n".join((self._request.run_id, str(self._request.iteration), *places))
        input_id = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
        is_chinese = self._request.locale.lower().startswith("zh")
        return NeedInput(
            input_id=input_id, fields=tuple(replace(one, question=_words(one, is_chinese)) for one in unique)
        )

    def _done(self, value: JsonValue) -> Answer:
        known = self._offer.completed
        letters = value if isinstance(value, list) else [value]
        if not letters or not all(isinstance(letter, str) and letter in known for letter in letters):
            raise _refused("/done", "The answer names completed steps by their letters.", tuple(known)[:20])
        return answer_of([known[str(letter)][0] for letter in dict.fromkeys(map(str, letters))])

    def _tool(self, number: JsonValue, at: str) -> OfferedTool:
        tools = self._offer.tools
        if isinstance(number, int) and not isinstance(number, bool) and 0 < number <= len(tools):
            return tools[number - 1]
        named = next((tool for tool in tools if tool.name == number), None)
        if named is not None:
            return named
        message = f"There is no tool {str(number)[:60]!r}."
        names = tuple(f"{index} {tool.name}" for index, tool in enumerate(tools, 1))[:20]
        raise SkeletonRefused((plan_fault(FaultCode.UNKNOWN_TOOL, at, message, candidates=names),))

    def _reasoning(self, skeleton: dict[str, JsonValue]) -> Reasoning:
        """Return the reasoning; a tool that is not offered is stopped here, before anything is done."""
        tool = skeleton.get("tool") or ""
        name = self._tool(tool, "/tool").name if tool else ""
        return Reasoning(
            known=_sentences(skeleton.get("known")),
            gap=_sentences(skeleton.get("gap")),
            tool=name,
            why=_sentence(skeleton.get("why")),
            expected=_sentence(skeleton.get("expected")),
        )

    def _named(self, reasoning: Reasoning) -> Reasoning:
        """Return reasoning in words, unless it names a tool that is not there; words for no tool are no name."""
        if _IDENTIFIER.fullmatch(reasoning.tool):
            self._tool(reasoning.tool, "/tool")
        return reasoning


def _leaves(parameters: Sequence[Parameter], name: str) -> dict[str, tuple[str, Parameter]]:
    found: dict[str, tuple[str, Parameter]] = {}
    for parameter in parameters:
        own = f"{name}{parameter.name}"
        if parameter.kind is ParameterKind.OBJECT:
            found |= _leaves(parameter.members, f"{own}.")
        found.setdefault(own, (parameter.place, parameter))
    return found


def _sentence(value: JsonValue) -> str:
    return value[:_MAX_WORDS] if isinstance(value, str) else ""


def _sentences(value: JsonValue) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(text for item in items[:20] if (text := _sentence(item)))


def _words(asked: InputField, is_chinese: bool) -> str:
    name = asked.pointer.rpartition("/")[2].replace("_", " ")
    if isinstance(asked.schema, dict) and isinstance(description := asked.schema.get("description"), str):
        name = description.partition("\n")[0].rstrip(".。")[:120] or name
    if is_chinese:
        return f"请提供：{name}。" if asked.reason is InputReason.MISSING else f"请重新说明：{name}。"
    return f"Please give: {name}." if asked.reason is InputReason.MISSING else f"Please say again: {name}."


def _refused(at: str, message: str, candidates: tuple[str, ...] = ()) -> SkeletonRefused:
    return SkeletonRefused((plan_fault(FaultCode.INVALID_PLAN, at, message, candidates=candidates, actual=ABSENT),))
