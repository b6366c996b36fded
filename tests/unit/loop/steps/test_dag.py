"""The order of steps: for any plan and any failures each step ends once, and for the right reason."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue
from taoloop.plan.acting import ActionResult, ExecuteRequest
from taoloop.plan.graph import ancestors
from taoloop.plan.model import PlanStep
from taoloop.plan.running import ResultObserved, StepSkipped, StepStarted
from taoloop.testing.services import ScriptedAction
from tests.unit.loop.steps.stepping import FAILED, Stepping, said


@dataclass(frozen=True, slots=True)
class Case:
    """A plan, the steps whose tools fail, those whose conditions are false, and what is optional."""

    depends_on: dict[str, tuple[str, ...]]
    failing: frozenset[str]
    left_out: frozenset[str]
    optional: frozenset[str]
    max_parallel: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    ids = [f"1.t{n}" for n in range(draw(st.integers(1, 8)))]
    after = {
        step_id: tuple(draw(st.lists(st.sampled_from(ids[:n]), max_size=3, unique=True))) if n else ()
        for n, step_id in enumerate(ids)
    }
    some = st.frozensets(st.sampled_from(ids))
    order = draw(st.permutations(ids))
    return Case(
        {step_id: after[step_id] for step_id in order}, draw(some), draw(some), draw(some), draw(st.integers(1, 4))
    )


def planned(case: Case, step_id: str) -> PlanStep:
    return PlanStep(
        step_id=step_id,
        tool="find",
        bindings=(said(step_id),),
        depends_on=case.depends_on[step_id],
        when={"var": f"state.{step_id.replace('.', '_')}"},
        optional=step_id in case.optional,
    )


def is_met(case: Case, earlier: str, ends: dict[str, str]) -> bool:
    """Tell whether a step may run as far as this earlier one goes; no step takes anything of another here."""
    return ends[earlier] == "succeeded" or (ends[earlier] == "left out" and earlier in case.optional)


def expected(case: Case) -> dict[str, str]:
    """Return how each step has to end, by the rules alone."""
    ends: dict[str, str] = {}
    for step_id in sorted(case.depends_on):
        broken = [ends[each] for each in case.depends_on[step_id] if not is_met(case, each, ends)]
        if broken:
            ends[step_id] = "left out" if set(broken) == {"left out"} else "skipped"
        elif step_id in case.left_out:
            ends[step_id] = "left out"
        else:
            ends[step_id] = "failed" if step_id in case.failing else "succeeded"
    return ends


@settings(max_examples=60, deadline=None)
@given(cases())
def test_every_step_ends_once_and_for_the_right_reason(case: Case) -> None:
    asyncio.run(_check(case))


async def _check(case: Case) -> None:
    async def find(request: ExecuteRequest) -> ActionResult | JsonValue:
        await asyncio.sleep(0)
        return FAILED if request.step_id in case.failing else {"n": 1}

    state: JsonValue = {step_id.replace(".", "_"): step_id not in case.left_out for step_id in case.depends_on}
    run = Stepping(ScriptedAction({"find": find}), *(planned(case, each) for each in case.depends_on), state=state)
    run.max_parallel_steps = case.max_parallel
    await run.run()
    bodies = await run.bodies()

    assert {step_id: _end(run, step_id) for step_id in case.depends_on} == expected(case)

    assert Counter(_ended(bodies)) == Counter(list(case.depends_on))
    _check_order(case, bodies)
    _check_causes(case, run)


def _end(run: Stepping, step_id: str) -> str:
    record = run.writer.state.steps[step_id]
    if record.is_left_out:
        return "left out"
    if record.skipped is not None:
        return "skipped"
    return "succeeded" if record.has_succeeded else "failed"


def _ended(bodies: Sequence[object]) -> Iterator[str]:
    for body in bodies:
        if isinstance(body, StepSkipped):
            yield body.step_id
        elif isinstance(body, ResultObserved) and body.result is not None:
            yield body.result.step_id


def _check_order(case: Case, bodies: Sequence[object]) -> None:
    """A step starts after all that it depends on has ended."""
    ended: set[str] = set()
    for body in bodies:
        match body:
            case StepStarted(step_id=step_id):
                assert set(case.depends_on[step_id]) <= ended
            case StepSkipped(step_id=step_id):
                ended.add(step_id)
            case ResultObserved(result=result) if result is not None:
                ended.add(result.step_id)


def _check_causes(case: Case, run: Stepping) -> None:
    """A step that was skipped names a step before it that failed, or was left out, by itself."""
    for step_id, record in run.writer.state.steps.items():
        skipped = record.skipped
        if skipped is None or not skipped.cause_step_id:
            continue
        assert skipped.cause_step_id in ancestors(case.depends_on, step_id)
        cause = _end(run, skipped.cause_step_id)
        assert cause == ("failed" if skipped.code == "UPSTREAM_STEP_FAILED" else "left out")
