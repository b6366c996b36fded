"""Chooses the cheapest language model that a request fits, and stays with it while it hardly matters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from taoloop.models.ports import TokenUsage
from taoloop.models.profiles.model import ModelProfile
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.pipeline.ports import PlanningModel
from taoloop.thought.pipeline.rungs import Rung
from taoloop.thought.pipeline.selecting import Selection

_MAX_RUNS: Final = 10_000
"""Runs whose last model is remembered; an older one is chosen for anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRules:
    """By what a model is chosen.

    Attributes:
        stronger_above_tokens: A longer prompt begins with the stronger model; 0 for no such bound.
        hysteresis: By what share of the bound a prompt must pass it, either way, to change a run's model, 0 to 1.
            Without it a run near the bound would go to and fro, and each model would read its prompt anew.
        reply_tokens: What a reply is reckoned to have when prices are compared.
    """

    stronger_above_tokens: int = 0
    hysteresis: float = 0.1
    reply_tokens: int = 64


class CheapestThatFits:
    """A `ModelChoice`: of the models whose context holds prompt and reply, the cheapest; then the bound on length.

    A model without a price costs nothing by the token: one's own server. Equal prices keep the ladder's order.

    Args:
        rules: By what is chosen.
    """

    def __init__(self, rules: ChoiceRules) -> None:
        self._rules = rules
        self._is_stronger: OrderedDict[str, bool] = OrderedDict()

    def __repr__(self) -> str:
        return f"<CheapestThatFits {self._rules!r}>"

    def choose(
        self, models: Sequence[PlanningModel], selection: Selection, request: ThinkRequest, prompt_tokens: int
    ) -> Rung | None:
        """See `ModelChoice.choose`; None when no model's context holds the prompt."""
        del selection  # how many tools there are is in the prompt's length
        wanted = prompt_tokens + self._rules.reply_tokens
        fitting = [each for each in models if each.model.profile.context >= wanted]
        if not fitting:
            return None
        stronger = next((each for each in fitting if each.rung is Rung.STRONGER_MODEL), None)
        if self._wants_stronger(request.run_id, prompt_tokens) and stronger is not None:
            return stronger.rung
        return min(fitting, key=lambda each: self._price(each.model.profile, prompt_tokens)).rung

    def _wants_stronger(self, run_id: str, prompt_tokens: int) -> bool:
        bound = self._rules.stronger_above_tokens
        if not bound:
            return False
        before = self._is_stronger.pop(run_id, None)
        share = {True: -self._rules.hysteresis, False: self._rules.hysteresis, None: 0.0}[before]
        is_longer = prompt_tokens > bound * (1 + share)
        self._is_stronger[run_id] = is_longer
        if len(self._is_stronger) > _MAX_RUNS:
            self._is_stronger.popitem(last=False)
        return is_longer

    def _price(self, profile: ModelProfile, prompt_tokens: int) -> Decimal:
        if profile.price is None:
            return Decimal(0)
        return profile.price.of(TokenUsage(input_tokens=prompt_tokens, output_tokens=self._rules.reply_tokens))
