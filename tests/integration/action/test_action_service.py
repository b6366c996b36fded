"""The action service over gRPC, with tools behind real HTTP and a ledger in a real file."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.action.app import action_component
from taoloop.action.settings import ActionSettings, LedgerSettings
from taoloop.core.clock import SystemClock
from taoloop.core.errors import (
    ConfigurationError,
    InvalidRequest,
    RequestIdReused,
    TaoError,
    UnknownTool,
)
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import ActionStatus, ServedBy
from taoloop.plan.effects import EffectState, ListEffectsRequest, ResolveEffectRequest
from taoloop.testing.mock_tools import FaultProfile, MockTools
from taoloop.testing.tool_samples import read_samples
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.clients import ActionClient, action_client
from taoloop.wire.server import serving
from tests.unit.action.contracts import context, request

CLOCK = SystemClock()

CATALOGUE = """\
apiVersion: taoloop.dev/v1
kind: Catalogue
metadata: {name: things}
spec:
  bases: {things: "http://127.0.0.1:9"}
  tools: tools/*.yaml
"""
TOOL = """\
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: NAME}
spec:
  description: Does something with one thing.
  use_when: the user asks for a thing
  avoid_when: anything else
  effect: EFFECT
  reach: internal
  trust: trusted
  parameters:
    type: object
    required: [key]
    additionalProperties: false
    properties:
      key: {type: string, minLength: 3, description: "Which thing"}
      serial: {type: integer, description: "Number of 17 digits"}
      price: {type: number, description: "Price in yuan"}
  response:
    type: object
    properties: {serial: {type: integer}, price: {type: number}}
  transport:
    http: {method: METHOD, url: "{{base.things}}/NAME/{key}"}
  timeout: 3s
  samples: [samples/NAME/*.json]
"""
SAMPLE = """\
{"request": {"arguments": {"key": "abc", "serial": 12345678901234567, "price": 0.10}},
 "response": {"status": 200, "headers": {"Content-Type": "application/json"},
              "body": {"serial": "{{arguments.serial}}", "price": "{{arguments.price}}", "half": 0.50}}}
"""


def write_catalogue(root: Path) -> Path:
    for name, effect, method in (("look_up", "read", "GET"), ("change", "write", "POST")):
        (root / "samples" / name).mkdir(parents=True)
        (root / "samples" / name / "default.json").write_text(SAMPLE)
        (root / "tools").mkdir(exist_ok=True)
        tool = TOOL.replace("NAME", name).replace("EFFECT", effect).replace("METHOD", method)
        (root / "tools" / f"{name}.yaml").write_text(tool)
    (root / "catalogue.yaml").write_text(CATALOGUE)
    return root


class Stack:
    """A mock server, the service in front of it, and a client."""

    def __init__(self, mock: MockTools, client: ActionClient, spans: InMemorySpanExporter) -> None:
        self.mock = mock
        self.client = client
        self.spans = spans

    async def call(self, tool: str, **changes: Any) -> Any:
        return await self.client.execute(request(tool, **changes), context(CLOCK))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_catalogue(tmp_path / "catalogue")


def settings_for(root: Path, bases: dict[str, str], url: str = "") -> ActionSettings:
    return ActionSettings(
        catalogue=root,
        bases=bases,
        ledger=LedgerSettings.model_validate({"url": url or f"sqlite+aiosqlite:///{root}/ledger.sqlite"}),
    )


@pytest.fixture
def profile() -> FaultProfile:
    return FaultProfile()


@pytest.fixture
async def stack(root: Path, profile: FaultProfile) -> AsyncIterator[Stack]:
    catalogue = read_catalogue(root)
    spans = InMemorySpanExporter()
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-action", exporter=spans)
    grpc = GrpcSettings()
    async with (
        MockTools(catalogue, read_samples(root, catalogue), profile) as mock,
        action_component(settings_for(root, mock.bases), telemetry, CLOCK) as component,
        serving([component], grpc, "127.0.0.1:0", telemetry, CLOCK) as server,
        action_client(server.address, grpc, telemetry) as client,
    ):
        yield Stack(mock, client, spans)
    await telemetry.aclose()


@pytest.mark.parametrize("tool", ["look_up", "change"])
async def test_seventeen_digits_and_a_final_zero_survive_both_ways(stack: Stack, tool: str) -> None:
    arguments = {"key": "abc", "serial": 12345678901234567, "price": Decimal("0.10")}
    result = await stack.call(tool, arguments=arguments)
    assert result.status is ActionStatus.SUCCEEDED
    assert result.parsed == {"serial": 12345678901234567, "price": Decimal("0.10"), "half": Decimal("0.50")}
    assert [str(result.parsed[name]) for name in ("price", "half")] == ["0.10", "0.50"]
    assert str(stack.mock.requests[0].arguments["price"]) == "0.10"


async def test_ids_and_the_trace_reach_the_tool_on_every_call(stack: Stack) -> None:
    await stack.call("look_up")
    await stack.call("change")
    for received in stack.mock.requests:
        assert received.headers["x-request-id"] == "2" * 32
        matched = re.fullmatch(r"00-([0-9a-f]{32})-([0-9a-f]{16})-0[13]", received.headers["traceparent"])
        assert matched is not None
        assert received.headers["x-trace-id"] == matched[1]
        (http_span,) = [
            span for span in stack.spans.get_finished_spans() if f"{span.context.span_id:016x}" == matched[2]
        ]
        assert http_span.name in {"GET /look_up/{key}", "POST /change/{key}"}


async def test_the_spans_of_one_call_hang_together(stack: Stack) -> None:
    await stack.call("look_up")
    spans = {span.name: span for span in stack.spans.get_finished_spans()}
    tool, http = spans["execute_tool look_up"], spans["GET /look_up/{key}"]
    assert http.parent is not None
    assert http.parent.span_id == tool.context.span_id
    assert tool.attributes is not None
    assert http.attributes is not None
    assert tool.attributes["gen_ai.tool.name"] == "look_up"
    assert tool.attributes["taoloop.action.status"] == "succeeded"
    assert http.attributes["http.response.status_code"] == 200
    assert len({span.context.trace_id for span in spans.values()}) == 1


async def test_a_write_is_sent_once_and_listed(stack: Stack) -> None:
    first = await stack.call("change", request_id="q1")
    second = await stack.call("change", request_id="q1")
    assert (first.served_by, second.served_by) == (ServedBy.PRIMARY, ServedBy.DUPLICATE)
    assert second.parsed == first.parsed
    assert stack.mock.calls == {"change": 1}
    listed = await stack.client.list_effects(ListEffectsRequest(run_id=first.run_id), context(CLOCK))
    assert [(effect.effect_id, effect.state) for effect in listed.effects] == [(first.effect_id, EffectState.SUCCEEDED)]
    with pytest.raises(RequestIdReused):
        await stack.call("change", request_id="q1", arguments={"key": "other"})


async def test_effects_come_by_page(stack: Stack) -> None:
    for key in ("abc", "abd", "abe"):
        await stack.call("change", arguments={"key": key}, step_id=key)
    first = await stack.client.list_effects(ListEffectsRequest(page_size=2), context(CLOCK))
    second = await stack.client.list_effects(
        ListEffectsRequest(page_size=2, page_token=first.next_page_token), context(CLOCK)
    )
    assert [effect.step_id for effect in (*first.effects, *second.effects)] == ["abe", "abd", "abc"]
    assert second.next_page_token == ""


async def test_the_tools_are_listed_and_shown(stack: Stack) -> None:
    listing = await stack.client.list_tools(context(CLOCK))
    assert [tool.name for tool in listing.tools] == ["change", "look_up"]
    shown = await stack.client.get_tool("look_up", context(CLOCK))
    assert isinstance(shown.contract, dict)
    assert shown.contract["metadata"] == {"name": "look_up"}
    with pytest.raises(UnknownTool):
        await stack.client.get_tool("nothing", context(CLOCK))


async def test_what_is_no_request_is_an_error(stack: Stack) -> None:
    with pytest.raises(InvalidRequest) as raised:
        await stack.client.execute(replace(request(), run_id="", step_id=""), context(CLOCK))
    assert [violation.field for violation in raised.value.violations] == ["run_id", "step_id"]
    with pytest.raises(TaoError) as mismatch:
        await stack.call("look_up", catalogue_digest="0" * 64)
    assert (mismatch.value.code, mismatch.value.reason) == ("FAILED_PRECONDITION", "CATALOGUE_MISMATCH")


@pytest.mark.parametrize("profile", [FaultProfile(gateway_timeout_rate=1.0)])
async def test_an_unknown_outcome_waits_for_a_person(stack: Stack) -> None:
    result = await stack.call("change")
    assert result.status is ActionStatus.OUTCOME_UNKNOWN
    wanted = ResolveEffectRequest(effect_id=result.effect_id, took_place=False, resolved_by="ana", request_id="s1")
    effect = await stack.client.resolve_effect(wanted, context(CLOCK))
    assert (effect.state, effect.resolved_by) == (EffectState.RECONCILED, "ana")
    with pytest.raises(TaoError) as raised:
        await stack.client.resolve_effect(replace(wanted, request_id="s2", took_place=True), context(CLOCK))
    assert (raised.value.code, raised.value.reason) == ("FAILED_PRECONDITION", "EFFECT_NOT_UNKNOWN")


async def test_a_forgetful_ledger_serves_no_writes_unless_that_is_waived(root: Path) -> None:
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-action")
    forgetful = settings_for(root, {}, "sqlite+aiosqlite:///:memory:")
    with pytest.raises(ConfigurationError, match="change"):
        async with action_component(forgetful, telemetry, CLOCK):
            pass
    waived = forgetful.model_copy(update={"ledger": forgetful.ledger.model_copy(update={"is_durability_waived": True})})
    async with action_component(waived, telemetry, CLOCK) as component:
        assert component.is_ready is not None
        assert await component.is_ready()
