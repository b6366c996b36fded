"""One real call of a tool through the transport of its kind, for what is recorded of it."""

from __future__ import annotations

from dataclasses import replace

from taoloop.action.payload import read_payload
from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.action.settings import ActionSettings
from taoloop.action.transports.opening import tool_transports
from taoloop.core.clock import SystemClock
from taoloop.core.errors import BackendUnavailable, InvalidRequest
from taoloop.core.ids import new_id
from taoloop.core.telemetry import Telemetry
from taoloop.evaluation.samples.exchanges import Exchange
from taoloop.tools.arguments import ArgumentsRefused, read_arguments
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compiled import CompiledTool


async def call_once(tool: CompiledTool, text: str, settings: ActionSettings, catalogue: Catalogue) -> Exchange:
    """Make one attempt, under the contract's time limit, without retries and stand-ins.

    Args:
        tool: Which.
        text: JSON object of its arguments.
        settings: Addresses, secrets and networks.
        catalogue: Has the bases.

    Raises:
        InvalidRequest: The arguments cannot be used.
        BackendUnavailable: No whole answer came.
    """
    name = tool.contract.name
    try:
        arguments = dict(read_arguments(tool.parameters, text).value)
    except ArgumentsRefused as exc:
        raise InvalidRequest(f"The arguments of {name} cannot be used: {exc}") from exc
    clock = SystemClock()
    alone = Catalogue([tool], name=catalogue.name, bases=catalogue.bases)
    telemetry = Telemetry.build(settings.telemetry, "taoloop-record")
    try:
        async with tool_transports(settings, alone, telemetry, clock) as transport:
            call = ToolCall(
                contract=tool.contract,
                arguments=arguments,
                timeout_seconds=tool.contract.timeout_seconds,
                thought_id=new_id(clock),
                idempotency_key=f"record-{new_id(clock)}",
            )
            began = clock.monotonic()
            reply = await transport.attempt(call)
            seconds = clock.monotonic() - began
    except TransportFault as fault:
        message = f"{name} gave no whole answer, so nothing was recorded: {fault.code}: {fault.message}"
        raise BackendUnavailable(message, metadata={"tool": name, "fault": str(fault.code)}) from fault
    finally:
        await telemetry.aclose()
    return replace(_exchange(tool, reply), arguments=arguments, response_time_seconds=seconds)


def _exchange(tool: CompiledTool, reply: Reply) -> Exchange:
    payload = read_payload(reply, expects_json=tool.contract.response is not True)
    return Exchange(
        tool=tool.contract.name,
        status_code=reply.status_code,
        body=payload.parsed,
        raw=payload.raw,
        content_type=reply.content_type,
        retry_after=reply.retry_after,
    )
