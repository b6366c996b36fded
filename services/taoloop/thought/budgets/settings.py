"""Settings of the budgets of language models."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from taoloop.core.settings import SettingsGroup
from taoloop.thought.budgets.choosing import ChoiceRules
from taoloop.thought.budgets.redis_tenant_budget import BudgetSizes
from taoloop.thought.budgets.spending import WhenSpent

_CHOICE = ChoiceRules()


class Estimator(StrEnum):
    """How the length of a reply is estimated."""

    MEAN = "mean"
    """The mean of the replies of late."""
    BOOSTED = "boosted"
    """Gradient-boosted trees on what is known of the request."""


class BudgetSettings(SettingsGroup):
    """What each tenant may have language models do, and which of them is asked."""

    enabled: bool = Field(default=True, description="Whether tenants have budgets; lengths are estimated either way.")
    token_seconds_per_minute: float = Field(
        default=10_000.0,
        gt=0.0,
        le=1e12,
        description="What a tenant's bucket holds and gains in a minute: tokens of prompt and reply times seconds.",
    )
    tenants: dict[str, Annotated[float, Field(gt=0.0, le=1e12)]] = Field(
        default={},
        description="The same for tenants with a figure of their own, by name, each above 0.",
        max_length=10_000,
    )
    when_spent: WhenSpent = Field(
        default=WhenSpent.GRAPH,
        description="What becomes of a thought beyond it: `graph`, the graph planner's own reply; `refuse`, "
        "BUDGET_EXHAUSTED with the seconds to wait.",
    )
    estimator: Estimator = Field(
        default=Estimator.MEAN,
        description="How the length of a reply is estimated: `mean`, or `boosted`, which needs the extra `estimator`.",
    )
    stronger_above_tokens: int = Field(
        default=_CHOICE.stronger_above_tokens,
        ge=0,
        le=10_000_000,
        description="A longer prompt begins with the stronger model; 0 for no such bound.",
    )
    hysteresis: float = Field(
        default=_CHOICE.hysteresis,
        ge=0.0,
        le=1.0,
        description="By what share a prompt must pass that bound, either way, to change a run's model.",
    )

    def sizes(self) -> BudgetSizes:
        """Return how much each tenant may use."""
        return BudgetSizes(token_seconds_per_minute=self.token_seconds_per_minute, tenants=self.tenants)

    def choice(self) -> ChoiceRules:
        """Return by what a model is chosen."""
        return ChoiceRules(stronger_above_tokens=self.stronger_above_tokens, hysteresis=self.hysteresis)
