"""A way to tools that answers from a script."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue

Answer = Reply | TransportFault | Exception | Callable[[ToolCall], Awaitable[Reply]]


class ScriptedTransport:
    """A `Transport` that gives its answers one after the other and remembers the calls.

    Args:
        answers: For each attempt: a reply, an exception to raise, or a function of the call. An attempt beyond
            the script is an AssertionError, so that a call too many is seen.

    Attributes:
        calls: What was attempted, in order.
    """

    def __init__(self, answers: Iterable[Answer] = ()) -> None:
        self._answers = deque(answers)
        self.calls: list[ToolCall] = []

    def then(self, answer: Answer) -> None:
        """Add an answer to the end of the script."""
        self._answers.append(answer)

    async def attempt(self, call: ToolCall) -> Reply:
        """Give the next answer of the script."""
        self.calls.append(call)
        assert self._answers, f"call {len(self.calls)} of {call.contract.name} is not in the script"
        answer = self._answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            await asyncio.sleep(0)
            return answer
        return await answer(call)

    def __repr__(self) -> str:
        return f"ScriptedTransport(calls={len(self.calls)}, left={len(self._answers)})"


def json_reply(value: JsonValue, status_code: int = 200, *, retry_after: str = "") -> Reply:
    """Return a reply whose body is this value as JSON."""
    return Reply(
        status_code=status_code,
        content_type="application/json",
        body=exact_json.dumps(value).encode(),
        retry_after=retry_after,
    )
