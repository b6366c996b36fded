"""Jobs and tools of MCP servers through the action service, over gRPC, as a catalogue declares them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from taoloop.action.app import action_component
from taoloop.action.settings import ActionSettings, LedgerSettings
from taoloop.core.clock import SystemClock
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import FaultCode
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.effects import EffectState, ListEffectsRequest
from taoloop.testing.mcp_server import mcp_http_server
from taoloop.wire.clients import ActionClient, action_client
from taoloop.wire.server import serving
from tests.unit.action.contracts import context, request

CLOCK = SystemClock()
CATALOGUE = """\
apiVersion: taoloop.dev/v1
kind: Catalogue
metadata: {name: works}
spec:
  bases: {works: "http://127.0.0.1:9", mcp: "http://127.0.0.1:9"}
  tools: tools/*.yaml
"""
TOOL = """\
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: NAME}
spec:
  description: Does some work.
  use_when: the user asks for work
  avoid_when: anything else
  effect: EFFECT
  reach: internal
  trust: trusted
  parameters:
    type: object
    required: [key]
    additionalProperties: false
    properties: {key: {type: string, minLength: 3, description: Which work}}
  response: {type: object}
  transport:
    TRANSPORT
  timeout: 3s
"""
JOB = """\
job:
      create: {method: POST, url: "{{base.works}}/tasks"}
      query: {method: GET, url: "{{base.works}}/tasks/{job.id}"}
      cancel: {method: DELETE, url: "{{base.works}}/tasks/{job.id}"}
      id: /data/task/id
      created_status: /data/task/status
      queried_id: /data/id
      status: /data/status
      states: {pending: queued, running: running, succeeded: done, failed: failed, cancelled: cancelled}
      result: /data/result
      poll_every: 100ms
      total: 20s
"""
MCP = """\
mcp: {server: {url: "{{base.mcp}}/mcp"}, tool: echo}
"""


class Works:
    """A server whose jobs run until they were asked about twice, unless it is told otherwise."""

    def __init__(self) -> None:
        self.created = 0
        self.deleted = 0
        self.asked = 0
        self.needed = 2
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.is_deleted = asyncio.Event()

    async def create(self, _request: web.Request) -> web.Response:
        self.created += 1
        return web.json_response({"data": {"task": {"id": f"t/{self.created}", "status": "queued"}}}, status=201)

    async def query(self, request: web.Request) -> web.Response:
        self.asked += 1
        self.is_asked.set()
        await self.may_answer.wait()
        is_over = self.asked >= self.needed
        found: dict[str, Any] = {"id": request.match_info["id"], "status": "done" if is_over else "running"}
        return web.json_response({"data": found | ({"result": {"documents": 3}} if is_over else {})})

    async def delete(self, _request: web.Request) -> web.Response:
        self.deleted += 1
        self.is_deleted.set()
        return web.Response(status=204)


@asynccontextmanager
async def works_server(works: Works) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/tasks", works.create)
    app.router.add_get("/tasks/{id:.+}", works.query)
    app.router.add_delete("/tasks/{id:.+}", works.delete)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    root = tmp_path / "works"
    (root / "tools").mkdir(parents=True)
    (root / "catalogue.yaml").write_text(CATALOGUE)
    for name, effect, transport in (("count_all", "read", JOB), ("build_all", "write", JOB), ("echo_it", "read", MCP)):
        text = TOOL.replace("NAME", name).replace("EFFECT", effect).replace("TRANSPORT", transport.strip())
        (root / "tools" / f"{name}.yaml").write_text(text)
    return root


@pytest.fixture
def works() -> Works:
    return Works()


@pytest.fixture
async def settings(tmp_path: Path, catalogue: Path, works: Works) -> AsyncIterator[ActionSettings]:
    async with works_server(works) as base:
        ledger = LedgerSettings(url=SecretStr(f"sqlite+aiosqlite:///{tmp_path / 'ledger.sqlite'}"))
        yield ActionSettings(
            catalogue=catalogue, bases={"works": base}, ledger=ledger, job_handle_key=SecretStr("k" * 32)
        )


@asynccontextmanager
async def action(settings: ActionSettings) -> AsyncIterator[ActionClient]:
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-action")
    async with (
        action_component(settings, telemetry, CLOCK) as component,
        serving([component], GrpcSettings(), "127.0.0.1:0", telemetry, CLOCK) as server,
        action_client(server.address, GrpcSettings(), telemetry) as client,
    ):
        yield client


async def ask(client: ActionClient, tool: str, handle: Any = ABSENT, seconds: float = 10.0) -> ActionResult:
    return await client.execute(request(tool, job_handle=handle), context(CLOCK, seconds))


async def test_a_job_is_asked_about_by_its_handle_until_it_is_over(settings: ActionSettings, works: Works) -> None:
    async with action(settings) as client:
        result = await ask(client, "count_all")
        asked = 0
        while result.status is ActionStatus.PENDING:
            result = await ask(client, "count_all", result.job_handle)
            asked += 1
    assert (result.status, result.parsed, asked) == (ActionStatus.SUCCEEDED, {"documents": 3}, 2)
    assert (works.created, works.deleted) == (1, 0)


async def test_a_write_is_created_once_though_the_service_restarts(settings: ActionSettings, works: Works) -> None:
    async with action(settings) as client:
        first = await ask(client, "build_all")
    async with action(settings) as client:
        again = await ask(client, "build_all")
        assert (again.job_handle, works.created) == (first.job_handle, 1)
        result = await ask(client, "build_all", await last_pending(client, first))
        (effect,) = (await client.list_effects(ListEffectsRequest(), context(CLOCK))).effects
    assert (result.status, effect.state) == (ActionStatus.SUCCEEDED, EffectState.SUCCEEDED)


async def last_pending(client: ActionClient, result: ActionResult) -> Any:
    """Ask once and return the handle of a job that is still pending."""
    result = await ask(client, "build_all", result.job_handle)
    assert result.status is ActionStatus.PENDING
    return result.job_handle


async def test_a_handle_of_another_key_is_refused(settings: ActionSettings) -> None:
    async with action(settings) as client:
        handle = (await ask(client, "count_all")).job_handle
    async with action(settings.model_copy(update={"job_handle_key": None})) as client:
        result = await ask(client, "count_all", handle)
    assert result.fault is not None
    assert (result.status, result.fault.code) == (ActionStatus.REJECTED, FaultCode.JOB_HANDLE_REFUSED)


async def test_a_caller_that_goes_away_cancels_the_job(settings: ActionSettings, works: Works) -> None:
    works.may_answer.clear()
    async with action(settings) as client:
        handle = (await ask(client, "count_all")).job_handle
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(ask(client, "count_all", handle, seconds=30.0))
            await works.is_asked.wait()
            asking.cancel()
        async with asyncio.timeout(5):
            await works.is_deleted.wait()
    assert works.deleted == 1
    works.may_answer.set()


async def test_a_tool_of_an_mcp_server_is_a_tool_like_any_other(settings: ActionSettings) -> None:
    async with mcp_http_server() as mock:
        bases = settings.bases | {"mcp": mock.url.removesuffix("/mcp")}
        async with action(settings.model_copy(update={"bases": bases})) as client:
            result = await ask(client, "echo_it")
    assert (result.status, result.parsed, result.status_code) == (ActionStatus.SUCCEEDED, {"key": "abc"}, 200)
