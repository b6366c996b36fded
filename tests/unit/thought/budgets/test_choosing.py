"""The cheapest model that a request fits is asked, and a run does not go to and fro between two."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatReply, ChatRequest
from taoloop.models.profiles.model import ModelProfile, Price
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.budgets.choosing import CheapestThatFits, ChoiceRules
from taoloop.thought.pipeline.ports import PlanningModel
from taoloop.thought.pipeline.rungs import Rung
from taoloop.thought.pipeline.selecting import Selection


@dataclass
class Silent:
    """A model that nobody asks here."""

    name: str = "m"
    profile: ModelProfile = field(default_factory=ModelProfile)

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        raise NotImplementedError


def priced(each: str, *, context: int = 8192) -> ModelProfile:
    price = Price(
        currency="CNY",
        input_per_million=Decimal(each),
        cached_input_per_million=Decimal(each),
        output_per_million=Decimal(each),
    )
    return ModelProfile(price=price, context_tokens=context)


def model(rung: Rung, profile: ModelProfile) -> PlanningModel:
    return PlanningModel(rung=rung, model=Silent(profile=profile), timeout_seconds=1.0)


def ladder(first: ModelProfile, stronger: ModelProfile) -> list[PlanningModel]:
    return [model(Rung.MODEL, first), model(Rung.STRONGER_MODEL, stronger)]


def chosen(
    choice: CheapestThatFits, models: list[PlanningModel], prompt_tokens: int = 1000, run_id: str = "r"
) -> Rung | None:
    selection = Selection(tools=(), left_out={}, needed_by={})
    return choice.choose(models, selection, ThinkRequest(run_id=run_id, iteration=1), prompt_tokens)


@pytest.mark.parametrize(("first", "stronger", "rung"), [("1", "9", Rung.MODEL), ("9", "1", Rung.STRONGER_MODEL)])
def test_the_cheaper_one_is_asked(first: str, stronger: str, rung: Rung) -> None:
    assert chosen(CheapestThatFits(ChoiceRules()), ladder(priced(first), priced(stronger))) is rung


def test_equal_prices_and_none_keep_the_order_of_the_ladder() -> None:
    choice = CheapestThatFits(ChoiceRules())
    assert chosen(choice, ladder(ModelProfile(), ModelProfile())) is Rung.MODEL
    assert chosen(choice, ladder(priced("1"), ModelProfile())) is Rung.STRONGER_MODEL


def test_a_model_whose_context_the_prompt_and_reply_exceed_is_not_asked() -> None:
    choice = CheapestThatFits(ChoiceRules(reply_tokens=100))
    models = ladder(priced("1", context=1099), priced("9", context=1100))
    assert chosen(choice, models, 1000) is Rung.STRONGER_MODEL
    assert chosen(choice, models, 1001) is None


def test_a_long_prompt_begins_with_the_stronger_model() -> None:
    choice = CheapestThatFits(ChoiceRules(stronger_above_tokens=2000))
    models = ladder(priced("1"), priced("9"))
    assert chosen(choice, models, 2000) is Rung.MODEL
    assert chosen(choice, models, 2001, run_id="other") is Rung.STRONGER_MODEL
    assert chosen(choice, models[:1], 5000) is Rung.MODEL


def test_a_run_near_the_bound_stays_where_it_is() -> None:
    choice = CheapestThatFits(ChoiceRules(stronger_above_tokens=2000, hysteresis=0.1))
    models = ladder(priced("1"), priced("9"))
    lengths = [1900, 2100, 2199, 2201, 1900, 1801, 1799, 2100]
    rungs = [chosen(choice, models, length) for length in lengths]
    low, high = Rung.MODEL, Rung.STRONGER_MODEL
    assert rungs == [low, low, low, high, high, high, low, low]


def test_runs_are_forgotten_so_that_they_fill_no_memory() -> None:
    choice = CheapestThatFits(ChoiceRules(stronger_above_tokens=2000))
    models = ladder(priced("1"), priced("9"))
    assert chosen(choice, models, 2001, run_id="first") is Rung.STRONGER_MODEL
    for number in range(10_000):
        chosen(choice, models, 1, run_id=str(number))
    assert chosen(choice, models, 1900, run_id="first") is Rung.MODEL
