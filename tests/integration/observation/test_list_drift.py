"""What changed upstream is listed over real gRPC, shared by replicas over a real Valkey, and survives its loss."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, InvalidRequest, UnknownTool
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.observation.app import observation_component
from taoloop.observation.settings import ObservationSettings
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.observing import DriftKind, ListDriftRequest, ObserveRequest
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.tools.bundle import pack
from taoloop.tools.seen import read_seen
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.channel import connect
from taoloop.wire.clients import ObservationClient
from taoloop.wire.server import serving

CATALOGUE = Path("examples/customer-service")
SHIPMENT: Any = {
    "order_id": "20260308000012345",
    "state": "IT",
    "carrier": "顺丰速运",
    "tracking_number": "SF100200300400",
    "latest_event": "快件已到达杭州转运中心",
    "eta": "2026-03-12T18:00:00",
}
CHANGED: Any = {**SHIPMENT, "state": "CUSTOMS", "weight": 3}


def call() -> CallContext:
    return CallContext(deadline=Deadline.after(10.0, SystemClock()))


def request_of(body: Any) -> ObserveRequest:
    result = ActionResult(
        step_id="1.t1", tool="get_shipment", status=ActionStatus.SUCCEEDED, status_code=200, parsed=body
    )
    return ObserveRequest(result=result, arguments={"order_id": SHIPMENT["order_id"]})


@asynccontextmanager
async def replica(catalogue: Path, redis_url: str | None = None) -> AsyncIterator[tuple[ObservationClient, Telemetry]]:
    drift: Any = {"every_seconds": 0.05}
    if redis_url is not None:
        drift["redis"] = {"url": redis_url, "outage_tolerance_seconds": 0.2}
    settings = ObservationSettings.model_validate({"catalogue": catalogue, "observation_drift": drift})
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-observation")
    async with (
        observation_component(settings, telemetry, SystemClock()) as component,
        serving([component], settings.grpc, "127.0.0.1:0", telemetry, SystemClock(), grace_seconds=1.0) as server,
        connect(server.address, settings.grpc, telemetry) as channel,
    ):
        yield ObservationClient(channel), telemetry
    await telemetry.aclose()


async def test_one_replica_lists_what_it_saw_and_says_that_it_is_alone() -> None:
    async with replica(CATALOGUE) as (client, telemetry):
        assert (await client.observe(request_of(SHIPMENT), call())).drift == ()
        await client.observe(request_of(CHANGED), call())
        verdict = await client.observe(request_of(CHANGED), call())
        assert [found.kind for found in verdict.drift] == [DriftKind.NEW_ENUM_VALUE, DriftKind.NEW_FIELD]

        listed = await client.list_drift(ListDriftRequest(tool="get_shipment"), call())

        assert listed.is_local
        assert [(found.drift.pointer, found.drift.value, found.count) for found in listed.records if found.drift] == [
            ("/state", "CUSTOMS", 2),
            ("/weight", "number", 2),
        ]
        exposition = telemetry.metrics.exposition()
        assert 'taoloop_observation_drift_total{kind="new_field",tool="get_shipment"} 2.0' in exposition


async def test_a_bundle_finds_the_same_drift_as_its_directory(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.json"
    catalogue = read_catalogue(CATALOGUE)
    bundle.write_text(pack(catalogue, read_seen(CATALOGUE, catalogue)), encoding="utf-8")

    async with replica(bundle) as (client, _):
        assert (await client.observe(request_of(SHIPMENT), call())).drift == ()
        assert len((await client.observe(request_of(CHANGED), call())).drift) == 2


async def test_replicas_share_what_they_saw_and_it_outlives_them(valkey: EmbeddedValkey) -> None:
    async with AsyncExitStack() as stack:
        clients = [(await stack.enter_async_context(replica(CATALOGUE, valkey.url)))[0] for _ in range(2)]
        for client in clients:
            await client.observe(request_of(CHANGED), call())
            await client.list_drift(ListDriftRequest(), call())

    async with replica(CATALOGUE, valkey.url) as (client, _):
        page = await client.list_drift(ListDriftRequest(page_size=1), call())
        assert not page.is_local
        assert [found.count for found in page.records] == [2]
        rest = await client.list_drift(ListDriftRequest(page_size=1, page_token=page.next_page_token), call())
        assert (len(rest.records), rest.next_page_token) == (1, "")


async def test_a_redis_that_is_away_fails_no_observation_and_the_listing_says_so() -> None:
    async with replica(CATALOGUE, "redis://127.0.0.1:1/0") as (client, _):
        for _ in range(3):
            assert len((await client.observe(request_of(CHANGED), call())).drift) == 2
        with pytest.raises(BackendUnavailable):
            await client.list_drift(ListDriftRequest(), call())


async def test_a_tool_that_is_not_there_and_a_page_that_cannot_be_are_refused() -> None:
    async with replica(CATALOGUE) as (client, _):
        with pytest.raises(UnknownTool):
            await client.list_drift(ListDriftRequest(tool="get_shipmemt"), call())
        with pytest.raises(InvalidRequest):
            await client.list_drift(ListDriftRequest(page_size=5000), call())
