"""The idempotency key as an argument, for transports that have no headers."""

from __future__ import annotations

from taoloop.action.ports import ToolCall, TransportFault
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import KeyLocation


def with_body_key(call: ToolCall) -> dict[str, JsonValue]:
    """Return the arguments with the key among them, if the contract declares a place for it in the body.

    Raises:
        TransportFault: NOT_YET_SUPPORTED, the contract wants the key where this transport has no place.
    """
    place = call.contract.idempotency
    if place is None or not call.idempotency_key:
        return call.arguments
    if place.location is not KeyLocation.BODY:
        message = f"The transport of the tool {call.contract.name} has no place for a key in the {place.location}."
        raise TransportFault(FaultCode.NOT_YET_SUPPORTED, message, may_have_left=False)
    return {**call.arguments, place.name: call.idempotency_key}
