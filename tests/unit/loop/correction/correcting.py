"""Runs whose tools and thoughts fail as they are told to, and what was done about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, ExecuteRequest, ToolSummary
from taoloop.plan.model import Binding, QuerySpan, StepOutput
from taoloop.plan.running import CorrectionMade
from taoloop.plan.task import Usage
from taoloop.plan.thinking import Escalation, ThinkResponse
from taoloop.testing.services import ListedTools, ScriptedAction, ScriptedObservation, ScriptedThought
from tests.unit.loop.driving import Run, plan, step

Answering = Callable[[ExecuteRequest], Awaitable[ActionResult | JsonValue]]


CITY: JsonValue = {
    "type": "string",
    "x-taoloop-vocabulary": {"CN-Shanghai": ["shanghai", "上海"], "CN-Beijing": ["beijing", "北京"]},
}


def fault(code: str, *, retriable: bool = False, **more: Any) -> Fault:
    return Fault(code=code, stage=FaultStage.ACTION, message=f"It is {code}.", retriable=retriable, **more)


def failed(code: str, *, attempts: int = 1, status: ActionStatus = ActionStatus.FAILED, **more: Any) -> ActionResult:
    made = tuple(Attempt(start=START, outcome=code) for _ in range(attempts))
    return ActionResult(step_id="", tool="", status=status, fault=fault(code, **more), attempts=made)


START = Run(ScriptedThought(), ScriptedAction({})).clock.now()


LATE = failed("TOOL_TIMEOUT", retriable=True)


REFUSED = failed("UPSTREAM_REFUSED")


SAME = Binding(pointer="/n", source=StepOutput(step_id="1.t1", pointer="/n"))


def first(*answers: ActionResult | JsonValue) -> Answering:
    """Answer one after the other; the last one again and again."""
    left = list(answers)

    async def answer(_request: ExecuteRequest) -> ActionResult | JsonValue:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


def listed(*tools: ToolSummary) -> ListedTools:
    return ListedTools(tuple(replace(tool, parameters=tool.parameters or {}) for tool in tools))


def tool(name: str, **more: Any) -> ToolSummary:
    return ToolSummary(name=name, **{"parameters": {}, **more})


TWO_SOURCES = listed(tool("find", fallback_tool="table"), tool("table"), tool("tell"))


async def made(run: Run) -> list[CorrectionMade]:
    return [body for body in await run.bodies() if isinstance(body, CorrectionMade)]


async def reactions(run: Run) -> list[str]:
    return [each.reaction for each in await made(run)]


def chat(*words: str) -> ThinkResponse:
    """Return what a model comes to that writes no plan that may run."""
    written = Fault(code=FaultCode.PARSE_FAILED, stage=FaultStage.PLAN, message=" ".join(words))
    return ThinkResponse(
        outcome=Escalation(message="No planner made a plan.", faults=(written,)), usage=Usage(model_calls=1)
    )


def city(text: str) -> Binding:
    start = len("weather in ")
    return Binding(pointer="/city", source=QuerySpan(turn=0, start=start, end=start + len(text), text=text))


def weather(answer: Any, word: str, *, enum: bool = False) -> Run:
    schema = {**CITY, "enum": ["CN-Shanghai", "CN-Beijing"]} if enum else CITY  # type: ignore[dict-item]
    parameters = {"type": "object", "properties": {"city": schema}}
    run = Run(
        ScriptedThought(plan(step("1.t1", "get_weather", (), city(word)))),
        ScriptedAction({"get_weather": answer}, listed(tool("get_weather", parameters=parameters))),
    )
    run.text = f"weather in {word}"
    return run


def doubted(second: JsonValue, *, is_sure: bool = True) -> Run:
    doubtful = {"find"} if is_sure else {"find", "table"}
    return Run(
        ScriptedThought(plan(step("1.t1", "find"))),
        ScriptedAction({"find": {"rate": 7.1, "day": "x"}, "table": second}, TWO_SOURCES),
        ScriptedObservation(doubtful_tools=frozenset(doubtful)),
    )
