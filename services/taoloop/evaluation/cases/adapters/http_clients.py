"""How calls leave: their idempotency key, a connection that breaks, and a pool whose calls are cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final

from taoloop.action.executor import Executor
from taoloop.action.ledger.idempotency import idempotency_key
from taoloop.action.ports import ToolCall, TransportFault
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import http_transport
from taoloop.core import exact_json
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.evaluation.cases.adapters.loops import new_telemetry
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.plan.acting import ExecuteRequest
from taoloop.plan.task import Permissions
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.testing.ports import LOOPBACK
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import HttpTransport, ToolContract
from taoloop.tools.signature import Effect

_TOOL: Final = "tool"
_SECONDS: Final = 20.0
_ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})

Answers = Callable[[asyncio.StreamWriter, int], Awaitable[None]]
"""Given the connection and the number of the request, from 1."""


def _idempotency(case_input: CaseInput) -> Said:
    first, second = _key(case_input["a"]), _key(case_input["b"])
    return {"same_key": first == second, "keys": [first, second]}


def _key(call: Mapping[str, Any]) -> str:
    # Attempt and worker are no part of it: that is the point.
    return idempotency_key("default", call["run"], call["step"], _TOOL, exact_json.digest(call["args"]))


async def _transport(case_input: CaseInput) -> Said:
    if case_input["failure"] != "closed_before_response":
        raise Unsupported(f"no server fails by {case_input['failure']}")
    method, is_reused = case_input["method"].upper(), bool(case_input.get("reused_connection"))
    failing = 2 if is_reused else 1

    async def answers(writer: asyncio.StreamWriter, number: int) -> None:
        if number == failing:
            writer.close()
        else:
            writer.write(_ANSWER)

    async with _serving(answers) as (port, heads), AsyncExitStack() as stack:
        telemetry, clock = new_telemetry(), SystemClock()
        stack.push_async_callback(telemetry.aclose)
        catalogue = Catalogue.of([_contract(port, method)])
        transport = await stack.enter_async_context(
            http_transport(ToolHttpSettings(), {}, ConfiguredSecrets({}), telemetry)
        )
        executor = Executor(catalogue, transport, InMemoryEffectLedger(clock), telemetry, clock)
        results = [
            await executor.execute(
                ExecuteRequest(
                    run_id=f"{number:032d}",
                    tool=_TOOL,
                    step_id="1.t1",
                    arguments={},
                    permissions=Permissions(max_effect=Effect.WRITE),
                ),
                CallContext(deadline=Deadline.after(_SECONDS, clock)),
            )
            for number in range(failing)
        ]
    return {"requests_on_wire": len(heads) - (failing - 1), "status": results[-1].status.value}


async def _pool(case_input: CaseInput) -> Said:
    opened = asyncio.Event()

    async def answers(writer: asyncio.StreamWriter, _: int) -> None:
        await opened.wait()
        writer.write(_ANSWER)

    size = case_input["max_connections"]
    async with _serving(answers) as (port, heads), AsyncExitStack() as stack:
        telemetry = new_telemetry()
        stack.push_async_callback(telemetry.aclose)
        transport = await stack.enter_async_context(
            http_transport(ToolHttpSettings(pool_size=size), {}, ConfiguredSecrets({}), telemetry)
        )
        call = ToolCall(contract=_contract(port, "GET"), arguments={}, timeout_seconds=_SECONDS, thought_id="0" * 32)
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(transport.attempt(call)) for _ in range(case_input["cancelled"])]
            while len(heads) < min(size, len(waiting)):  # noqa: ASYNC110 - the server counts, it does not call
                await asyncio.sleep(0.001)
            for task in waiting:
                task.cancel()
        opened.set()
        outcomes = await asyncio.gather(
            *(transport.attempt(call) for _ in range(case_input["then"])), return_exceptions=True
        )
        busy = transport.pools.pools[_TOOL].busy
    failures = [outcome for outcome in outcomes if isinstance(outcome, TransportFault)]
    return {"successes": len(outcomes) - len(failures), "busy_after": busy}


def _contract(port: int, method: str) -> ToolContract:
    return ToolContract(
        name=_TOOL,
        description="The tool of the case.",
        parameters={"type": "object"},
        response={},
        effect=Effect.READ if method in _READING else Effect.WRITE,
        transport=HttpTransport(method=method, url=f"http://{LOOPBACK}:{port}/"),
    )


@asynccontextmanager
async def _serving(answers: Answers) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Serve requests without bodies; yields the port and the heads that came in."""
    heads: list[bytes] = []
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                heads.append(await reader.readuntil(b"\r\n\r\n"))
                await answers(writer, len(heads))
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(connected, LOOPBACK, 0)
    try:
        yield server.sockets[0].getsockname()[1], heads
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


IDEMPOTENCY = Adapter(feed=_idempotency, required=("a", "b"))
TRANSPORT = Adapter(feed=_transport, required=("method", "failure"), optional=("reused_connection",))
POOL = Adapter(feed=_pool, required=("max_connections", "cancelled", "then"))
