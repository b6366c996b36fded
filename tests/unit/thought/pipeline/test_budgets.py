"""Within the pipeline a spent budget is data: the next planner decides, or the caller is told when to come back."""

from __future__ import annotations

import pytest

from taoloop.core.errors import BudgetExhausted
from taoloop.models.ports import TokenUsage
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.thinking import Escalation
from taoloop.testing.tenant_budget import InMemoryTenantBudget
from taoloop.thought.budgets.model import TokenFeatures
from taoloop.thought.budgets.redis_tenant_budget import BudgetSizes
from taoloop.thought.budgets.spending import Spending, WhenSpent
from tests.unit.thought.pipeline.rig import AWAY, BAD, GOOD, NO_TOOL, Rig, reply
from tests.unit.thought.planners.model.tools import request_of

LARGE = 1_000_000.0
SECONDS = 2.0


def rig_with(size: float = LARGE, when_spent: WhenSpent = WhenSpent.GRAPH) -> Rig:
    rig = Rig(reply_seconds=SECONDS)
    budget = InMemoryTenantBudget(BudgetSizes(token_seconds_per_minute=size, tenants={"poor": 1.0}), rig.clock)
    rig.spending = Spending(budget, rig.telemetry, rig.clock, when_spent)
    return rig


def counted(rig: Rig, name: str, state: str) -> float:
    line = next(line for line in rig.shown().splitlines() if line.startswith(f'{name}{{state="{state}"}}'))
    return float(line.split()[-1])


async def test_a_call_is_paid_by_tokens_times_seconds() -> None:
    rig = rig_with()

    thought = await rig.pipeline([reply(GOOD, usage=TokenUsage(900, 20))]).think(request_of(), rig.deadline())

    assert isinstance(thought.outcome, ThoughtPlan)
    assert counted(rig, "taoloop_budget_token_seconds_total", "used") == pytest.approx(920 * SECONDS)


async def test_a_spent_budget_leads_to_the_graph_planner_and_blames_no_model() -> None:
    rig = rig_with()
    pipeline = rig.pipeline([GOOD], [GOOD])

    for _ in range(2):
        await pipeline.think(request_of(), rig.deadline(), "poor")
    thought = await pipeline.think(request_of(), rig.deadline(), "poor")

    assert thought.outcome is NO_TOOL
    assert 'taoloop_thought_fallbacks_total{reason="budget",rung="model"}' in rig.shown()
    assert 'rung="stronger_model"' not in rig.shown()
    assert isinstance((await pipeline.think(request_of(), rig.deadline(), "rich")).outcome, ThoughtPlan)


async def test_or_to_a_refusal_with_the_time_to_come_back() -> None:
    rig = rig_with(when_spent=WhenSpent.REFUSE)
    pipeline = rig.pipeline([GOOD])
    await pipeline.think(request_of(), rig.deadline(), "poor")

    with pytest.raises(BudgetExhausted) as refused:
        await pipeline.think(request_of(), rig.deadline(), "poor")

    assert refused.value.retry_after_seconds is not None
    assert refused.value.metadata["tenant"] == "poor"


async def test_a_repair_is_a_call_of_its_own_with_a_longer_prompt() -> None:
    rig = rig_with()
    usage = TokenUsage(0, 20)

    await rig.pipeline([reply(BAD, usage=usage), reply(GOOD, usage=usage)]).think(request_of(), rig.deadline())

    first, second = rig.chats[0].requests
    assert sum(len(one.content) for one in second.messages) > sum(len(one.content) for one in first.messages)
    used = counted(rig, "taoloop_budget_token_seconds_total", "used")
    assert used > 2 * SECONDS * 20


async def test_a_call_that_failed_is_settled_so_that_it_holds_nothing_back() -> None:
    rig = rig_with()

    await rig.pipeline([AWAY]).think(request_of(), rig.deadline())

    assert counted(rig, "taoloop_budget_token_seconds_total", "used") > 0


async def test_a_sure_graph_planner_spends_nothing() -> None:
    rig = rig_with()

    await rig.pipeline().think(request_of(), rig.deadline(), "poor")

    assert 'state="reserved"' not in rig.shown()


async def test_a_plan_that_was_refused_and_not_repaired_for_want_of_budget_goes_to_a_person() -> None:
    rig = rig_with(size=0.001)

    thought = await rig.pipeline([BAD]).think(request_of(), rig.deadline())

    assert isinstance(thought.outcome, Escalation)
    assert 'taoloop_thought_repairs_total{outcome="budget"} 1.0' in rig.shown()


async def test_models_of_one_name_are_learned_apart() -> None:
    rig = rig_with()
    slow, quick = reply(BAD, usage=TokenUsage(900, 300)), reply(GOOD, usage=TokenUsage(900, 20))

    await rig.pipeline([slow], [quick]).think(request_of(), rig.deadline(seconds=200.0))

    assert rig.spending is not None
    prompt = TokenFeatures(prompt_tokens=1000)
    assert rig.spending.cost("model", prompt).tokens == 1300
    assert rig.spending.cost("stronger_model", prompt).tokens == 1020
