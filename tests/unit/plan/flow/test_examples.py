"""The examples of conditions and of steps that run once per item, as docs/plans.md shows them, pass the check."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from taoloop.core.exact_json import loads
from taoloop.plan.check import CheckContext, check_plan
from taoloop.plan.form.json_form import plan_from_json, plan_to_json
from taoloop.plan.task import Role, Turn
from taoloop.tools.signature import ToolSignature
from tests.unit.plan.checking import TEXT, tool

PAGE = Path(__file__).parents[4] / "docs" / "plans.md"
TURNS = (Turn(role=Role.USER, text="My phone is 13800000000, where are my orders?"),)
ORDER = {"order": {"type": "object", "required": ["id"], "properties": {"id": TEXT}}}
NOTE = {"note": {**TEXT, "x-taoloop-source": ["step", "generated"]}}
ORDERS = {"orders": {"type": "array", "items": {"type": "object", "properties": {"id": TEXT}}}}
TOOLS: dict[str, ToolSignature] = {
    each.name: each
    for each in (
        tool("find_customer", {"phone": TEXT}, {"id": TEXT, "level": TEXT}),
        tool("get_fee", {"customer": TEXT}, {"fee": {"type": "number"}}),
        tool("list_orders", {"phone": TEXT}, ORDERS),
        tool("get_shipment", {**ORDER, **NOTE}, {"order_id": TEXT, "at": TEXT}),
        tool("get_parcel", ORDER, {"at": TEXT}),
    )
}


def example(name: str) -> Any:
    found = re.search(rf"<!-- example: {name} -->\n```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return loads(found[1])


@pytest.mark.parametrize("name", ["conditions", "items"])
def test_examples_of_the_page_may_run_and_are_written_as_they_are_read(name: str) -> None:
    plan = plan_from_json(example(name), TURNS)
    verdict = check_plan(plan, CheckContext(tools=TOOLS, turns=TURNS))
    assert verdict.faults == ()
    assert verdict.order == tuple(step.step_id for step in plan.steps)
    assert plan_from_json(plan_to_json(plan), TURNS) == plan
