"""Calls that bring nothing new are not made again: a good result serves once more, a bad one ends the step."""

from __future__ import annotations

from taoloop.core.exact_json import JsonValue
from taoloop.loop.steps.repeats import first_good, is_repeated
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest
from taoloop.plan.model import PlanStep
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import LimitReached
from taoloop.testing.services import ScriptedAction
from taoloop.tools.signature import Effect
from tests.unit.loop.steps.stepping import FAILED, Stepping, data_of, fault_of, said

SPELLINGS = ("travel expenses", "Travel  expenses", "travel-expenses!", "ＴＲＡＶＥＬ expenses", "TRAVEL EXPENSES")


def searches(*texts: str) -> tuple[PlanStep, ...]:
    return tuple(
        PlanStep(step_id=f"1.t{n}", tool="find", bindings=(said(text),), depends_on=(f"1.t{n - 1}",) if n else ())
        for n, text in enumerate(texts)
    )


async def test_a_search_in_another_spelling_with_the_same_result_is_served_from_the_first() -> None:
    run = Stepping(ScriptedAction({"find": {"hits": []}}), *searches(*SPELLINGS))
    state = await run.run()
    assert len(run.called) == 3
    assert data_of(state, "1.t4") == {"hits": []}
    assert (state.steps["1.t3"].same_as, state.steps["1.t4"].same_as) == ("1.t0", "1.t0")
    limits = [body for body in await run.bodies() if isinstance(body, LimitReached)]
    assert limits == [LimitReached(limit="max_equal_calls", value=3.0)] * 2
    sample = {"tool": "find", "outcome": "served"}
    assert run.metrics.registry.get_sample_value("taoloop_repeated_calls_total", sample) == 2.0


async def test_searches_of_one_plan_in_other_words_are_all_made() -> None:
    texts = ("red shirt", "red shirt long", "red shirt short", "red shirt wide", "shirt red")
    run = Stepping(ScriptedAction({"find": {"in_stock": True}}), *searches(*texts))
    await run.run()
    assert len(run.called) == 5


def test_a_search_that_later_thoughts_word_otherwise_is_a_loop_and_no_result_of_another_wording_serves() -> None:
    records = [
        made(f"{n}.t1", text)
        for n, text in enumerate(("travel expenses", "expenses travel", "travel expenses please"), 1)
    ]
    again: JsonValue = {"q": "travel expenses please now"}
    assert is_repeated(records, PlanStep(step_id="4.t1", tool="find"), again, 3)
    assert not is_repeated(records, PlanStep(step_id="4.t1", tool="find"), {"q": "sick leave"}, 3)
    assert first_good(records, "find", again) is None
    assert first_good(records, "find", {"q": "Travel Expenses"}) is records[0]


def made(step_id: str, text: str) -> StepRecord:
    action = ActionResult(step_id=step_id, tool="find", status=ActionStatus.SUCCEEDED, parsed={"hits": []})
    observation = ObservationResult(step_id=step_id, tool="find", valid=True)
    return StepRecord(step_id, "find", arguments={"q": text}, action=action, observation=observation)


async def test_a_result_that_moves_is_no_loop() -> None:
    async def next_page(request: ExecuteRequest) -> JsonValue:
        return {"page": len(run.called) // 2}

    run = Stepping(ScriptedAction({"find": next_page}), *searches(*SPELLINGS))
    await run.run()
    assert len(run.called) == 5


async def test_searches_for_other_things_are_no_loop() -> None:
    texts = ("hotels in Paris", "hotels in Rome", "hotels in Milan", "hotels in Turin")
    run = Stepping(ScriptedAction({"find": {"hits": []}}), *searches(*texts))
    await run.run()
    assert len(run.called) == 4


async def test_two_calls_in_turn_are_found_as_one_alone_is() -> None:
    in_turn = ["red wine", "white bread"] * 4
    # Spelt differently each time, so that none is shared.
    run = Stepping(ScriptedAction({"find": {"hits": []}}), *searches(*(f"{q}{'!' * n}" for n, q in enumerate(in_turn))))
    await run.run()
    assert len(run.called) == 6


async def test_a_call_that_fails_alike_is_not_made_a_fourth_time() -> None:
    steps = tuple(PlanStep(step_id=f"1.t{n}", tool="find", bindings=(said("x"),)) for n in range(5))
    run = Stepping(ScriptedAction({"find": FAILED}), *steps)
    state = await run.run()
    assert len(run.called) == 3
    assert sorted(fault_of(state, step.step_id) for step in steps)[:2] == [("LOOP_DETECTED", "max_equal_calls")] * 2


async def test_a_write_is_never_served_from_an_earlier_one() -> None:
    async def pay(request: ExecuteRequest) -> ActionResult | JsonValue:
        return {"paid": True}

    steps = tuple(
        PlanStep(step_id=f"1.t{n}", tool="pay", bindings=(said("x"),), depends_on=(f"1.t{n - 1}",) if n else ())
        for n in range(4)
    )
    run = Stepping(ScriptedAction({"pay": pay}), *steps, effects={"pay": Effect.WRITE})
    state = await run.run()
    assert fault_of(state, "1.t3")[0] == "LOOP_DETECTED"


async def test_calls_of_one_tool_are_limited() -> None:
    run = Stepping(ScriptedAction({"find": {}}), *searches(*(f"no. {n}" for n in range(12))))
    state = await run.run()
    assert len(run.called) == 10
    assert fault_of(state, "1.t10") == ("LIMIT_REACHED", "max_calls_per_tool")
