"""Reserves what a call of a model will take before it is made, and settles it by what it took."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, BudgetExhausted
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import Telemetry, names
from taoloop.models.ports import ChatReply, ChatRequest
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.budgets.counting import PromptLengths
from taoloop.thought.budgets.estimating import Pace, RunningMean
from taoloop.thought.budgets.model import Cost, Reservation, Spent, TokenFeatures, features_of
from taoloop.thought.budgets.ports import TenantBudget, TokenEstimator

_PATIENCE_SECONDS: Final = 0.25
"""How long a budget is asked for: a store that is away must not cost a thought its time."""

_log: Final = EventLog(__name__)


class WhenSpent(StrEnum):
    """What becomes of a thought whose tenant has spent its budget."""

    GRAPH = "graph"
    """The graph planner's own reply is taken, which costs no tokens."""
    REFUSE = "refuse"
    """The caller is told when to come back."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Leave to make one call, with what it is reckoned to take.

    Attributes:
        cost: As estimated.
        features: What it was estimated from.
        reckoned_tokens: Length of the prompt as reckoned by its characters; 0 when it was not.
        reservation: What was set aside for it; None where no budget is kept, or its store is away.
    """

    cost: Cost
    features: TokenFeatures
    reservation: Reservation | None
    reckoned_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a model that is about to be made.

    Attributes:
        tenant: Who pays.
        model: Who is asked, by its rung: two servers may give their models one name.
        request: What is to be thought about.
        asked: What the model is told.
        tools: How many tools are offered.
        reckoned_tokens: Length of the prompt as reckoned by its characters, at least 1.
    """

    tenant: str
    model: str
    request: ThinkRequest
    asked: ChatRequest
    tools: int
    reckoned_tokens: int


@dataclass(slots=True)
class _Learned:
    """What is known of one model's replies."""

    estimator: TokenEstimator
    pace: Pace = field(default_factory=Pace)


class Spending:
    """Keeps each tenant's calls of language models within its budget; safe for concurrent use.

    Args:
        budget: The store; None for no budgets, so that estimates are kept alone.
        telemetry: Where estimates and refusals are told.
        clock: For the store's patience.
        when_spent: What becomes of a call that the budget does not hold.
        lengths: Tells how long prompts are; by characters alone when left out.
        estimators: Of replies, by model; the running mean where there is none.
    """

    def __init__(
        self,
        budget: TenantBudget | None,
        telemetry: Telemetry,
        clock: Clock,
        when_spent: WhenSpent = WhenSpent.GRAPH,
        lengths: PromptLengths | None = None,
        estimators: Mapping[str, TokenEstimator] | None = None,
    ) -> None:
        self._budget = budget
        self._clock = clock
        self._when_spent = when_spent
        self._lengths = lengths or PromptLengths()
        self._learned = {model: _Learned(estimator) for model, estimator in (estimators or {}).items()}
        metrics = telemetry.metrics
        self._refused = metrics.counter(names.BUDGET_REFUSED)
        self._unchecked = metrics.counter(names.BUDGET_UNCHECKED)
        self._reserved = metrics.counter(names.BUDGET_TOKEN_SECONDS)
        self._errors = metrics.histogram(names.BUDGET_ESTIMATE_ERROR)

    def __repr__(self) -> str:
        return f"<Spending {self._budget!r} when spent: {self._when_spent}>"

    def cost(self, model: str, features: TokenFeatures) -> Cost:
        """Return what a call of a model is reckoned to take."""
        learned = self._of(model)
        tokens = learned.estimator.estimate(features)
        return Cost(tokens=features.prompt_tokens + tokens, seconds=learned.pace.seconds(tokens))

    async def allow(self, call: Call, deadline: Deadline) -> Allowance | Spent:
        """Set aside what a call will take, once its prompt is counted.

        Raises:
            BudgetExhausted: See `reserve`.
        """
        tokens = await self._lengths.tokens(call.model, call.asked.messages, call.reckoned_tokens, deadline)
        features = features_of(call.request, call.asked, tokens, call.tools)
        verdict = await self.reserve(call.tenant, call.model, features, deadline)
        if isinstance(verdict, Spent):
            return verdict
        return replace(verdict, reckoned_tokens=call.reckoned_tokens)

    async def reserve(self, tenant: str, model: str, features: TokenFeatures, deadline: Deadline) -> Allowance | Spent:
        """Set aside what a call will take.

        A store that is away forbids nothing: the queue stands on the same one, and what protects a server from too
        much work must not be what stops it.

        Raises:
            BudgetExhausted: The budget does not hold it, and such calls are refused; it says when to come back.
        """
        cost = self.cost(model, features)
        if self._budget is None:
            return Allowance(cost, features, None)
        try:
            patience = deadline.shortened(_PATIENCE_SECONDS)
            verdict = await self._budget.reserve(tenant, cost.token_seconds, patience)
        except BackendUnavailable as error:
            self._unchecked.inc()
            _log.warning("budget_not_asked", reason=error.reason)
            return Allowance(cost, features, None)
        if isinstance(verdict, Reservation):
            self._reserved.labels("reserved").inc(verdict.token_seconds)
            return Allowance(cost, features, verdict)
        self._refused.labels(self._when_spent.value).inc()
        _log.info("budget_spent", tenant=tenant, model=model, wait_seconds=round(verdict.wait_seconds, 1))
        if self._when_spent is WhenSpent.REFUSE:
            raise _exhausted(tenant, cost, verdict)
        return verdict

    async def settle(self, model: str, allowance: Allowance, reply: ChatReply | None, seconds: float) -> None:
        """Put a reservation right, and learn from the reply; a call that was cancelled keeps what was reserved.

        Args:
            model: Who was asked.
            allowance: What `reserve` gave.
            reply: What came; None when nothing did, which took the time and the prompt at most.
            seconds: How long it took.
        """
        tokens = allowance.features.prompt_tokens
        if reply is not None:
            tokens = (reply.usage.input_tokens or tokens) + reply.usage.output_tokens
            self._learn(model, allowance, reply, seconds)
        taken = tokens * seconds
        if self._budget is None or allowance.reservation is None:
            return
        try:
            deadline = Deadline.after(_PATIENCE_SECONDS, self._clock)
            await self._budget.settle(allowance.reservation, taken, deadline)
            self._reserved.labels("used").inc(taken)
        except BackendUnavailable as error:
            self._unchecked.inc()
            _log.warning("budget_not_settled", reason=error.reason)

    def _learn(self, model: str, allowance: Allowance, reply: ChatReply, seconds: float) -> None:
        output = reply.usage.output_tokens
        if not output:
            return  # the server counts nothing
        learned = self._of(model)
        estimate = allowance.cost.tokens - allowance.features.prompt_tokens
        self._errors.labels("output").observe(abs(output - estimate))
        if reply.usage.input_tokens:
            self._errors.labels("prompt").observe(abs(reply.usage.input_tokens - allowance.features.prompt_tokens))
            if allowance.reckoned_tokens:
                self._lengths.learn(model, allowance.reckoned_tokens, reply.usage.input_tokens)
        learned.estimator.learn(allowance.features, output)
        learned.pace.learn(output, seconds, reply.first_token_seconds)

    def _of(self, model: str) -> _Learned:
        learned = self._learned.get(model)
        if learned is None:
            learned = self._learned[model] = _Learned(RunningMean())
        return learned


def _exhausted(tenant: str, cost: Cost, spent: Spent) -> BudgetExhausted:
    wait_seconds = max(1, math.ceil(spent.wait_seconds))
    return BudgetExhausted(
        f"The budget of tenant {tenant!r} does not hold {cost.token_seconds:.0f} token-seconds now; retry in "
        f"{wait_seconds} s.",
        metadata={
            "tenant": tenant,
            "token_seconds": f"{cost.token_seconds:.0f}",
            "tokens": str(cost.tokens),
            "seconds": f"{cost.seconds:.2f}",
        },
        retry_after_seconds=float(wait_seconds),
    )
