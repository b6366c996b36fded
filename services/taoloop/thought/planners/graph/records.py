"""Writes what was decided as the records of a plan."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from taoloop.core.exact_json import Json, JsonValue
from taoloop.plan.model import Binding, ForEach, PlanStep, Reasoning, StepOutput
from taoloop.plan.rules.snapshot import DATE_RANGE, USER_INTENT, day_range
from taoloop.plan.task import InputField
from taoloop.plan.thinking import NeedInput, ThinkRequest
from taoloop.thought.planners.graph.calls import wording
from taoloop.thought.planners.graph.calls.model import Missing, Step
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.sources import Bound

_DAYS: Final = frozenset({SlotClass.DATE, SlotClass.DATE_RANGE})


def plan_steps(steps: tuple[Step, ...]) -> tuple[PlanStep, ...]:
    """Return the plan's steps. A step that writes waits for every step that the user named before it."""
    records: list[PlanStep] = []
    days = _days_of(steps)
    for step in steps:
        if step.is_completed:
            continue
        needed = dict.fromkeys(_referred(step.bound.values()))
        if step.tool.is_writing:
            needed |= dict.fromkeys(record.step_id for record in records)
        records.append(
            PlanStep(
                step_id=step.step_id,
                description=step.tool.signature.description.partition("\n")[0][:120],
                tool=step.tool.name,
                bindings=tuple(_bindings(step)),
                depends_on=tuple(needed),
                uses_snapshot=(DATE_RANGE,) if days and _days(step) == days else (),
                for_each=ForEach(items=step.items) if step.items is not None else None,
            )
        )
    return tuple(records)


def _bindings(step: Step) -> Iterable[Binding]:
    return (item.binding() for item in sorted(step.bound.values(), key=lambda item: item.slot.pointer))


def _referred(bound: Iterable[Bound]) -> Iterable[str]:
    return (item.source.step_id for item in bound if isinstance(item.source, StepOutput))


def need_input(missing: Missing, request: ThinkRequest, *, is_chinese: bool) -> NeedInput:
    """Return the question for one value; the same run, thought and parameter give the same `input_id`."""
    tool, slot = missing.tool.name, missing.slot
    field = InputField(
        pointer=slot.pointer,
        tool=tool,
        schema=_plain(slot.schema),
        reason=missing.reason,
        candidates=missing.candidates,
        question=wording.question(missing, is_chinese=is_chinese),
    )
    return NeedInput(input_id=input_id(request.run_id, request.iteration, tool, slot.pointer), fields=(field,))


def input_id(run_id: str, iteration: int, tool: str, pointer: str) -> str:
    """Return the name of a question: 32 hex characters that depend on nothing but these four."""
    text = "\n".join((run_id, str(iteration), tool, pointer))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def reasoning(steps: tuple[Step, ...], missing: Missing | None, tool: str, fit: float) -> Reasoning:
    """Return the auditable part: names of parameters and where they come from, never their values."""
    known = tuple(
        f"{step.tool.name}{item.slot.pointer} from {item.origin}" for step in steps for item in step.bound.values()
    )
    last = steps[-1].tool if steps else None
    return Reasoning(
        known=known,
        gap=() if missing is None else (f"{missing.tool.name}{missing.slot.pointer} {missing.reason}",),
        tool=tool,
        why=f"It explains {fit:.0%} of the words of the request."
        if tool
        else "No tool explains enough of the request.",
        expected="" if last is None else ", ".join(field.name for field in last.outputs[:8]),
    )


def state_snapshot(steps: tuple[Step, ...]) -> Json:
    """Return what the thought holds to be true of the session: the intent, and the days that words were resolved to."""
    snapshot: dict[str, JsonValue] = {USER_INTENT: steps[-1].tool.name}
    days = _days_of(steps)
    return {**snapshot, DATE_RANGE: days} if days else snapshot


def _days_of(steps: tuple[Step, ...]) -> str:
    """Return the days of the first step that is about any; empty for none."""
    return next((days for step in steps if (days := _days(step))), "")


def _days(step: Step) -> str:
    return day_range(item.value for item in step.bound.values() if item.slot.slot_class in _DAYS)


def _plain(value: object) -> JsonValue:
    """Return a schema as plain dicts and lists."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return value  # type: ignore[return-value]  # a schema's scalars are JSON
