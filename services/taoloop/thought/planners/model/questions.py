"""A request made ready for a language model: what is offered, what is said, and the form of the reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from taoloop.core.calls import DEFAULT_TENANT
from taoloop.models.ports import ChatMessage
from taoloop.plan.check_context import DEFAULT_LIMITS, CheckContext, PlanLimits
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.planners.known import SummaryRules
from taoloop.thought.planners.model.forms import ReplyForm, ReplyForms
from taoloop.thought.planners.model.offer import ALL_MODES, Mode, Offer, OfferedTool, Reason
from taoloop.thought.planners.model.prompts import Prompt, PromptSet, build_prompt, load_prompts, system_text
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import ToolSignature

DEFAULT_MAX_TOKENS: Final = 768


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRules:
    """How a model is asked.

    Attributes:
        prompts: The texts.
        reason: How much it says about its choice.
        modes: What it may decide.
        temperature: 0 takes the likeliest token each time.
        top_p: The share of likely tokens that is chosen from, above 0 and at most 1.
        max_output_tokens: Longest reply, where the form itself allows a longer one.
        limits: How large a plan may be.
        summary: When it plans no more calls.
    """

    prompts: PromptSet = field(default_factory=load_prompts)
    reason: Reason = Reason.BRIEF
    modes: frozenset[Mode] = ALL_MODES
    temperature: float = 0.05
    top_p: float = 1.0
    max_output_tokens: int = DEFAULT_MAX_TOKENS
    limits: PlanLimits = DEFAULT_LIMITS
    summary: SummaryRules = field(default_factory=SummaryRules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request, ready for any model.

    Attributes:
        request: The request.
        offer: What the model may point at.
        prompt: What it is told.
        form: What its reply has to look like.
        context: What its plan is checked against.
        seed: For sampling.
        tenant: Who pays for the model.
    """

    request: ThinkRequest
    offer: Offer
    prompt: Prompt
    form: ReplyForm
    context: CheckContext
    seed: int
    tenant: str = DEFAULT_TENANT

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        """The conversation as it begins."""
        return self.prompt.messages

    @property
    def estimated_tokens(self) -> int:
        """An estimate of the tokens of prompt and longest reply."""
        return self.prompt.estimated_tokens + self.form.max_tokens


class Questions:
    """Makes questions about one catalogue; safe to share between threads.

    What does not depend on the request is made once: each tool's numbered parameters, and for each set of offered
    tools the system message and the form of replies.

    Args:
        catalogue: The tools.
        rules: How a model is asked.
    """

    def __init__(self, catalogue: Catalogue, rules: QuestionRules) -> None:
        self._rules = rules
        signatures = catalogue.signatures()
        self._tools = {signature.name: OfferedTool.of(signature) for signature in signatures}
        self._places = {signature.name: place for place, signature in enumerate(signatures)}
        self._forms = ReplyForms(rules.max_output_tokens)
        self._systems: dict[tuple[str, ...], str] = {}

    @property
    def rules(self) -> QuestionRules:
        """How a model is asked."""
        return self._rules

    def __repr__(self) -> str:
        return f"<Questions {len(self._tools)} tools, {self._forms!r}>"

    def about(
        self, request: ThinkRequest, tools: Sequence[ToolSignature], context: CheckContext, seed: int
    ) -> Question:
        """Return a question; the tools are numbered in the catalogue's order, whatever order they come in.

        Args:
            request: What is to be thought about.
            tools: What is offered, tools of the catalogue.
            context: What a plan is checked against.
            seed: For sampling.
        """
        rules = self._rules
        ordered = sorted((tool.name for tool in tools), key=self._places.__getitem__)
        modes = rules.modes - {Mode.PLAN} if rules.summary.apply_to(request) else rules.modes
        offer = Offer.of([self._tools[name] for name in ordered], request, modes, rules.limits)
        reason = Reason.OFF if request.strict else rules.reason  # what is not written cannot be malformed
        prompt = build_prompt(rules.prompts, offer, request, reason, self._system(offer, reason))
        form = self._forms.of(offer, reason)
        return Question(request=request, offer=offer, prompt=prompt, form=form, context=context, seed=seed)

    def _system(self, offer: Offer, reason: Reason) -> str:
        names = (reason, *(tool.name for tool in offer.tools))
        kept = self._systems.get(names)
        if kept is None:
            kept = system_text(self._rules.prompts, offer, reason)
            if len(self._systems) >= _MAX_SYSTEMS:
                self._systems.clear()  # a new set of tools costs a millisecond: no need to know which was used last
            self._systems[names] = kept
        return kept


_MAX_SYSTEMS: Final = 256
"""How many system messages are kept; one has about 8 kB."""
