"""What telemetry may show: texts and headers without secrets, span names from a fixed set."""

from __future__ import annotations

from taoloop.action.transports.http_request import path_template
from taoloop.core.redaction import redact_headers, redact_text
from taoloop.core.telemetry import names
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said


def _redact(case_input: CaseInput) -> Said:
    return {"text": redact_text(case_input["text"])}


def _redact_headers(case_input: CaseInput) -> Said:
    shown = redact_headers(case_input["headers"])
    return {"recorded": list(shown), "text": "\n".join(f"{name}: {value}" for name, value in shown.items())}


def _span_name(case_input: CaseInput) -> Said:
    # The URL with its values is not handed on: a span's name is made of the contract's template alone.
    return {"name": names.http_span(case_input["method"], path_template(case_input["template"]))}


REDACT = Adapter(feed=_redact, required=("text",))
REDACT_HEADERS = Adapter(feed=_redact_headers, required=("headers",))
SPAN_NAME = Adapter(feed=_span_name, required=("method", "template"), optional=("url",))
