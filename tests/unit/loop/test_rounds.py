"""What a person says begins a round of its own: nobody is asked whose answer could not be followed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taoloop.plan.model import Binding, QuerySpan
from taoloop.plan.running import LimitReached, RunResumed
from taoloop.plan.task import InputField, Limits, Outcome, ProvidedInput, Usage
from taoloop.plan.thinking import NeedInput, ThinkResponse
from taoloop.testing.services import ScriptedAction, ScriptedThought
from tests.unit.loop.correction.correcting import REFUSED, failed, reactions, weather
from tests.unit.loop.driving import Run, ended, plan, step

NEED = NeedInput(input_id="i" * 32, fields=(InputField(pointer="/order_id", tool="find"),))


def asking(usage: Usage | None = None) -> Run:
    thoughts = (ThinkResponse(outcome=NEED, usage=usage), plan(step("2.t1", "find")))
    return Run(ScriptedThought(*thoughts), ScriptedAction({"find": {"n": 1}}))


async def answered(run: Run) -> None:
    given = ProvidedInput(input_id=NEED.input_id, values={"/order_id": "A1"})
    await run.writer.emit(RunResumed(reason="input", input=given))


async def limits(run: Run) -> list[str]:
    return [body.limit for body in await run.bodies() if isinstance(body, LimitReached)]


async def test_an_answer_is_followed_though_the_thoughts_were_used_up_when_it_was_asked_for() -> None:
    run = asking()
    assert ended(await run.drive(Limits(max_iterations=1))) == (Outcome.NEEDS_INPUT, "")

    await answered(run)

    assert ended(await run.go_on()) == (Outcome.ANSWERED, "")
    assert run.writer.state.usage.iterations == 2
    assert await limits(run) == []


async def test_the_time_before_an_answer_is_not_that_of_what_follows() -> None:
    run = asking()
    await run.drive(Limits(max_wall_time_seconds=2.0))
    run.writer.state.active_seconds = 1.9
    await answered(run)
    assert run.writer.state.seconds_of_round(run.clock.now()) < 1.0


async def test_each_answer_may_be_followed_by_as_many_thoughts_as_a_run_may_have_and_no_more() -> None:
    run = Run(ScriptedThought(*[ThinkResponse(outcome=NEED)] * 3), ScriptedAction({}))
    for number in range(3):
        state = await (run.go_on() if number else run.drive(Limits(max_iterations=1)))
        assert ended(state) == (Outcome.NEEDS_INPUT, "")
        await answered(run)
    assert len(run.thought.requests) == 3


async def test_nobody_is_asked_for_a_value_when_the_tokens_are_used_up() -> None:
    run = asking(Usage(input_tokens=90, output_tokens=10))

    state = await run.drive(Limits(max_tokens=100))

    assert ended(state) == (Outcome.LIMIT_REACHED, "LIMIT_REACHED")
    assert await limits(run) == ["max_tokens"]
    assert state.question is None


@pytest.mark.parametrize(
    ("spent", "outcome", "limit"),
    [
        (Usage(), Outcome.NEEDS_INPUT, []),
        (Usage(input_tokens=1000), Outcome.FAILED, ["max_tokens"]),
    ],
    ids=["enough", "spent"],
)
async def test_another_value_is_asked_for_only_where_a_thought_may_follow(
    spent: Usage, outcome: Outcome, limit: list[str]
) -> None:
    run = weather(REFUSED, "火星")
    city = Binding(pointer="/city", source=QuerySpan(turn=0, start=11, end=13, text="火星"))
    run.thought = ScriptedThought(replace(plan(step("1.t1", "get_weather", (), city)), usage=spent))

    state = await run.drive()

    assert state.finished is not None
    assert state.finished.outcome is outcome
    assert await limits(run) == limit
    assert list(state.limits_reached) == limit


async def test_tokens_that_bar_another_plan_are_told_as_the_limit() -> None:
    spent = ThinkResponse(outcome=plan(step("1.t1", "find")).outcome, usage=Usage(output_tokens=1000))
    run = Run(ScriptedThought(spent), ScriptedAction({"find": failed("UPSTREAM_UNAVAILABLE")}))

    state = await run.drive()

    assert ended(state) == (Outcome.FAILED, "UPSTREAM_UNAVAILABLE")
    assert await reactions(run) == ["fail"]
    assert await limits(run) == ["max_tokens"]
    assert state.limits_reached == ("max_tokens",)
