"""Plans through the check of the thought service."""

from __future__ import annotations

from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import FaultCode
from taoloop.evaluation.cases.adapters.plans.references import plan_in_product_form
from taoloop.evaluation.cases.adapters.refusing import errors_of, listed, need, rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.plan.thinking import CheckPlanRequest, CheckPlanResponse
from taoloop.thought.plan_checking import PlanChecking
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.schemas import SchemaRefused
from taoloop.tools.signature import ToolSignature

_MAX_WRITTEN_DEPTH: Final = 500


def catalogue_of(tools: Any) -> Catalogue:
    """Return a catalogue of tools that a case names, or describes by name, parameters and result."""
    try:
        return Catalogue.from_signatures(_signature(tool) for tool in listed(tools, "tools"))
    except SchemaRefused as refused:
        raise Unsupported(f"a tool's schema is refused: {refused}") from refused


def text_of(form: Any) -> str:
    """Return a plan's form as text; how deep it may nest is for the product to say."""
    return exact_json.dumps(form, max_depth=_MAX_WRITTEN_DEPTH)


def checked(text: str, catalogue: Catalogue, state: Json = ABSENT) -> CheckPlanResponse:
    """Check the text of a plan without a request, as `CheckPlan` does."""
    return PlanChecking(catalogue).check(CheckPlanRequest(plan_text=text, state=state))


def refused_plan(response: CheckPlanResponse) -> Said:
    """Return what is said of a plan that may not run."""
    errors = errors_of(response.faults)
    return rejected(FaultCode.INVALID_PLAN, errors=errors, error_count=len(errors))


def _plan(case_input: CaseInput) -> Said:
    text = case_input.get("plan_text")
    if text is None:
        text = text_of(plan_in_product_form(case_input["plan"]))
    response = checked(text, catalogue_of(case_input["tools"]))
    if not response.valid:
        return refused_plan(response)
    return {"outcome": "accepted", "order": list(response.order), "errors": [], "error_count": 0}


def _signature(tool: Any) -> ToolSignature:
    if isinstance(tool, str):
        return ToolSignature(name=tool, description=tool, parameters={})
    name = need(tool, "name", "a tool")
    known = {"name", "description", "parameters", "schema", "returns", "output_schema"}
    if tool.keys() - known:
        raise Unsupported(f"nothing reads {', '.join(sorted(tool.keys() - known))} of a tool")
    return ToolSignature(
        name=name,
        description=tool.get("description") or name,
        parameters=tool.get("parameters", tool.get("schema", {})),
        returns=tool.get("returns", tool.get("output_schema")),
    )


PLAN = Adapter(feed=_plan, required=("tools", "plan|plan_text"))
