"""References to earlier results, and plans of case files in the product's own form."""

from __future__ import annotations

import re
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.evaluation.cases.adapters.refusing import errors_of, need, rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said
from taoloop.plan.form.json_form import PlanFormInvalid, plan_from_json
from taoloop.plan.resolve import Resolution, ResolveContext, StepResult, resolve_step
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Trust

_REF: Final = re.compile(r"REF\(\s*([^,()\s]+)\s*,\s*([^()]*?)\s*\)")


class StatedValues:
    """The fixed values of a case's arguments.

    Every argument of the product points at a source. A case says only that a value is given, so it stands in the
    session's state, where its type is kept.
    """

    def __init__(self) -> None:
        self.state: list[JsonValue] = []

    def source(self, value: JsonValue) -> JsonValue:
        """Keep the value and return the source object that points at it."""
        self.state.append(value)
        return {"$state": pointers.join("stated", len(self.state) - 1)}

    def as_state(self) -> dict[str, JsonValue]:
        """Return the session's state."""
        return {"stated": list(self.state)}


def in_product_form(args: Any, stated: StatedValues | None = None) -> Any:
    """Return arguments in which `REF(step,pointer)` is the product's own reference.

    Args:
        args: As the case has them; a text that is one reference becomes it, one that holds some becomes a template.
        stated: Where fixed values are kept; None leaves them as they are.
    """
    if isinstance(args, dict) and args:
        return {name: in_product_form(value, stated) for name, value in args.items()}
    if isinstance(args, list) and args:
        return [in_product_form(value, stated) for value in args]
    if isinstance(args, str) and _REF.search(args):
        return _text_with_references(args)
    return args if stated is None else stated.source(args)


def plan_in_product_form(plan: Any, stated: StatedValues | None = None) -> Any:
    """Return a plan whose steps have their arguments in the product's form; what is no plan stays as it is."""
    if not isinstance(plan, dict) or not isinstance(plan.get("steps"), list):
        return plan
    return {**plan, "steps": [_step_in_product_form(step, stated) for step in plan["steps"]]}


def _step_in_product_form(step: Any, stated: StatedValues | None) -> Any:
    if not isinstance(step, dict):
        return step
    names = [name for name in ("args", "arguments") if isinstance(step.get(name), dict) and step[name]]
    return {**step, **{name: in_product_form(step[name], stated) for name in names}}


def _text_with_references(text: str) -> JsonValue:
    whole = _REF.fullmatch(text)
    if whole is not None:
        return _reference(whole)
    parts: list[JsonValue] = []
    done = 0
    for found in _REF.finditer(text):
        parts += [text[done : found.start()], _reference(found)]
        done = found.end()
    return {"$template": [part for part in [*parts, text[done:]] if part != ""]}


def _reference(found: re.Match[str]) -> dict[str, JsonValue]:
    return {"$ref": {"step": found[1], "pointer": found[2]}}


def _resolve(case_input: CaseInput) -> Said:
    stated = StatedValues()
    args = in_product_form(case_input["args"], stated)
    results = need(case_input, "results", "the input")
    form: JsonValue = {"steps": [{"id": "step", "tool": "tool", "args": args, "depends_on": list(results)}]}
    try:
        plan = plan_from_json(form)
    except PlanFormInvalid as invalid:
        return rejected("INVALID_PLAN", errors=errors_of(invalid.faults))
    resolved = resolve_step(
        plan.steps[0],
        ResolveContext(
            parameters=CompiledSchema.compile(_implied_schema(case_input["args"])),
            state=stated.as_state(),
            results={step: StepResult(data, Trust.TRUSTED) for step, data in results.items()},
        ),
    )
    if isinstance(resolved, Resolution):
        return {"outcome": "accepted", "resolved": resolved.arguments}
    said = rejected(resolved[0].code, errors=errors_of(resolved), path=resolved[0].field, message=resolved[0].message)
    return {**said, "status": "error"}


def _implied_schema(args: JsonValue) -> JsonValue:
    """Return the parameters that a tool with such arguments declares: which places are objects and which arrays.

    A pointer alone does not tell an array from an object with numbers for names. Leaves may be anything.
    """
    if isinstance(args, dict) and args:
        return {"type": "object", "properties": {name: _implied_schema(member) for name, member in args.items()}}
    if isinstance(args, list) and args:
        return {"type": "array", "prefixItems": [_implied_schema(item) for item in args]}
    return True


REFERENCE = Adapter(feed=_resolve, required=("results", "args"))
