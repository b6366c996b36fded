"""Asks one language model once: its reply, read, expanded and checked, or why there is nothing to use."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.faults import Fault
from taoloop.core.telemetry.names import Attribute
from taoloop.core.telemetry.tracing import mark_failed
from taoloop.models.metering import prompt_sha256
from taoloop.models.ports import ChatMessage, ChatReply, ChatRequest, ModelFailed, ModelFailureKind, TokenUsage
from taoloop.plan.task import Usage
from taoloop.thought.budgets.model import Spent
from taoloop.thought.budgets.spending import Allowance, Call, Spending
from taoloop.thought.parsing import ChatMessageText
from taoloop.thought.pipeline.ports import PlanningModel
from taoloop.thought.pipeline.stages import REFUSED, Stage, Stages
from taoloop.thought.planners.model.expansion import Expansion, SkeletonRefused
from taoloop.thought.planners.model.interpreting import interpret
from taoloop.thought.planners.model.questions import Question, QuestionRules

OVER_BUDGET: Final = "budget"
"""Why a model was not asked: its tenant has spent its budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What came of asking once: an expansion, the faults of the reply, or a failure of the server.

    Attributes:
        expansion: What the reply comes to; None when it is of no use.
        faults: Why the reply is of no use; empty when it is, and when there is none.
        failure: How the model failed to reply; None when it replied.
        said: The reply.
        usage: What it consumed.
        seed: What the model sampled with; 0 when it takes no seed.
        is_over_budget: Whether it was not asked since its tenant's budget does not hold the call.
    """

    expansion: Expansion | None = None
    faults: tuple[Fault, ...] = ()
    failure: ModelFailureKind | None = None
    said: str = ""
    usage: Usage
    seed: int = 0
    is_over_budget: bool = False

    @property
    def reason(self) -> str:
        """Why it is of no use, in one word: a kind of failure, the code of the first fault, or `budget`."""
        if self.is_over_budget:
            return OVER_BUDGET
        if self.failure is not None:
            return self.failure.value
        return str(self.faults[0].code) if self.faults else ""


class Asking:
    """Asks models; a model that is away, slow, or says nonsense is an attempt that failed, never an exception.

    Args:
        rules: How they are asked.
        stages: Tell of it.
        clock: Measures the calls.
        spending: Keeps them within budgets; None for no budgets.
    """

    def __init__(self, rules: QuestionRules, stages: Stages, clock: Clock, spending: Spending | None = None) -> None:
        self._rules = rules
        self._stages = stages
        self._clock = clock
        self._spending = spending

    async def ask(
        self, planning: PlanningModel, question: Question, deadline: Deadline, said: Sequence[ChatMessage] = ()
    ) -> Attempt:
        """Ask once.

        Args:
            planning: Who is asked.
            question: What for.
            deadline: When the reply is of no use any more; the model's own timeout counts besides.
            said: What was said since the question: a reply and its faults for each time before.

        Raises:
            BudgetExhausted: The tenant's budget does not hold the call, and such thoughts are refused.
        """
        asked = self._request(question, said)
        allowance = await self._allowed(planning, question, asked, deadline)
        if isinstance(allowance, Spent):
            return Attempt(is_over_budget=True, usage=Usage())
        started = self._clock.monotonic()
        reply = await self._replied(planning, question, asked, deadline)
        seconds = self._clock.monotonic() - started
        if self._spending is not None and allowance is not None:
            answer = None if isinstance(reply, ModelFailed) else reply
            await self._spending.settle(planning.rung.value, allowance, answer, seconds)
        if isinstance(reply, ModelFailed):
            return Attempt(failure=reply.kind, usage=_usage(TokenUsage(), seconds))
        # Reading a megabyte of nonsense takes seconds, which other thoughts of this process must not wait for.
        read = await asyncio.to_thread(self._expanded, reply, question)
        usage, seed = _usage(reply.usage, seconds), reply.seed or 0
        if isinstance(read, Expansion):
            return Attempt(expansion=read, said=reply.text, usage=usage, seed=seed)
        return Attempt(faults=read, said=reply.text, usage=usage, seed=seed)

    async def _allowed(
        self, planning: PlanningModel, question: Question, asked: ChatRequest, deadline: Deadline
    ) -> Allowance | Spent | None:
        if self._spending is None:
            return None
        call = Call(
            tenant=question.tenant,
            model=planning.rung.value,  # two servers may give their models one name
            request=question.request,
            asked=asked,
            tools=len(question.offer.tools),
            reckoned_tokens=_reckoned(question, asked),
        )
        return await self._spending.allow(call, deadline)

    def _request(self, question: Question, said: Sequence[ChatMessage]) -> ChatRequest:
        return ChatRequest(
            messages=(*question.messages, *said),
            max_tokens=question.form.max_tokens,
            temperature=0.0 if question.request.strict else self._rules.temperature,
            top_p=self._rules.top_p,
            seed=question.seed,
            form=question.form.form,
            attempt=1 + len(said) // 2,
        )

    async def _replied(
        self, planning: PlanningModel, question: Question, asked: ChatRequest, deadline: Deadline
    ) -> ChatReply | ModelFailed:
        prompt = question.prompt
        attributes = {
            Attribute.THOUGHT_RUNG: planning.rung.value,
            Attribute.THOUGHT_ATTEMPT: asked.attempt,
            Attribute.THOUGHT_TOOLS_OFFERED: len(question.offer.tools),
            Attribute.REQUEST_MODEL: planning.model.name,
            Attribute.PROMPT_VERSION: prompt.version,
            Attribute.PROMPT_DIGEST: prompt.digest,
            Attribute.PROMPT_SHA256: prompt_sha256(asked.messages),
            Attribute.PROMPT_STABLE_SHARE: round(prompt.stable_share, 3),
        }
        with self._stages.of(Stage.PLAN, attributes) as run:
            try:
                return await planning.model.complete(asked, deadline)
            except ModelFailed as failed:
                run.outcome = failed.kind.value
                mark_failed(run.span, failed.kind.value)
                return failed

    def _expanded(self, reply: ChatReply, question: Question) -> Expansion | tuple[Fault, ...]:
        message = ChatMessageText(content=reply.text, reasoning=reply.reasoning, finish_reason=reply.finish_reason)
        with self._stages.of(Stage.EXPAND) as run:
            try:
                expansion = interpret(message, question.offer, question.request, question.context, self._stages.check)
            except SkeletonRefused as refused:
                run.outcome = REFUSED
                run.span.set_attribute(Attribute.FAULT_CODE, refused.faults[0].code)
                return refused.faults
            if expansion.repairs:
                run.span.set_attribute(Attribute.REPLY_REPAIRS, sorted(repair.value for repair in expansion.repairs))
            return expansion


def _reckoned(question: Question, asked: ChatRequest) -> int:
    """Return the tokens of what is asked, as many for each character as the question's own have."""
    own, all_said = (sum(len(one.content) for one in messages) for messages in (question.messages, asked.messages))
    return max(1, question.prompt.estimated_tokens * all_said // max(1, own))


def _usage(tokens: TokenUsage, seconds: float) -> Usage:
    return Usage(
        input_tokens=tokens.input_tokens,
        output_tokens=tokens.output_tokens,
        cached_input_tokens=tokens.cached_tokens,
        model_calls=1,
        model_time_seconds=seconds,
    )
