"""The JSON form of plans and of refusals: what models and people write and read (docs/plans.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields as dataclass_fields
from datetime import datetime
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import Absent, Json, JsonSyntaxError, JsonValue, loads
from taoloop.core.faults import Fault
from taoloop.plan.form.args import ArgsScope, read_args, read_reference, write_args, write_reference
from taoloop.plan.form.fields import FaultList, Fields
from taoloop.plan.model import Decision, DecisionKind, ForEach, PlanStep, Reasoning, ThoughtPlan
from taoloop.plan.task import Turn, Usage
from taoloop.plan.thinking import NeedInput, Refusal, RefusalReason, ThinkResponse
from taoloop.values.datetimes import format_datetime, parse_rfc3339
from taoloop.values.refusals import ValueRefused

PLAN_VERSION: Final = "1.0"
MAX_TIMEOUT_SECONDS: Final = 86_400
"""The version of the form that is written."""

_PLAN_ALIASES: Final = {"timestamp": "created_at"}
_STEP_ALIASES: Final = {
    "step_id": "id",
    "arguments": "args",
    "dependencies": "depends_on",
}
_PLAN_TEXTS: Final = ("thought_id", "run_id", "catalogue_digest", "planner", "model", "content_ref")
_MODEL_TIME: Final = "model_time_seconds"
_USAGE: Final = tuple(field.name for field in dataclass_fields(Usage) if field.name != _MODEL_TIME)
_MAX_MODEL_SECONDS: Final = 86_400


class PlanFormInvalid(ValueError):
    """The text or the value is not a plan in its JSON form.

    Attributes:
        faults: Every fault, at least one, with JSON pointers into the form under its canonical names.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(f"{fault.field or '(root)'}: {fault.message}" for fault in faults))
        self.faults = tuple(faults)


def plan_from_text(text: str, turns: Sequence[Turn] | None = None) -> ThoughtPlan:
    """Read a plan from strict JSON text.

    Raises:
        PlanFormInvalid: The text is not JSON, or not a plan.
    """
    try:
        value = loads(text)
    except JsonSyntaxError as exc:
        faults = FaultList()
        faults.add("", f"The plan is not JSON: {exc}.", actual=exc.excerpt)
        raise PlanFormInvalid(faults.found) from exc
    return plan_from_json(value, turns)


def plan_from_json(value: JsonValue, turns: Sequence[Turn] | None = None) -> ThoughtPlan:
    """Read a plan from its JSON form, canonical names and aliases alike.

    Args:
        value: The whole form.
        turns: The conversation, which quotes and short spans are looked up in; None reads the plan without a
            request, and a quote then waits for its source as a literal does.

    Raises:
        PlanFormInvalid: With every fault of the form at once.
    """
    faults = FaultList()
    form = Fields(value, "", faults, _PLAN_ALIASES)
    step_values = form.items("steps", is_required=isinstance(value, dict))
    scope = ArgsScope(_ids(step_values), turns, faults)
    texts = {name: form.text(name) for name in _PLAN_TEXTS}
    plan = ThoughtPlan(
        version=form.text("version") or PLAN_VERSION,
        iteration=form.count("iteration"),
        created_at=_moment(form, "created_at"),
        reasoning=_reasoning(form.member("reasoning")),
        steps=tuple(_step(item, pointers.join("steps", index), scope) for index, item in enumerate(step_values)),
        state_snapshot=form.raw("state_snapshot"),
        final_output_schema=form.raw("final_output_schema"),
        tainted_context=form.boolean("tainted_context"),
        decision=_decision(form.member("decision")),
        usage=_usage(form.member("usage")),
        **texts,
    )
    form.finish()
    if faults.found:
        raise PlanFormInvalid(faults.found)
    return plan


def plan_to_json(plan: ThoughtPlan) -> JsonValue:
    """Write a plan in its JSON form, with canonical names; fields that are not set are left out.

    `plan_from_json` gives the same plan back, with the version filled in, unless two bindings overlap or one has
    neither source nor value; the check refuses such plans.
    """
    written: dict[str, JsonValue] = {"version": plan.version or PLAN_VERSION}
    _put(written, "thought_id", plan.thought_id)
    _put(written, "run_id", plan.run_id)
    _put(written, "iteration", plan.iteration)
    if plan.created_at is not None:
        written["created_at"] = format_datetime(plan.created_at)
    _put(written, "catalogue_digest", plan.catalogue_digest)
    _put(written, "planner", plan.planner)
    if plan.reasoning is not None:
        written["reasoning"] = _reasoning_json(plan.reasoning)
    written["steps"] = [step_to_json(step) for step in plan.steps]
    _put_json(written, "state_snapshot", plan.state_snapshot)
    _put_json(written, "final_output_schema", plan.final_output_schema)
    _put(written, "tainted_context", plan.tainted_context)
    if plan.decision is not None:
        decision = plan.decision
        written["decision"] = {"kind": decision.kind.value, "fit": decision.fit, "margin": decision.margin}
    _put(written, "model", plan.model)
    if plan.usage is not None:
        written["usage"] = _usage_to_json(plan.usage)
    _put(written, "content_ref", plan.content_ref)
    return written


def _usage_to_json(usage: Usage) -> dict[str, JsonValue]:
    written: dict[str, JsonValue] = {name: getattr(usage, name) for name in _USAGE}
    if usage.model_time_seconds is not None:
        written[_MODEL_TIME] = usage.model_time_seconds
    return written


def step_to_json(step: PlanStep) -> JsonValue:
    """Write one step in the JSON form."""
    written: dict[str, JsonValue] = {"id": step.step_id}
    _put(written, "description", step.description)
    written |= {"tool": step.tool, "args": write_args(step.bindings), "depends_on": list(step.depends_on)}
    _put(written, "input_sources", list(step.input_sources))
    _put_json(written, "output_schema", step.output_schema)
    _put_json(written, "expect", step.expect)
    _put_json(written, "when", step.when)
    if step.for_each is not None:
        items = {} if step.for_each.items is None else {"items": write_reference(step.for_each.items)}
        written["for_each"] = {**items, "max_items": step.for_each.max_items}
    _put(written, "optional", step.optional)
    if step.timeout_seconds is not None:
        written["timeout_seconds"] = step.timeout_seconds
    _put(written, "projection", step.projection)
    _put(written, "uses_snapshot", list(step.uses_snapshot))
    return written


def refusal_json(response: ThinkResponse) -> JsonValue | None:
    """Write a thought that makes no plan for want of words in the documents' form; None for any other thought.

    `{"error": "missing_user_query"}`, or `{"error": "insufficient_context", "required_fields": ["order_id"]}` with
    the names of the values, which a question (`NeedInput`) has too.
    """
    outcome = response.outcome
    if isinstance(outcome, NeedInput):
        names = [pointers.parse(field.pointer)[-1] for field in outcome.fields if field.pointer]
        return _insufficient(names)
    if not isinstance(outcome, Refusal):
        return None
    if outcome.reason is RefusalReason.MISSING_USER_QUERY:
        return {"error": "missing_user_query"}
    if outcome.reason is RefusalReason.INSUFFICIENT_CONTEXT:
        return _insufficient(outcome.required_fields)
    return None


def fault_json(fault: Fault) -> JsonValue:
    """Write a fault for a planner or a person: only the fields that say something."""
    written: dict[str, JsonValue] = {"code": str(fault.code), "stage": str(fault.stage), "message": fault.message}
    _put(written, "field", fault.field)
    _put_json(written, "expected", fault.expected)
    _put_json(written, "actual", fault.actual)
    _put(written, "retriable", fault.retriable)
    if fault.retry_after_seconds is not None:
        written["retry_after_seconds"] = fault.retry_after_seconds
    _put(written, "suggestion", fault.suggestion)
    _put(written, "candidates", list(fault.candidates))
    _put(written, "cause_step_id", fault.cause_step_id)
    return written


def _insufficient(names: Sequence[str]) -> JsonValue:
    return {"error": "insufficient_context", "required_fields": list(dict.fromkeys(names))}


def _put(written: dict[str, JsonValue], name: str, value: JsonValue) -> None:
    if value:
        written[name] = value


def _put_json(written: dict[str, JsonValue], name: str, value: Json) -> None:
    if not isinstance(value, Absent):
        written[name] = value


def _ids(step_values: Sequence[JsonValue]) -> frozenset[str]:
    found = (item.get("id", item.get("step_id")) for item in step_values if isinstance(item, dict))
    return frozenset(step_id for step_id in found if isinstance(step_id, str) and step_id)


def _step(value: JsonValue, place: str, scope: ArgsScope) -> PlanStep:
    form = Fields(value, place, scope.faults, _STEP_ALIASES)
    is_object = isinstance(value, dict)
    args = form.raw("args")
    bindings = () if isinstance(args, Absent) else read_args(args, form.place_of("args"), scope)
    step = PlanStep(
        step_id=form.text("id", is_required=is_object),
        description=form.text("description"),
        tool=form.text("tool", is_required=is_object),
        bindings=bindings,
        depends_on=form.texts("depends_on"),
        input_sources=form.texts("input_sources"),
        output_schema=form.raw("output_schema"),
        expect=form.raw("expect"),
        when=form.raw("when"),
        for_each=_for_each(form.member("for_each"), scope),
        optional=form.boolean("optional"),
        timeout_seconds=_timeout(form),
        projection=form.text("projection"),
        uses_snapshot=form.texts("uses_snapshot"),
    )
    form.finish()
    return step


def _for_each(form: Fields | None, scope: ArgsScope) -> ForEach | None:
    if form is None:
        return None
    raw = form.raw("items")
    items = None if isinstance(raw, Absent) else read_reference(raw, form.place_of("items"), scope)
    result = ForEach(items=items, max_items=form.count("max_items"))
    form.finish()
    return result


def _timeout(form: Fields) -> float | None:
    seconds = form.number("timeout_seconds")
    if seconds is not None and not 0 < seconds <= MAX_TIMEOUT_SECONDS:
        message = f"A timeout is above 0 and at most {MAX_TIMEOUT_SECONDS} seconds."
        form.faults.add(form.place_of("timeout_seconds"), message)
        return None
    return seconds


def _moment(form: Fields, name: str) -> datetime | None:
    text = form.text(name)
    if not text:
        return None
    try:
        return parse_rfc3339(text)
    except ValueRefused as refused:
        form.faults.add(form.place_of(name), refused.message, expected="RFC 3339 with an offset", actual=text)
        return None


def _reasoning(form: Fields | None) -> Reasoning | None:
    if form is None:
        return None
    result = Reasoning(
        known=form.texts("known"),
        gap=form.texts("gap"),
        tool=form.text("tool"),
        why=form.text("why"),
        expected=form.text("expected"),
    )
    form.finish()
    return result


def _reasoning_json(reasoning: Reasoning) -> JsonValue:
    written: dict[str, JsonValue] = {}
    _put(written, "known", list(reasoning.known))
    _put(written, "gap", list(reasoning.gap))
    _put(written, "tool", reasoning.tool)
    _put(written, "why", reasoning.why)
    _put(written, "expected", reasoning.expected)
    return written


def _decision(form: Fields | None) -> Decision | None:
    if form is None:
        return None
    kind = form.choice("kind", DecisionKind, DecisionKind.PLAN)
    result = Decision(kind=kind, fit=form.number("fit") or 0.0, margin=form.number("margin") or 0.0)
    form.finish()
    return result


def _usage(form: Fields | None) -> Usage | None:
    if form is None:
        return None
    counts = {name: form.count(name) for name in _USAGE}
    seconds = form.number(_MODEL_TIME)
    if seconds is not None and not 0 <= seconds <= _MAX_MODEL_SECONDS:
        form.faults.add(form.place_of(_MODEL_TIME), "A time is at least 0 and at most a day, in seconds.")
        seconds = None
    form.finish()
    return Usage(**counts, model_time_seconds=seconds)
