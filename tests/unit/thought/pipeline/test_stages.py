"""A stage is a span and a duration, whatever becomes of it."""

from __future__ import annotations

import asyncio

import pytest

from taoloop.core.telemetry.names import Attribute
from taoloop.plan.check_context import CheckContext, PlanLimits
from taoloop.plan.model import ThoughtPlan
from taoloop.thought.pipeline.stages import Stage
from tests.unit.thought.pipeline.rig import Rig
from tests.unit.thought.pipeline.test_pipeline import plan_of
from tests.unit.thought.planners.model.tools import FIND, request_of


def counted(rig: Rig, stage: Stage, outcome: str) -> bool:
    return f'taoloop_thought_stage_duration_seconds_count{{outcome="{outcome}",stage="{stage}"}} 1.0' in rig.shown()


@pytest.mark.parametrize("stage", list(Stage))
def test_a_stage_is_told_under_its_name(stage: Stage) -> None:
    rig = Rig()

    with rig.stages.of(stage, {Attribute.THOUGHT_ATTEMPT: 2}) as run:
        rig.clock.advance(0.3)
        run.outcome = "done"

    told = rig.span(f"thought {stage}")
    assert told == {
        "taoloop.thought.stage": stage.value,
        "taoloop.thought.stage.outcome": "done",
        "taoloop.thought.attempt": 2,
    }
    assert counted(rig, stage, "done")
    assert f'taoloop_thought_stage_duration_seconds_sum{{outcome="done",stage="{stage}"}} 0.3' in rig.shown()


def test_a_stage_that_breaks_is_an_error() -> None:
    rig = Rig()

    with pytest.raises(RuntimeError), rig.stages.of(Stage.SELECT):
        raise RuntimeError("a fault of ours")

    assert counted(rig, Stage.SELECT, "error")
    assert rig.span("thought select")["error.type"] == "RuntimeError"


def test_a_stage_whose_caller_went_away_is_abandoned() -> None:
    rig = Rig()

    with pytest.raises(asyncio.CancelledError), rig.stages.of(Stage.PLAN):
        raise asyncio.CancelledError

    assert counted(rig, Stage.PLAN, "abandoned")


def check(rig: Rig, plan: ThoughtPlan, limits: PlanLimits) -> bool:
    context = CheckContext(tools={"find_guest": FIND}, turns=request_of().turns, limits=limits)
    return rig.stages.check(plan, context).is_valid


def test_a_check_tells_its_verdict_and_counts_what_is_too_large() -> None:
    rig = Rig()

    assert check(rig, plan_of(), PlanLimits())
    assert not check(rig, plan_of("find_guest", "2.t1", "2.t2"), PlanLimits(max_steps=1))

    assert counted(rig, Stage.CHECK, "ok")
    assert counted(rig, Stage.CHECK, "refused")
    assert rig.span("thought check")["taoloop.fault.code"] == "PLAN_TOO_LARGE"
    assert "taoloop_plan_too_large_total 1.0" in rig.shown()
