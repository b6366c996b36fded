"""When every result is doubtful a person decides, and no answer is given."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.core.faults import FaultCode
from taoloop.plan.task import Outcome
from taoloop.testing.services import ScriptedAction, ScriptedObservation, ScriptedThought
from tests.unit.loop.driving import Run, plan, step

TOOLS: Any = {"find": {"status": "paid"}, "search": {"status": "paid"}}


@pytest.mark.parametrize(
    ("doubtful", "outcome"),
    [
        ((), Outcome.ANSWERED),
        (("search",), Outcome.ANSWERED),
        (("find", "search"), Outcome.NEEDS_HUMAN),
    ],
)
async def test_a_person_decides_only_when_all_results_are_doubtful(doubtful: tuple[str, ...], outcome: Outcome) -> None:
    thought = ScriptedThought(plan(step("1.t1", "find"), step("1.t2", "search")))
    run = Run(thought, ScriptedAction(TOOLS), ScriptedObservation(doubtful_tools=frozenset(doubtful)))

    state = await run.drive()

    assert state.finished is not None
    assert state.finished.outcome is outcome
    assert (state.answer is None) is (outcome is Outcome.NEEDS_HUMAN)


async def test_the_fault_names_the_results() -> None:
    observation = ScriptedObservation(doubtful_tools=frozenset({"find"}))
    state = await Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction(TOOLS), observation).drive()

    assert state.finished is not None
    assert state.finished.fault is not None
    assert state.finished.fault.code == FaultCode.DECISION_BY_PERSON_NEEDED
    assert "1.t1" in state.finished.fault.message


async def test_an_optional_step_that_failed_is_no_result() -> None:
    thought = ScriptedThought(plan(step("1.t1", "find"), step("1.t2", "search", optional=True)))
    observation = ScriptedObservation(invalid_tools=frozenset({"search"}))

    state = await Run(thought, ScriptedAction(TOOLS), observation).drive()

    assert state.finished is not None
    assert state.finished.outcome is Outcome.ANSWERED
