"""Tools, plans and their faults, for the tests of checking plans."""

from __future__ import annotations

from typing import Any

from taoloop.core.faults import Fault
from taoloop.plan.check import CheckContext, check_plan
from taoloop.plan.form.json_form import plan_from_json
from taoloop.plan.task import Permissions, Role, Turn
from taoloop.tools.signature import Effect, Reach, ToolSignature, Trust


def tool(name: str, properties: dict[str, Any], returns: dict[str, Any] | None = None, **extra: Any) -> ToolSignature:
    required = extra.pop("required", [])
    parameters = {"type": "object", "required": required, "properties": properties, "additionalProperties": False}
    schema = None if returns is None else {"type": "object", "properties": returns}
    return ToolSignature(
        name=name,
        description="",
        parameters=parameters,
        returns=schema,
        trust=extra.pop("trust", Trust.TRUSTED),
        **extra,
    )


TEXT = {"type": "string"}
TOOLS = {
    each.name: each
    for each in (
        tool("find", {"text": TEXT}, {
            "id": TEXT, "count": {"type": "integer"}, "when": {"type": "string", "format": "date-time"},
            "tags": {"type": "array", "items": TEXT},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": TEXT}}},
            "note": {"type": ["string", "null"]},
        }),
        tool("get", {
            "id": {**TEXT, "minLength": 3}, "limit": {"type": "integer"}, "price": {"type": "number"},
            "day": {"type": "string", "format": "date"}, "state": {"enum": ["open", "shut"]},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "filter": {"type": "object", "required": ["a"], "properties": {"a": TEXT, "b": TEXT}},
            "own": {**TEXT, "x-taoloop-source": ["query"]},
            "free": {**TEXT, "x-taoloop-source": ["query", "generated"]},
        }, {"status": TEXT}, required=["id"]),
        tool("web", {"text": TEXT}, {"page": TEXT}, trust=Trust.UNTRUSTED),
        tool("pay", {"id": TEXT, "text": TEXT}, {"ok": {"type": "boolean"}}, effect=Effect.WRITE, required=["id"]),
        tool("mail", {"text": TEXT}, {}, reach=Reach.OUTWARD),
    )
}  # fmt: skip
TURNS = (Turn(role=Role.USER, text="查一下订单 A100 的状态"),)
ALL = Permissions(max_effect=Effect.WRITE)


def context(**changes: Any) -> CheckContext:
    return CheckContext(**{"tools": TOOLS, "permissions": ALL, **changes})


def step(step_id: str, name: str, args: Any = None, after: Any = (), **more: Any) -> dict[str, Any]:
    return {"id": step_id, "tool": name, "args": args or {}, "depends_on": list(after), **more}


def faults(*steps: Any, plan: Any = None, **changes: Any) -> list[tuple[str, str]]:
    return [(str(fault.code), fault.field) for fault in full_faults(*steps, plan=plan, **changes)]


def full_faults(*steps: Any, plan: Any = None, **changes: Any) -> tuple[Fault, ...]:
    form: Any = {"steps": list(steps), **(plan or {})}
    verdict = check_plan(plan_from_json(form, changes.get("turns")), context(**changes))
    assert bool(verdict.faults) != bool(verdict.order)
    return verdict.faults


A100 = {"$query": [0, 6, 10]}
