"""What tools answer to attempts, for the tests of the attempt loop."""

from __future__ import annotations

import asyncio

from taoloop.action.outcomes import Outcome
from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionStatus
from taoloop.testing.transport import json_reply
from taoloop.tools.contract import (
    ConsecutiveBreaker,
    Idempotency,
    KeyLocation,
)

OK = json_reply({"id": 1})
BUSY = json_reply({}, 503)
SLOW = TransportFault(FaultCode.TOOL_TIMEOUT, "No answer came.", may_have_left=True, is_retriable=True)
DOWN = TransportFault(FaultCode.TOOL_UNREACHABLE, "Nobody listens.", may_have_left=False, is_retriable=True)
CUT = TransportFault(
    FaultCode.RESPONSE_INCOMPLETE,
    "It broke off.",
    may_have_left=True,
    is_retriable=True,
    received=Reply(status_code=200, body=b'{"id"', reused_connection=True),
)
KEY = Idempotency(location=KeyLocation.HEADER, name="Idempotency-Key")
ROW = ConsecutiveBreaker(failures=2, open_for_seconds=30.0)


class Gate:
    """An answer that waits until it is let go."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self, _call: ToolCall) -> Reply:
        self.entered.set()
        await self.open.wait()
        return OK


def ended(outcome: Outcome) -> tuple[ActionStatus, str]:
    return outcome.status, outcome.fault.code if outcome.fault is not None else ""


def said(outcome: Outcome) -> str:
    assert outcome.fault is not None
    return outcome.fault.message
