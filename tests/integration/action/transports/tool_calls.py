"""Contracts of any transport, and attempts at them."""

from __future__ import annotations

from typing import Any

from taoloop.action.ports import Reply, ToolCall, Transport
from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.contract import Idempotency, Pool, ToolContract
from taoloop.tools.contract import Transport as TransportRecord
from taoloop.tools.signature import Effect

THOUGHT = "2" * 32


def contract(
    transport: TransportRecord,
    *,
    name: str = "tool_under_test",
    effect: Effect = Effect.READ,
    pool: Pool | None = None,
    idempotency: Idempotency | None = None,
    timeout_seconds: float = 20.0,
) -> ToolContract:
    """Return the contract of a tool that takes any arguments."""
    return ToolContract(
        name=name,
        description="A tool under test.",
        effect=effect,
        parameters={"type": "object"},
        response=True,
        transport=transport,
        pool=pool,
        idempotency=idempotency,
        timeout_seconds=timeout_seconds,
        document={"name": name},
    )


def tool_call(tool: ToolContract, seconds: float = 20.0, key: str = "", **arguments: JsonValue) -> ToolCall:
    """Return one attempt."""
    return ToolCall(
        contract=tool, arguments=arguments, timeout_seconds=seconds, thought_id=THOUGHT, idempotency_key=key
    )


async def attempted(
    transport: Transport, tool: ToolContract, seconds: float = 20.0, key: str = "", **arguments: JsonValue
) -> Reply:
    """Make one attempt."""
    return await transport.attempt(tool_call(tool, seconds, key, **arguments))


def body_of(reply: Reply) -> Any:
    """Return the exact JSON of a reply."""
    return exact_json.loads(reply.body)
