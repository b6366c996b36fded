"""Single decisions of the action service: when to come back, and what may stand in a path."""

from __future__ import annotations

from taoloop.action.retry_after import retry_after_seconds
from taoloop.action.transports.http_request import RequestRefused, build_request
from taoloop.evaluation.cases.adapters.refusing import rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.tools.contract import HttpTransport
from taoloop.values.datetimes import parse_rfc3339

_ORIGIN = "http://tool.test"


def _retry_after(case_input: CaseInput) -> Said:
    seconds = retry_after_seconds(case_input["value"], parse_rfc3339(case_input["now"]))
    if seconds is None:
        return {"ignored": True}
    cap = case_input.get("cap_s")
    if cap is not None and seconds > cap:
        raise Unsupported("no retry layer weighs a wait against a cap yet")
    return {"delay_s": seconds, "ignored": False}


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
