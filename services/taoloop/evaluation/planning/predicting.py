"""Turns a planning case into a request for a planner, and the planner's reply into a prediction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.evaluation.planning.cases import ASK, NONE, PLAN, PlanningCase
from taoloop.evaluation.planning.foreign import compilable
from taoloop.plan.flow.fan_out import with_first_items
from taoloop.plan.model import PlanStep, StepOutput, ThoughtPlan
from taoloop.plan.task import Permissions, Role, Turn
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, ThinkRequest
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.planners.graph.calibration.model import Calibration
from taoloop.thought.planners.graph.planner import PlannerReply
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import Effect, ToolSignature, Trust

_LOCALES: Final = {"en": "en-US", "zh": "zh-CN"}
_STATED_DAY = re.compile(r"(?P<year>[0-9]{4})\s*(?:年|-)\s*(?P<month>[0-9]{1,2})\s*(?:月|-)\s*(?P<day>[0-9]{1,2})")
_RUN_ID: Final = "0" * 32


@dataclass(frozen=True, slots=True)
class Predicted:
    """What the planner made of one case.

    Attributes:
        prediction: The line for the file of predictions.
        reply: The planner's own reply.
    """

    prediction: dict[str, Any]
    reply: PlannerReply


def predict(case: PlanningCase, calibration: Calibration | None = None) -> Predicted:
    """Plan one case with the graph planner, compiled for the tools that the case offers."""
    planner = GraphPlanner(Catalogue.from_signatures(signatures(case.tools), name="case"), calibration)
    reply = planner.plan(request_of(case))
    return Predicted({"id": case.id, **decision(reply.outcome)}, reply)


def signatures(tools: Sequence[Mapping[str, Any]]) -> tuple[ToolSignature, ...]:
    """Return the signatures of offered tools; one without a stated effect reads."""
    return tuple(
        ToolSignature(
            name=str(tool["name"]),
            description=str(tool.get("description") or ""),
            parameters=compilable(tool["parameters"]),
            effect=Effect(tool.get("effect", Effect.READ.value)),
            trust=Trust.TRUSTED,
            returns=compilable(tool["returns"]) if isinstance(tool.get("returns"), Mapping) else None,
        )
        for tool in tools
    )


def request_of(case: PlanningCase) -> ThinkRequest:
    """Return the request of a case: everything is permitted, and the day is the one that its context states."""
    return ThinkRequest(
        run_id=_RUN_ID,
        iteration=1,
        turns=(Turn(role=Role.USER, text=case.query),),
        reference_time=_stated_day(case.context),
        time_zone="Asia/Shanghai" if case.lang == "zh" else "UTC",
        locale=_LOCALES.get(case.lang, ""),
        permissions=Permissions(max_effect=Effect.WRITE),
    )


def _stated_day(context: str) -> datetime | None:
    match = _STATED_DAY.search(context)
    if match is None:
        return None
    try:
        return datetime(int(match["year"]), int(match["month"]), int(match["day"]), 4, tzinfo=UTC)
    except ValueError:
        return None


def decision(outcome: ThoughtPlan | Answer | NeedInput | Refusal | Escalation) -> dict[str, Any]:
    """Return what a planner came to as a prediction says it; an answer without a call counts as none."""
    match outcome:
        case ThoughtPlan():
            return {"kind": PLAN, "steps": _steps(with_first_items(outcome).steps)}
        case NeedInput(fields=fields):
            names = [".".join(pointers.parse(field.pointer)) for field in fields]
            return {"kind": ASK, "tool": fields[0].tool, "fields": names}
        case _:
            return {"kind": NONE}


def _steps(steps: Sequence[PlanStep]) -> list[dict[str, Any]]:
    ids = {step.step_id: f"s{number}" for number, step in enumerate(steps, 1)}
    return [
        {
            "id": ids[step.step_id],
            "tool": step.tool,
            "args": arguments(step, ids),
            "depends_on": [ids[before] for before in step.depends_on if before in ids],
        }
        for step in steps
    ]


def arguments(step: PlanStep, ids: Mapping[str, str]) -> dict[str, JsonValue]:
    """Return the arguments of a planned step; a reference is `{"$ref": "s1.path"}`."""
    made: dict[str, JsonValue] = {}
    for binding in sorted(step.bindings, key=lambda item: _natural(item.pointer)):
        value: JsonValue = None if binding.value is ABSENT else binding.value
        if isinstance(binding.source, StepOutput):
            path = ".".join(pointers.parse(binding.source.pointer))
            value = {"$ref": f"{ids.get(binding.source.step_id, binding.source.step_id)}.{path}"}
        _put(made, pointers.parse(binding.pointer), value)
    return made


def _natural(pointer: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(token), "") if token.isdecimal() else (-1, token) for token in pointer.split("/"))


def _put(target: Any, tokens: Sequence[str], value: JsonValue) -> None:
    for token, following in zip(tokens, (*tokens[1:], None), strict=True):
        made: Any = value if following is None else [] if following.isdecimal() else {}
        if isinstance(target, list):
            if len(target) <= int(token):
                target.append(made)
            target = target[int(token)]
            continue
        target = target.setdefault(token, made)
