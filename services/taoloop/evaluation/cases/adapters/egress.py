"""Where outgoing requests may go: URLs, and redirects with what goes along."""

from __future__ import annotations

from taoloop.action.egress.redirects import Hop, redirect_decision
from taoloop.action.egress.rules import judge_url
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said


def _url_guard(case_input: CaseInput) -> Said:
    verdict = judge_url(case_input["url"], resolves_to=case_input.get("resolves_to", ()))
    return {"allowed": verdict.is_allowed, "reason": verdict.reason}


def _redirect(case_input: CaseInput) -> Said:
    hop = Hop(
        method=case_input["method"],
        url=case_input["from_url"],
        headers=tuple((name, value) for name, value in case_input.get("headers", ())),
        status=case_input["status"],
        location=case_input["to_url"],
    )
    decision = redirect_decision(hop, allows_other_origins=True)
    if not decision.is_followed:
        return {"followed": False, "reason": decision.reason}
    return {"followed": True, "headers_sent": [name for name, _ in decision.headers], "dropped": list(decision.dropped)}


URL_GUARD = Adapter(feed=_url_guard, required=("url",), optional=("resolves_to",))
REDIRECT = Adapter(feed=_redirect, required=("method", "from_url", "to_url", "status"), optional=("headers",))
