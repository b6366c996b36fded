"""Single decisions of the action service: when to come back, and what may stand in a path."""

from __future__ import annotations

from random import Random

from taoloop.action.policies.retry import LEAST_ATTEMPT_SECONDS, READ_DEFAULT, Failure, Moment, RetryPolicy, Stop
from taoloop.action.policies.retry_after import retry_after_seconds
from taoloop.action.transports.http_request import RequestRefused, build_request
from taoloop.core.faults import FaultCode
from taoloop.evaluation.cases.adapters.refusing import rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said
from taoloop.tools.contract import HttpTransport, ToolContract
from taoloop.tools.signature import Effect
from taoloop.values.datetimes import parse_rfc3339

_ORIGIN = "http://tool.test"


def _retry_after(case_input: CaseInput) -> Said:
    seconds = retry_after_seconds(case_input["value"], parse_rfc3339(case_input["now"]))
    if seconds is None:
        return {"ignored": True}
    if _stops(seconds, case_input.get("cap_s")):
        return {"give_up": True, "ignored": False}
    return {"delay_s": seconds, "ignored": False}


def _stops(seconds: float, left_seconds: float | None) -> bool:
    """Tell whether a call with so much time left is given up when the tool asks for such a wait."""
    if left_seconds is None:
        return False
    contract = ToolContract(name="tool", description="Waits.", parameters={}, response=True, effect=Effect.READ)
    limited = Failure(kind="429", code=FaultCode.RATE_LIMITED, can_heal=True, retry_after_seconds=seconds)
    # The cap of a case is the longest wait; the attempt after it has time of its own.
    left = left_seconds + LEAST_ATTEMPT_SECONDS + READ_DEFAULT.backoff_seconds
    moment = Moment(attempt=1, now=0.0, elapsed_seconds=0.0, left_seconds=left)
    return isinstance(RetryPolicy(contract, 0.0).decide(limited, moment, Random(0)), Stop)


def _path_param(case_input: CaseInput) -> Said:
    template = HttpTransport(method="GET", url=_ORIGIN + case_input["template"])
    try:
        request = build_request(template, case_input["params"])
    except RequestRefused as refused:
        return rejected("UNSAFE_PATH_PARAM", path=f"/{refused.parameter}", message=refused.message)
    url = request.url.removeprefix(_ORIGIN)
    return {"outcome": "accepted", "path": url, "url": url}


RETRY_AFTER = Adapter(feed=_retry_after, required=("value", "now"), optional=("cap_s",))
PATH_PARAM = Adapter(feed=_path_param, required=("template", "params"))
