"""Steps with a condition: run when it holds, left out when it does not, failed when nobody can tell."""

from __future__ import annotations

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.plan.model import PlanStep
from taoloop.plan.running import StepSkipped
from taoloop.testing.services import ScriptedAction, ScriptedObservation
from tests.unit.loop.steps.stepping import Stepping, fault_of, of

IS_VIP: JsonValue = {"===": [{"var": "steps.1.who.level"}, "vip"]}
WHO = PlanStep(step_id="1.who", tool="customer")
TOOLS: dict[str, JsonValue] = {"orders": {"n": 2}, "mail": {"sent": True}}


def orders(**more: object) -> PlanStep:
    return PlanStep(step_id="1.orders", tool="orders", depends_on=("1.who",), when={"!": [IS_VIP]}, **more)  # type: ignore[arg-type]


def stepping(level: JsonValue, *steps: PlanStep) -> Stepping:
    return Stepping(ScriptedAction({"customer": {"level": level}, **TOOLS}), WHO, *steps)


async def test_a_step_runs_when_its_condition_holds() -> None:
    run = stepping("basic", orders())
    state = await run.run()
    assert run.called == [("1.who", "customer"), ("1.orders", "orders")]
    assert state.steps["1.orders"].has_succeeded


async def test_a_step_whose_condition_is_false_is_left_out_and_that_is_no_failure() -> None:
    run = stepping("vip", orders())
    state = await run.run()
    assert run.called == [("1.who", "customer")]
    record = state.steps["1.orders"]
    assert (record.is_left_out, record.is_done, record.has_succeeded, record.fault) == (True, True, False, None)
    (skipped,) = [body for body in await run.bodies() if isinstance(body, StepSkipped)]
    assert skipped.fault is not None
    assert skipped.fault.code == "CONDITION_NOT_MET"
    assert [each.step_id for each in state.completed()] == ["1.who"]


async def test_what_depends_on_a_step_that_is_left_out_is_left_out_too_with_its_cause() -> None:
    mail = PlanStep(step_id="1.mail", tool="mail", depends_on=("1.orders",), bindings=(of("1.orders", "/n"),))
    after = PlanStep(step_id="1.after", tool="mail", depends_on=("1.mail",))
    state = await stepping("vip", orders(), mail, after).run()
    for step_id in ("1.mail", "1.after"):
        skipped = state.steps[step_id].skipped
        assert skipped is not None
        assert (skipped.code, skipped.cause_step_id) == ("CONDITION_NOT_MET", "1.orders")


async def test_what_only_comes_after_an_optional_step_goes_on_without_it() -> None:
    mail = PlanStep(step_id="1.mail", tool="mail", depends_on=("1.orders",))
    fed = PlanStep(step_id="1.fed", tool="mail", depends_on=("1.orders",), bindings=(of("1.orders", "/n"),))
    state = await stepping("vip", orders(optional=True), mail, fed).run()
    assert state.steps["1.mail"].has_succeeded
    assert state.steps["1.fed"].is_left_out


async def test_a_failure_says_more_than_a_condition_that_was_false() -> None:
    bad = PlanStep(step_id="1.bad", tool="mail")
    both = PlanStep(step_id="1.both", tool="orders", depends_on=("1.orders", "1.bad"))
    run = Stepping(
        ScriptedAction({"customer": {"level": "vip"}, **TOOLS}),
        WHO,
        orders(),
        bad,
        both,
        observation=ScriptedObservation(frozenset({"mail"})),
    )
    skipped = (await run.run()).steps["1.both"].skipped
    assert skipped is not None
    assert (skipped.code, skipped.cause_step_id) == ("UPSTREAM_STEP_FAILED", "1.bad")


@pytest.mark.parametrize(
    "when",
    [
        {">": [{"var": "steps.1.who.age"}, 17]},
        {">": [{"/": [1, {"var": "steps.1.who.zero"}]}, 1]},
        {"===": [{"var": "steps.1.none.x"}, 1]},
    ],
)
async def test_a_condition_that_nobody_can_judge_lets_nothing_pass(when: JsonValue) -> None:
    step = PlanStep(step_id="1.t", tool="orders", depends_on=("1.who",), when=when)
    run = Stepping(ScriptedAction({"customer": {"level": "vip", "zero": 0}, **TOOLS}), WHO, step)
    state = await run.run()
    assert fault_of(state, "1.t") == ("CONDITION_UNDECIDED", "/when")
    assert not state.steps["1.t"].is_left_out
    assert ("1.t", "orders") not in run.called


async def test_a_condition_may_hang_on_the_state_alone() -> None:
    step = PlanStep(step_id="1.t", tool="orders", when={"var": "state.is_new"})
    assert (await Stepping(ScriptedAction(TOOLS), step, state={"is_new": True}).run()).steps["1.t"].has_succeeded
    assert (await Stepping(ScriptedAction(TOOLS), step, state={"is_new": False}).run()).steps["1.t"].is_left_out
