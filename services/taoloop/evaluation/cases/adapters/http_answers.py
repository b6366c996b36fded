"""A tool's HTTP answer through the executor and the observer."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from taoloop.action.executor import Executor
from taoloop.action.ports import Reply
from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import ABSENT
from taoloop.evaluation.cases.adapters.loops import new_telemetry
from taoloop.evaluation.cases.adapters.refusing import rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.evaluation.cases.vocabulary import case_word
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.testing.transport import ScriptedTransport
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import Retry, ToolContract
from taoloop.tools.rules import RuleRefused
from taoloop.tools.schemas import SchemaRefused
from taoloop.tools.signature import Effect

_TOOL: Final = "tool"
_RUN_ID: Final = "0" * 32
_DEADLINE_SECONDS: Final = 10.0


async def _http_response(case_input: CaseInput) -> Said:
    try:
        catalogue = Catalogue.of([_contract(case_input)])
    except SchemaRefused as refused:
        return rejected(refused.faults[0].code, message=str(refused))
    except RuleRefused as refused:
        return rejected("INVALID_RULE", message=str(refused))
    clock, telemetry = FakeClock(), new_telemetry()
    transport = ScriptedTransport([_reply(case_input)])
    executor = Executor(catalogue, transport, InMemoryEffectLedger(clock), telemetry, clock)
    call = CallContext(deadline=Deadline.after(_DEADLINE_SECONDS, clock))
    result = await executor.execute(ExecuteRequest(run_id=_RUN_ID, tool=_TOOL, step_id="1.t1", arguments={}), call)
    await telemetry.aclose()
    observer = Observer(FixedCatalogue(catalogue), ObservationPolicy())
    return _said(result, observer.observe(ObserveRequest(result=result, arguments={})))


def _said(result: ActionResult, observed: ObservationResult) -> Said:
    if result.status is ActionStatus.PENDING:
        return {"status": "pending"}
    said: Said = {"status": "success" if observed.valid else "error"}
    if observed.data is not ABSENT:
        said["data"] = observed.data
    if observed.fault is not None:
        said["error_class"] = case_word(observed.fault.code)
        said["message"] = observed.fault.message
    return said


def _contract(case_input: CaseInput) -> ToolContract:
    """Return the contract that the case implies: a read that answers JSON, of any form where no schema is given."""
    schema: Mapping[str, Any] | bool = case_input.get("schema", {})
    return ToolContract(
        name=_TOOL,
        description="The tool of the case.",
        parameters={"type": "object"},
        response=schema,
        effect=Effect.READ,
        success=case_input.get("success_rule", ABSENT),
        retry=Retry(attempts=1),  # one answer is all that a case holds
    )


def _reply(case_input: CaseInput) -> Reply:
    headers = {name.lower(): value for name, value in case_input.get("headers", {}).items()}
    return Reply(
        status_code=case_input["status"],
        content_type=headers.get("content-type", "").partition(";")[0].strip().lower(),
        body=_body(case_input),
        retry_after=headers.get("retry-after", ""),
    )


def _body(case_input: CaseInput) -> bytes:
    if "body_b64" not in case_input:
        text: str = case_input.get("body") or ""
        return text.encode()
    try:
        return base64.b64decode(case_input["body_b64"], validate=True)
    except binascii.Error as exc:
        raise Unsupported(f"body_b64 is no base64: {exc}") from exc


HTTP_RESPONSE = Adapter(
    feed=_http_response, required=("status",), optional=("headers", "body", "body_b64", "schema", "success_rule")
)
