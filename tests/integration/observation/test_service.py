"""The observation service over real gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import CatalogueInvalid, InvalidRequest
from taoloop.core.exact_json import ABSENT, dumps, loads
from taoloop.core.faults import FaultCode
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.observation.app import observation_component
from taoloop.observation.settings import ObservationSettings
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.observing import ObserveRequest
from taoloop.tools.signature import Trust
from taoloop.wire.channel import connect
from taoloop.wire.clients import ObservationClient
from taoloop.wire.server import serving

CONTRACT = """\
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: read_meter}
spec:
  description: The reading of one meter.
  use_when: the user asks for a reading
  effect: read
  parameters:
    type: object
    required: [meter]
    additionalProperties: false
    properties: {meter: {type: string, description: Number of the meter}}
  response:
    type: object
    required: [reading, at]
    properties:
      reading: {type: number}
      at: {type: string}
      serial: {type: integer}
  transport:
    http: {method: GET, url: "{{base.meters}}/meters/{meter}"}
  observe:
    normalise:
      - {field: /at, to: /read_at, as: datetime, time_zone: Asia/Shanghai}
    rules:
      - {id: positive, severity: hard, when: {">=": [{var: data.reading}, 0]}}
    expose: [/reading, /read_at]
"""

CATALOGUE = """\
apiVersion: taoloop.dev/v1
kind: Catalogue
metadata: {name: meters}
spec:
  bases: {meters: "http://127.0.0.1:9"}
  tools: tools/*.yaml
"""


@dataclass
class Running:
    client: ObservationClient
    telemetry: Telemetry
    spans: InMemorySpanExporter

    def call(self, seconds: float = 10.0) -> CallContext:
        return CallContext(deadline=Deadline.after(seconds, SystemClock()))


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "read_meter.yaml").write_text(CONTRACT, encoding="utf-8")
    (tmp_path / "catalogue.yaml").write_text(CATALOGUE, encoding="utf-8")
    return tmp_path


@asynccontextmanager
async def running(settings: ObservationSettings) -> AsyncIterator[Running]:
    spans = InMemorySpanExporter()
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-observation", exporter=spans)
    async with (
        observation_component(settings, telemetry, SystemClock()) as component,
        serving([component], settings.grpc, "127.0.0.1:0", telemetry, SystemClock(), grace_seconds=1.0) as server,
        connect(server.address, settings.grpc, telemetry) as channel,
    ):
        yield Running(ObservationClient(channel), telemetry, spans)
    await telemetry.aclose()


@pytest.fixture
async def service(catalogue: Path) -> AsyncIterator[Running]:
    settings = ObservationSettings(catalogue=catalogue, observation_max_body_bytes=2000)
    async with running(settings) as started:
        yield started


def request_of(body: Any, **fields: Any) -> ObserveRequest:
    given: dict[str, Any] = {"status": ActionStatus.SUCCEEDED, "status_code": 200, "trust": Trust.TRUSTED, **fields}
    return ObserveRequest(result=ActionResult(step_id="1.t1", tool="read_meter", parsed=body, **given))


GOOD = '{"reading":0.10,"at":"2024-05-20 22:30:00","serial":12345678901234567}'


async def test_exact_numbers_cross_the_wire(service: Running) -> None:
    verdict = await service.client.observe(request_of(loads(GOOD)), service.call())

    assert verdict.valid
    assert dumps(verdict.data) == '{"reading":0.10,"serial":12345678901234567,"read_at":"2024-05-20T14:30:00Z"}'
    assert dumps(verdict.exposed) == '{"reading":0.10,"read_at":"2024-05-20T14:30:00Z"}'
    assert verdict.omitted == ("/serial",)
    assert verdict.execution_permitted


async def test_bad_result_is_a_verdict_and_no_error(service: Running) -> None:
    verdict = await service.client.observe(request_of({"reading": "x" * 900}), service.call())

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.SCHEMA_VIOLATION
    assert {failure.pointer for failure in verdict.failures} == {"/reading", "/at"}
    assert all(len(str(failure.actual)) <= 200 for failure in verdict.failures)


async def test_batch_keeps_its_order(service: Running) -> None:
    items = [request_of({"reading": n, "at": "2024-05-20 22:30:00"}) for n in (1, -1, 2, -2)]

    verdicts = await service.client.observe_batch(items, service.call())

    assert [verdict.valid for verdict in verdicts] == [True, False, True, False]


async def test_batch_above_its_limit_is_refused_and_names_the_field(service: Running) -> None:
    assert len(await service.client.observe_batch([request_of({})] * 256, service.call())) == 256
    with pytest.raises(InvalidRequest) as caught:
        await service.client.observe_batch([request_of({})] * 257, service.call())
    assert caught.value.violations[0].field == "items"


async def test_item_without_a_result_is_refused_by_its_place(service: Running) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await service.client.observe_batch([request_of({}), ObserveRequest()], service.call())
    assert caught.value.violations[0].field == "items[1].result"


async def test_run_pinned_to_another_catalogue_is_refused(service: Running) -> None:
    pinned = ObserveRequest(result=request_of({}).result, catalogue_digest="0" * 64)

    with pytest.raises(CatalogueInvalid) as caught:
        await service.client.observe(pinned, service.call())
    assert caught.value.reason == "CATALOGUE_MISMATCH"


async def test_body_above_the_limit_is_a_verdict_and_is_counted(service: Running) -> None:
    verdict = await service.client.observe(request_of({"reading": 1, "at": "x" * 2000}), service.call())

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.RESPONSE_TOO_LARGE
    shown = service.telemetry.metrics.exposition()
    assert 'taoloop_response_refused_total{limit="observation_max_body_bytes",tool="read_meter"} 1.0' in shown


async def test_what_is_too_long_to_be_shown_is_cut_and_counted(catalogue: Path) -> None:
    body: Any = {"reading": 1, "at": "2024-05-20 22:30:00", "note": "x" * 1000}
    everything = CONTRACT.replace("expose: [/reading, /read_at]", 'expose: [""]')
    (catalogue / "tools" / "read_meter.yaml").write_text(everything, encoding="utf-8")

    async with running(ObservationSettings(catalogue=catalogue, observation_max_exposed_bytes=256)) as started:
        verdict = await started.client.observe(request_of(body), started.call())
        shown = started.telemetry.metrics.exposition()

    assert verdict.valid
    assert (verdict.exposed_is_cut, verdict.omitted, verdict.omitted_count) == (True, ("/note",), 1)
    assert 'taoloop_observation_exposed_cut_total{tool="read_meter"} 1.0' in shown


async def test_large_body_does_not_hold_up_other_calls(catalogue: Path) -> None:
    # 400 000 numbers take some 100 ms to judge; a small result that comes later is answered first.
    large = request_of({"reading": 1, "at": "2024-05-20 22:30:00", "history": list(range(400_000))})
    small = request_of(loads(GOOD))
    ended: list[str] = []

    async def judge(name: str, request: ObserveRequest) -> None:
        verdict = await started.client.observe(request, started.call())
        assert verdict.valid
        ended.append(name)

    async with running(ObservationSettings(catalogue=catalogue, observation_max_body_bytes=4 << 20)) as started:
        await started.client.observe(small, started.call())
        async with asyncio.TaskGroup() as group:
            group.create_task(judge("large", large), name="large")
            group.create_task(judge("small", small), name="small")
    assert ended == ["small", "large"]


async def test_verdicts_are_counted_and_traced_by_tool(service: Running) -> None:
    await service.client.observe(request_of(loads(GOOD)), service.call())
    unknown = ActionResult(step_id="1.t1", tool="made_up_1234", status=ActionStatus.SUCCEEDED, parsed=ABSENT)
    await service.client.observe(ObserveRequest(result=unknown), service.call())

    shown = service.telemetry.metrics.exposition()
    assert 'taoloop_observations_total{tool="read_meter",valid="true"} 1.0' in shown
    assert 'taoloop_observations_total{tool="unknown",valid="false"} 1.0' in shown
    assert "made_up_1234" not in shown
    spans = {span.name: span for span in service.spans.get_finished_spans()}
    assert dict(spans["observe read_meter"].attributes or {})["taoloop.observation.valid"] is True
    assert dict(spans["observe unknown"].attributes or {})["taoloop.fault.code"] == "UNKNOWN_TOOL"


async def test_catalogue_with_faults_stops_the_start_and_is_explained(catalogue: Path) -> None:
    (catalogue / "tools" / "read_meter.yaml").write_text(CONTRACT.replace("effect: read", "effect: maybe"))

    with pytest.raises(CatalogueInvalid, match=r"read_meter\.yaml:7"):
        async with running(ObservationSettings(catalogue=catalogue)):
            pass
