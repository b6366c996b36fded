"""Plans that are checked and then run by the loop, with tools that succeed or fail as the case says."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, Final

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.evaluation.cases.adapters.loops import PlayedAction, new_telemetry, runs_on_doubles, task_with
from taoloop.evaluation.cases.adapters.plans.checks import catalogue_of, checked, refused_plan, text_of
from taoloop.evaluation.cases.adapters.plans.references import StatedValues, plan_in_product_form
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.loop.state import RunState
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, ServedBy
from taoloop.plan.form.json_form import plan_from_text
from taoloop.plan.model import ThoughtPlan
from taoloop.testing.clock import FakeClock
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.tools.signature import Trust

_FAILURES: Final[Mapping[str, tuple[ActionStatus, FaultCode]]] = {
    "error": (ActionStatus.FAILED, FaultCode.TOOL_ERROR),
    "failed": (ActionStatus.FAILED, FaultCode.TOOL_ERROR),
    "timeout": (ActionStatus.TIMED_OUT, FaultCode.TOOL_TIMEOUT),
}
_SUCCESSES: Final = frozenset({"ok", "success", "succeeded"})
_RUN_SECONDS: Final = 20.0


async def _run(case_input: CaseInput) -> Said:
    outcomes, results = case_input.get("outcomes", {}), case_input.get("results", {})
    unknown = sorted(str(word) for word in outcomes.values() if word not in {*_FAILURES, *_SUCCESSES})
    if unknown:
        raise Unsupported(f"an outcome is {', '.join([*_FAILURES, *sorted(_SUCCESSES)])}, not {unknown[0]}")
    stated = StatedValues()
    form = plan_in_product_form(case_input["plan"], stated)
    text = text_of(form)
    response = checked(text, catalogue_of(case_input.get("tools", _tools_of(form))), stated.as_state())
    if not response.valid:
        return refused_plan(response)
    plan = plan_from_text(text)
    state, order = await _driven(plan, stated.as_state(), outcomes, results)
    return {
        "outcome": "accepted",
        "states": {step.step_id: _word(state.steps[step.step_id]) for step in plan.steps},
        "causes": {step_id: record.fault.cause_step_id for step_id, record in state.steps.items() if record.fault},
        "order": order,
        "executed": bool(order),
        "executions": len(order),
    }


def _tools_of(form: Any) -> list[str]:
    steps = form.get("steps") if isinstance(form, dict) else None
    found = (step.get("tool") for step in steps or () if isinstance(step, dict))
    return list(dict.fromkeys(tool for tool in found if isinstance(tool, str)))


async def _driven(
    plan: ThoughtPlan, state: dict[str, JsonValue], outcomes: Mapping[str, str], results: Mapping[str, JsonValue]
) -> tuple[RunState, list[str]]:
    """Run the plan to its end; return how every step ended and the ids of the steps in the order of their calls."""

    async def play(request: ExecuteRequest) -> ActionResult:
        return _result(request, outcomes.get(request.step_id, "ok"), results.get(request.step_id, {}))

    clock, telemetry = FakeClock(is_impatient=True), new_telemetry()
    action = PlayedAction(tuple(step.tool for step in plan.steps), play)
    run_state = RunState("")
    call = CallContext(deadline=Deadline.after(_RUN_SECONDS, clock))
    async with (
        runs_on_doubles(plan, action, InMemoryRunLog(), telemetry, clock) as loop,
        aclosing(loop.runs.run(task_with(state), "digest", call)) as events,
    ):
        async for event in events:
            run_state.apply(event)
    await telemetry.aclose()
    return run_state, [request.step_id for request in action.requests]


def _result(request: ExecuteRequest, outcome: str, data: JsonValue) -> ActionResult:
    if outcome in _SUCCESSES:
        return ActionResult(
            step_id=request.step_id,
            tool=request.tool,
            status=ActionStatus.SUCCEEDED,
            parsed=data,
            served_by=ServedBy.PRIMARY,
            trust=Trust.TRUSTED,
        )
    status, code = _FAILURES[outcome]
    fault = Fault(code=code, stage=FaultStage.ACTION, message=code.meaning)
    return ActionResult(step_id=request.step_id, tool=request.tool, status=status, fault=fault, trust=Trust.TRUSTED)


def _word(record: StepRecord) -> str:
    if record.has_succeeded:
        return "succeeded"
    return "skipped" if record.skipped is not None else "failed"


PLAN_RUN = Adapter(feed=_run, required=("plan",), optional=("tools", "outcomes", "results"))
