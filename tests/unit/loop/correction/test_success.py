"""A run is answered when something succeeded and every required step of its plan did, and never otherwise."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from taoloop.plan.task import Outcome
from taoloop.testing.services import ScriptedAction, ScriptedObservation, ScriptedThought
from tests.unit.loop.correction.correcting import LATE, failed, first, listed, tool
from tests.unit.loop.driving import Run, plan, step

WELL: dict[str, Any] = {"n": 1}
PLAYS: dict[str, Any] = {
    "well": lambda: WELL,
    "late once": lambda: first(LATE, WELL),
    "late": lambda: LATE,
    "down": lambda: failed("UPSTREAM_UNAVAILABLE", retriable=True),
    "failed": lambda: failed("TOOL_ERROR"),
    "refused": lambda: failed("UPSTREAM_REFUSED"),
    "malformed": lambda: WELL,
    "forbidden": lambda: failed("TOOL_NOT_ALLOWED"),
    "for a person": lambda: failed("CREDENTIAL_MISSING"),
}


@given(seed=st.integers(0, 2**32))
async def test_only_a_plan_whose_required_steps_succeeded_is_answered(seed: int) -> None:
    random = Random(seed)
    count = random.randint(1, 5)
    plays = [random.choices(list(PLAYS), [8, *[1] * (len(PLAYS) - 1)])[0] for _ in range(count)]
    steps = [
        replace(
            step(f"1.t{n}", f"tool{n}", tuple(f"1.t{m}" for m in range(n) if random.random() < 0.3)),
            optional=random.random() < 0.3,
        )
        for n in range(count)
    ]
    tools = listed(*(tool(f"tool{n}") for n in range(count)))
    malformed = frozenset(f"tool{n}" for n, play in enumerate(plays) if play == "malformed")
    action = ScriptedAction({f"tool{n}": PLAYS[play]() for n, play in enumerate(plays)}, tools)
    run = Run(ScriptedThought(plan(*steps)), action, ScriptedObservation(invalid_tools=malformed))

    state = await run.drive()

    assert state.finished is not None
    required = [each.step_id for each in steps if not each.optional]
    succeeded = {step_id for step_id, record in state.steps.items() if record.has_succeeded}
    has_succeeded = bool(succeeded) and succeeded.issuperset(required)
    is_answered = state.finished.outcome is Outcome.ANSWERED
    assert is_answered is has_succeeded, (plays, steps)
    assert (state.answer is not None) is is_answered
