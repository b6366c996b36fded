"""Contracts and requests for the tests of the action service."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import ExecuteRequest, Provenance
from taoloop.plan.task import Permissions
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import BearerAuth, ErrorRule, HttpTransport, Retry, ToolContract
from taoloop.tools.signature import Effect, Reach, Trust

LOOK_UP = ToolContract(
    name="look_up",
    description="Finds one thing.",
    effect=Effect.READ,
    parameters={
        "type": "object",
        "required": ["key"],
        "additionalProperties": False,
        "properties": {
            "key": {"type": "string", "minLength": 3},
            "colour": {"enum": ["red", "green"]},
            "size": {"type": "number"},
        },
    },
    response={"type": "object"},
    transport=HttpTransport(method="GET", url="{{base.things}}/things/{key}"),
    timeout_seconds=2.0,
    retry=Retry(attempts=1),
    errors=(
        ErrorRule(when={"===": [{"var": "status_code"}, 409]}, code="THING_LOCKED", is_retriable=True),
        ErrorRule(when={"===": [{"var": "body.error"}, "gone"]}, code="THING_GONE", suggestion="Look for another."),
    ),
    document={"name": "look_up"},
)
CHANGE = replace(
    LOOK_UP,
    name="change",
    effect=Effect.WRITE,
    transport=HttpTransport(method="POST", url="{{base.things}}/things/{key}/changes"),
    document={"name": "change"},
)
SEND_OUT = replace(
    LOOK_UP,
    name="send_out",
    reach=Reach.OUTWARD,
    transport=HttpTransport(method="GET", url="{{base.things}}/elsewhere/{key}"),
    document={"name": "send_out"},
)
HEARSAY = replace(
    LOOK_UP,
    name="hearsay",
    trust=Trust.UNTRUSTED,
    response=True,
    transport=HttpTransport(method="GET", url="{{base.things}}/hearsay/{key}"),
    document={"name": "hearsay"},
)
SEALED = replace(
    LOOK_UP,
    name="sealed",
    transport=HttpTransport(method="GET", url="{{base.things}}/sealed", auth=BearerAuth(secret="THINGS_TOKEN")),
    document={"name": "sealed"},
)


def catalogue(bases: dict[str, str] | None = None, *more: ToolContract) -> Catalogue:
    """Return the catalogue of the contracts above and some more."""
    tools = (LOOK_UP, CHANGE, SEND_OUT, HEARSAY, SEALED, *more)
    return Catalogue.of(tools, name="things", bases=bases or {"things": "http://127.0.0.1:9"})


def request(tool: str = "look_up", **changes: Any) -> ExecuteRequest:
    """Return a request that no policy refuses."""
    arguments = changes.pop("arguments", {"key": "abc"})
    wanted = ExecuteRequest(
        run_id="1" * 32,
        thought_id="2" * 32,
        iteration=1,
        step_id="1.t1",
        tool=tool,
        arguments=arguments,
        provenance=tuple(
            Provenance(pointer=f"/{name}", source="query_span", trust=Trust.TRUSTED)
            for name in (arguments if isinstance(arguments, dict) else ())
        ),
        permissions=Permissions(max_effect=Effect.WRITE),
    )
    return replace(wanted, **changes)


def context(clock: Clock, seconds: float = 10.0, tenant: str = "acme") -> CallContext:
    """Return a call that has this much time."""
    return CallContext(deadline=Deadline.after(seconds, clock), tenant=tenant)


def telemetry(sample_ratio: float = 1.0) -> Telemetry:
    """Return telemetry that goes nowhere, of which this share of calls is traced."""
    return Telemetry.build(TelemetrySettings(sample_ratio=sample_ratio), "taoloop-action")
