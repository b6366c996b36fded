"""Asks a language model about one planning case, with the product's own prompt, form and reading of the reply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.evaluation.planning.cases import PlanningCase
from taoloop.evaluation.planning.predicting import decision, request_of, signatures
from taoloop.models.ports import ChatModel, ChatReply, ChatRequest, ModelFailed, ModelFailureKind, TokenUsage
from taoloop.plan.check_context import DEFAULT_LIMITS
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.parsing import ChatMessageText
from taoloop.thought.planners.model.expansion import SkeletonRefused
from taoloop.thought.planners.model.forms import ReplyForms
from taoloop.thought.planners.model.interpreting import interpret
from taoloop.thought.planners.model.offer import ALL_MODES, Offer, OfferedTool
from taoloop.thought.planners.model.prompts import build_prompt
from taoloop.thought.planners.model.questions import QuestionRules

UNUSABLE: Final = "unusable"
"""The kind of a prediction where the reply was of no use; it is never right."""

_AWAY: Final = frozenset({ModelFailureKind.UNREACHABLE, ModelFailureKind.NOT_READY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of asking about one case.

    Attributes:
        prediction: `id`, `kind` and what belongs to the kind.
        failure: Why the reply is of no use: a kind of failure or the code of a fault; empty when it is of use.
        usage: What the reply took.
        seconds: From the question to the decision, waiting for the server's other work included.
    """

    prediction: dict[str, Any]
    failure: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    seconds: float = 0.0


class CaseAsker:
    """Asks one model about cases, once each: nothing is repaired and nobody else is asked.

    Args:
        model: Who is asked.
        rules: How it is asked.
        clock: Measures.
        timeout_seconds: How long one reply may take.
    """

    def __init__(self, model: ChatModel, rules: QuestionRules, clock: Clock, timeout_seconds: float) -> None:
        self._model = model
        self._rules = rules
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._forms = ReplyForms(rules.max_output_tokens, capacity=1)

    @property
    def identity(self) -> str:
        """Who plans and how it is asked, in one line: predictions with the same one can be put together."""
        rules = self._rules
        prompts = f"prompts {rules.prompts.version} {rules.prompts.digest[:12]}"
        form = self._model.profile.structured_output.value
        return f"{self._model.name}, {form}, {prompts}, reasoning {rules.reason.value}, t {rules.temperature}"

    async def ask(self, case: PlanningCase) -> Asked:
        """Return what the model makes of a case.

        Raises:
            BackendUnavailable: The server is away: that says nothing about the model.
        """
        request = request_of(case)
        tools = [OfferedTool.of(signature) for signature in signatures(case.tools)]
        offer = Offer.of(tools, request, ALL_MODES, DEFAULT_LIMITS)
        began = self._clock.monotonic()
        try:
            reply = await self._model.complete(
                self._asked(offer, request), Deadline.after(self._timeout_seconds, self._clock)
            )
        except ModelFailed as failed:
            if failed.kind in _AWAY:
                raise BackendUnavailable(failed.message, metadata={"failure": failed.kind.value}) from failed
            return self._unusable(case, failed.kind.value, TokenUsage(), began)
        return self._read(case, offer, request, reply, began)

    def _asked(self, offer: Offer, request: ThinkRequest) -> ChatRequest:
        prompt = build_prompt(self._rules.prompts, offer, request, self._rules.reason)
        form = self._forms.of(offer, self._rules.reason)
        return ChatRequest(
            messages=prompt.messages,
            max_tokens=form.max_tokens,
            temperature=self._rules.temperature,
            top_p=self._rules.top_p,
            seed=1,
            form=form.form,
        )

    def _read(self, case: PlanningCase, offer: Offer, request: ThinkRequest, reply: ChatReply, began: float) -> Asked:
        message = ChatMessageText(content=reply.text, reasoning=reply.reasoning, finish_reason=reply.finish_reason)
        try:
            outcome = interpret(message, offer, request).outcome
        except SkeletonRefused as refused:
            return self._unusable(case, str(refused.faults[0].code), reply.usage, began)
        seconds = self._clock.monotonic() - began
        return Asked(prediction={"id": case.id, **decision(outcome)}, usage=reply.usage, seconds=seconds)

    def _unusable(self, case: PlanningCase, failure: str, usage: TokenUsage, began: float) -> Asked:
        seconds = self._clock.monotonic() - began
        return Asked(prediction={"id": case.id, "kind": UNUSABLE}, failure=failure, usage=usage, seconds=seconds)
