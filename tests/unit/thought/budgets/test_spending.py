"""A call is paid for before it is made, and the account is put right after it."""

from __future__ import annotations

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, BudgetExhausted
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.models.ports import ChatReply, TokenUsage
from taoloop.testing.clock import FakeClock
from taoloop.testing.tenant_budget import InMemoryTenantBudget
from taoloop.thought.budgets.model import Reservation, Spent, TokenFeatures
from taoloop.thought.budgets.redis_tenant_budget import BudgetSizes
from taoloop.thought.budgets.spending import Allowance, Spending, WhenSpent

PROMPT = TokenFeatures(prompt_tokens=1000)


class Away:
    """A store that does not answer."""

    async def reserve(self, tenant: str, token_seconds: float, deadline: Deadline) -> Reservation | Spent:
        raise BackendUnavailable("away")

    async def settle(self, reservation: Reservation, token_seconds: float, deadline: Deadline) -> None:
        raise BackendUnavailable("away")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry.build(TelemetrySettings(), "test")


def bucket(clock: FakeClock, size: float = 10_000.0) -> InMemoryTenantBudget:
    return InMemoryTenantBudget(BudgetSizes(token_seconds_per_minute=size), clock)


def reply(output: int, prompt: int = 1000) -> ChatReply:
    usage = TokenUsage(input_tokens=prompt, output_tokens=output)
    return ChatReply(text="{}", usage=usage, first_token_seconds=0.2)


async def asked(spending: Spending, clock: FakeClock, features: TokenFeatures = PROMPT) -> Allowance | Spent:
    return await spending.reserve("acme", "small", features, Deadline.after(5.0, clock))


async def allowed(spending: Spending, clock: FakeClock, features: TokenFeatures = PROMPT) -> Allowance:
    verdict = await asked(spending, clock, features)
    assert isinstance(verdict, Allowance)
    return verdict


async def test_a_cost_is_tokens_of_prompt_and_reply_times_seconds(clock: FakeClock, telemetry: Telemetry) -> None:
    spending = Spending(bucket(clock), telemetry, clock)
    for _ in range(60):
        await spending.settle("small", await allowed(spending, clock), reply(50), 0.69)
        clock.advance(60)
    allowance = await allowed(spending, clock)
    assert allowance.cost.tokens == 1050
    assert allowance.cost.seconds == pytest.approx(0.7, rel=0.01)
    assert allowance.reservation is not None
    assert allowance.reservation.token_seconds == pytest.approx(735, rel=0.01)


async def test_each_model_is_learned_apart(clock: FakeClock, telemetry: Telemetry) -> None:
    spending = Spending(None, telemetry, clock)
    await spending.settle("small", await allowed(spending, clock), reply(20), 0.5)
    assert spending.cost("small", PROMPT).tokens == 1020
    assert spending.cost("large", PROMPT).tokens == 1060


async def test_a_spent_budget_leads_to_the_next_planner(clock: FakeClock, telemetry: Telemetry) -> None:
    spending = Spending(bucket(clock, size=1200), telemetry, clock)
    await allowed(spending, clock)
    verdict = await asked(spending, clock)
    assert isinstance(verdict, Spent)
    assert 'taoloop_budget_refused_total{then="graph"} 1.0' in telemetry.metrics.exposition()


async def test_or_is_refused_with_the_time_to_come_back(clock: FakeClock, telemetry: Telemetry) -> None:
    spending = Spending(bucket(clock, size=1200), telemetry, clock, WhenSpent.REFUSE)
    await allowed(spending, clock)
    with pytest.raises(BudgetExhausted, match="'acme'") as refused:
        await asked(spending, clock)
    wait_seconds = refused.value.retry_after_seconds
    assert wait_seconds is not None
    assert 1.0 <= wait_seconds <= 60.0
    clock.advance(wait_seconds + 1)
    await allowed(spending, clock)


async def test_what_a_call_did_not_take_is_there_for_the_next(clock: FakeClock, telemetry: Telemetry) -> None:
    spending = Spending(bucket(clock, size=1200), telemetry, clock)
    for _ in range(5):
        await spending.settle("small", await allowed(spending, clock), reply(20), 0.1)


async def test_a_call_that_failed_costs_its_prompt_for_the_time_it_took(clock: FakeClock, telemetry: Telemetry) -> None:
    spending = Spending(bucket(clock, size=1200), telemetry, clock)
    await spending.settle("small", await allowed(spending, clock), None, 1.1)
    assert isinstance(await asked(spending, clock), Spent)


async def test_a_store_that_is_away_forbids_nothing_and_is_counted(clock: FakeClock, telemetry: Telemetry) -> None:
    spending = Spending(Away(), telemetry, clock)
    allowance = await allowed(spending, clock)
    assert allowance.reservation is None
    await spending.settle("small", Allowance(allowance.cost, PROMPT, Reservation("x", "acme", 1.0)), reply(9), 0.1)
    assert "taoloop_budget_unchecked_total 2.0" in telemetry.metrics.exposition()


async def test_a_server_that_counts_nothing_teaches_nothing(clock: FakeClock, telemetry: Telemetry) -> None:
    spending = Spending(None, telemetry, clock)
    before = spending.cost("small", PROMPT)
    await spending.settle("small", await allowed(spending, clock), ChatReply(text="{}"), 9.0)
    assert spending.cost("small", PROMPT) == before


async def test_by_how_much_estimates_missed_is_measured(clock: FakeClock, telemetry: Telemetry) -> None:
    spending = Spending(None, telemetry, clock)
    await spending.settle("small", await allowed(spending, clock), reply(72, prompt=1003), 0.5)
    told = telemetry.metrics.exposition()
    assert 'taoloop_budget_estimate_error_tokens_sum{part="output"} 12.0' in told
    assert 'taoloop_budget_estimate_error_tokens_sum{part="prompt"} 3.0' in told
