"""Makes the answer of a run from what its steps brought, or checks the one that a planner made."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import Fault, FaultCode
from taoloop.core.telemetry import Metrics, names
from taoloop.loop.answering.checking import AnswerCheck
from taoloop.loop.answering.facts import compose, data_of, remarks_of
from taoloop.loop.answering.findings import Findings, findings_of, latest_plan_of
from taoloop.loop.answering.fitting import fitted, violation_fault
from taoloop.loop.answering.model_wording import Left, ModelWording, Written
from taoloop.loop.answering.wording import ToolWords, may_be_in, words_of
from taoloop.loop.ports import ObservationPort
from taoloop.loop.state import RunState
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import Task, Usage
from taoloop.plan.thinking import Answer, AnswerOrigin
from taoloop.tools.schemas import CompiledSchema

UNGROUNDED: Final = "ungrounded"
"""Why a text was replaced: it says what no result has."""
UNCHECKED: Final = "unchecked"
"""Why a text was replaced: nobody could say whether it does."""
OTHER_LANGUAGE: Final = "other_language"
"""Why a text was replaced: it is not in the language of the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Why there is no answer, and what was consumed all the same.

    Attributes:
        fault: Why.
        usage: Of the language model that was asked; None when none was.
    """

    fault: Fault
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """What one answer is made of."""

    task: Task
    found: Findings
    words: Mapping[str, ToolWords]
    call: CallContext
    left: Left

    def after(self, usage: Usage | None) -> _Case:
        """Return the same with what is left when so much has been consumed."""
        spent = 0 if usage is None else usage.input_tokens + usage.output_tokens
        return replace(self, left=replace(self.left, tokens=self.left.tokens - spent))


class Answerer:
    """Answers in the user's language and, where the task has an output schema, in its form.

    Values come by code from the results, or a text is used only after the observation service found every one of its
    values there: what is not checked is replaced by the templates and the facts, and the answer says so.

    Args:
        observation: Checks the texts of models and planners; None lets none of them pass.
        wording: The language model that words answers; None for answers by code alone.
        with_templates: Whether tools' own templates are used; else the facts are listed.
        metrics: Where it is counted; None counts nothing.
    """

    def __init__(
        self,
        observation: ObservationPort | None = None,
        wording: ModelWording | None = None,
        *,
        with_templates: bool = True,
        metrics: Metrics | None = None,
    ) -> None:
        self._check = AnswerCheck(observation)
        self._wording = wording
        self._with_templates = with_templates
        counted = metrics or Metrics()
        self._answers = counted.counter(names.ANSWERS)
        self._replaced = counted.counter(names.ANSWERS_REPLACED)

    def __repr__(self) -> str:
        return f"Answerer({self._wording!r}, with_templates={self._with_templates})"

    async def of_plan(
        self, state: RunState, plan: ThoughtPlan, tools: KnownTools, call: CallContext
    ) -> Answer | Unanswered:
        """Return the answer to a plan whose steps have run, or why there is none."""
        return await self._worded(_case(state, tools, call, [step.step_id for step in plan.steps]))

    async def of_planner(
        self, state: RunState, answer: Answer, tools: KnownTools, call: CallContext
    ) -> Answer | Unanswered:
        """Return what a planner answered as it may leave, or why it may not.

        An answer of facts only says which results hold it: it is worded here, as one to a plan is. Any other text is
        checked, and replaced where it does not hold.
        """
        case = _case(state, tools, call, latest_plan_of(state.steps.values()), tells_earlier=True)
        named = {source.step_id for source in answer.grounding}
        spoken = tuple(record for record in case.found.spoken if record.step_id in named)
        spoken = spoken or tuple(record for record in case.found.known if record.step_id in named)
        if spoken:
            case = replace(case, found=replace(case.found, spoken=spoken))
        if answer.origin is AnswerOrigin.FACTS and case.found.known:
            return await self._worded(case)
        grounding = await self._check.of_text(answer.text, case.found.known, case.task, case.call)
        if not isinstance(grounding, Fault):
            origin = answer.origin or AnswerOrigin.MODEL
            text, data = _with_remarks(answer.text, case), data_of(case.found.spoken)
            kept = replace(answer, text=text, data=data, grounding=grounding, origin=origin)
            return await self._in_form(kept if case.found.spoken else replace(kept, data=ABSENT), case)
        if not case.found.known:
            return Unanswered(fault=grounding)
        self._note(grounding)
        return await self._in_form(replace(self._by_code(case), replaced=grounding), case)

    async def _worded(self, case: _Case) -> Answer | Unanswered:
        answer = self._by_code(case)
        if self._wording is not None and case.found.known:
            written = await self._wording.written(case.task, case.found.known, case.words, case.left)
            answer = await self._by_model(answer, written, case)
        return await self._in_form(answer, case)

    def _by_code(self, case: _Case) -> Answer:
        return compose(case.found, case.words, case.task.locale, with_templates=self._with_templates)

    async def _by_model(self, by_code: Answer, written: Written, case: _Case) -> Answer:
        """Return the model's text with what has to be said besides, or the answer by code in its place."""
        if not written.text:
            self._replaced.labels(written.reason).inc()
            return replace(by_code, usage=written.usage)
        grounding = await self._check.of_text(written.text, case.found.known, case.task, case.call)
        if isinstance(grounding, Fault):
            self._note(grounding)
            return replace(by_code, replaced=grounding, usage=written.usage)
        if not may_be_in(case.task.locale, written.text):
            self._replaced.labels(OTHER_LANGUAGE).inc()
            return replace(by_code, usage=written.usage)
        return replace(
            by_code,
            text=_with_remarks(written.text, case),
            grounding=grounding,
            origin=AnswerOrigin.MODEL,
            usage=written.usage,
        )

    async def _in_form(self, answer: Answer, case: _Case) -> Answer | Unanswered:
        """Return the answer with its data in the form that the task asks for, or why it cannot be had in it."""
        schema = case.task.output_schema
        if isinstance(schema, dict):
            data = fitted(case.found.spoken, answer.data, schema, case.task.locale)
            if isinstance(data, Fault):
                data, usage = await self._filled(data, schema, case.after(answer.usage))
                answer = replace(answer, usage=_together(answer.usage, usage))
            if isinstance(data, Fault):
                return Unanswered(fault=_with_what_was_done(data, case), usage=answer.usage)
            answer = replace(answer, data=data)
        self._answers.labels((answer.origin or AnswerOrigin.FACTS).value).inc()
        return answer

    async def _filled(
        self, misfit: Fault, schema: dict[str, JsonValue], case: _Case
    ) -> tuple[JsonValue | Fault, Usage | None]:
        """Return the form as the model fills it, where every value of it rests on a result; else the misfit."""
        if self._wording is None or not case.found.known:
            return misfit, None
        written = await self._wording.filled(case.task, case.found.known, case.words, schema, case.left)
        if not written.text:
            self._replaced.labels(written.reason).inc()
            return misfit, written.usage
        violations = CompiledSchema.compile(schema).violations(written.data)
        if violations:
            first = violations[0]
            return violation_fault(first.pointer, first.message, first.expected, first.actual), written.usage
        fault = await self._check.of_data(written.data, schema, case.found.known, case.task, case.call)
        if fault is not None:
            self._note(fault)
            return fault, written.usage
        return written.data, written.usage

    def _note(self, fault: Fault) -> None:
        self._replaced.labels(UNGROUNDED if fault.code == FaultCode.ANSWER_UNGROUNDED else UNCHECKED).inc()


def _case(
    state: RunState, tools: KnownTools, call: CallContext, plan_steps: Sequence[str], *, tells_earlier: bool = False
) -> _Case:
    words = words_of((record.tool for record in state.steps.values()), tools.by_name)
    limits, used = state.task.limits, state.usage.input_tokens + state.usage.output_tokens
    most = limits.max_tokens if limits is not None and limits.max_tokens > 0 else sys.maxsize
    return _Case(
        task=state.task,
        found=findings_of(state.steps.values(), plan_steps, state.corrections.made, tells_earlier=tells_earlier),
        words=words,
        call=call,
        left=Left(call.deadline, most - used),
    )


def _with_what_was_done(fault: Fault, case: _Case) -> Fault:
    """Return the fault with a warning where the run has changed something: who asks again would have it done twice."""
    tools = (case.words.get(record.tool) for record in case.found.known)
    done = [tool.what for tool in tools if tool is not None and tool.is_writing]
    if not done:
        return fault
    warning = f"What was done is not undone, so do not ask for it again: {', '.join(dict.fromkeys(done))}."
    return replace(fault, suggestion=f"{fault.suggestion} {warning}".strip())


def _with_remarks(text: str, case: _Case) -> str:
    return "\n".join((text, *remarks_of(case.found, case.words, case.task.locale)))


def _together(one: Usage | None, two: Usage | None) -> Usage | None:
    if one is None or two is None:
        return one or two
    return one.plus(two)
