"""Single calls over real gRPC: message sizes, metadata, status messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, DeadlineExceeded, InvalidMetadata, TaoError
from taoloop.core.settings import GrpcSettings
from taoloop.evaluation.cases.adapters.loops import new_telemetry
from taoloop.evaluation.cases.adapters.refusing import rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.evaluation.cases.vocabulary import case_word
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import Answer, ThinkRequest, ThinkResponse
from taoloop.testing.ports import LOOPBACK
from taoloop.thought.front import ThoughtFront, failure_of
from taoloop.thought.model import ThinkJob, ThinkReply
from taoloop.thought.plan_checking import PlanChecking
from taoloop.thought.servicer import SERVICE_NAME, ThoughtServicer, record_codec, registrar
from taoloop.tools.catalogue import Catalogue
from taoloop.wire.channel import connect
from taoloop.wire.clients import ThoughtClient
from taoloop.wire.component import Component
from taoloop.wire.server import serving

_CALL_SECONDS: Final = 30.0

# What a breaker counts besides a tool's own answers: the transport gave up, or time ran out.
_BREAKER_FAILURES: Final = (BackendUnavailable, DeadlineExceeded)


class _OneReply:
    """A `JobQueue` that gives one reply to every job."""

    def __init__(self, reply: ThinkReply) -> None:
        self._reply = reply

    async def ask(self, job: ThinkJob, deadline: Deadline) -> ThinkReply:  # noqa: ARG002 - the port's
        """See `JobQueue.ask`."""
        return self._reply

    async def is_ready(self) -> bool:
        """See `JobQueue.is_ready`."""
        return True


class _NotingServicer(ThoughtServicer):
    """The thought service, which notes the metadata of the calls that reach it."""

    def __init__(self, front: ThoughtFront, checking: PlanChecking) -> None:
        super().__init__(front, checking)
        self.received: list[tuple[tuple[str, Any], ...]] = []

    async def Think(self, request: Any, context: Any) -> Any:  # noqa: N802 - the name is the RPC's
        """Note the call and serve it."""
        self.received.append(tuple((key, value) for key, value in context.invocation_metadata() or ()))
        return await super().Think(request, context)


@dataclass(frozen=True, slots=True)
class _Thought:
    """A served thought service: a client of it, and the calls that reached it."""

    client: ThoughtClient
    servicer: _NotingServicer

    async def think(self, text: str = "hello") -> TaoError | ThinkResponse:
        """Ask for one thought; return it, or the error that came instead."""
        call = CallContext(deadline=Deadline.after(_CALL_SECONDS, SystemClock()))
        try:
            return await self.client.think(_request(text), call)
        except TaoError as error:
            return error


@asynccontextmanager
async def _served(
    reply: ThinkReply, settings: GrpcSettings, metadata: Mapping[str, str] | None = None
) -> AsyncIterator[_Thought]:
    """Serve the thought service on a free port, with both sides made of the same settings."""
    clock, telemetry = SystemClock(), new_telemetry()
    servicer = _NotingServicer(ThoughtFront(_OneReply(reply)), PlanChecking(Catalogue(())))
    component = Component(name="thought", service_names=(SERVICE_NAME,), register=registrar(servicer))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(telemetry.aclose)
        enter = stack.enter_async_context
        server = await enter(serving((component,), settings, f"{LOOPBACK}:0", telemetry, clock, grace_seconds=1.0))
        channel = await enter(connect(server.address, settings, telemetry, metadata))
        yield _Thought(ThoughtClient(channel), servicer)


async def _size(case_input: CaseInput) -> Said:
    try:
        settings = GrpcSettings(max_message_bytes=case_input["limit_bytes"])
    except ValidationError as exc:
        raise Unsupported(f"no such limit can be set: {exc.errors()[0]['msg']}") from exc
    reply, text = "ok", "hello"
    if "response_bytes" in case_input:
        reply = _padded(case_input["response_bytes"], _response_bytes)
    if "request_bytes" in case_input:
        text = _padded(case_input["request_bytes"], _request_bytes)
    async with _served(ThinkReply(_answer(reply)), settings) as thought:
        said = await thought.think(text)
    if not isinstance(said, TaoError):
        return {"status": "success", "attempts": len(thought.servicer.received), "breaker_failures": 0}
    return {
        "status": "error",
        "error_class": case_word(said.reason),
        "message": said.message,
        "attempts": len(thought.servicer.received),
        "breaker_failures": int(isinstance(said, _BREAKER_FAILURES)),
    }


def _padded(wanted: int, size: Callable[[str], int]) -> str:
    """Return the text with which a message has exactly this size on the wire, where one exists."""
    length = max(0, wanted - size(""))
    for _ in range(4):  # the length prefixes grow with the text, so that the first guess is a few bytes too long
        over = size("x" * length) - wanted
        if over == 0:
            break
        length = max(0, length - over)
    return "x" * length


def _request(text: str) -> ThinkRequest:
    return ThinkRequest(run_id="0" * 32, iteration=1, turns=(Turn(role=Role.USER, text=text),))


def _answer(text: str) -> ThinkResponse:
    return ThinkResponse(outcome=Answer(text=text))


def _response_bytes(text: str) -> int:
    return len(record_codec().encode_response(_answer(text)))


def _request_bytes(text: str) -> int:
    return len(record_codec().encode_request(_request(text)))


async def _metadata(case_input: CaseInput) -> Said:
    key, value = case_input["key"], case_input["value"]
    try:
        async with _served(ThinkReply(_answer("ok")), GrpcSettings(), {key: value}) as thought:
            said = await thought.think()
    except InvalidMetadata as error:
        return rejected(error.reason, message=error.message)
    if isinstance(said, TaoError):
        return rejected(said.reason, message=said.message) | {"executed": bool(thought.servicer.received)}
    values = [received for name, received in thought.servicer.received[0] if name == key]
    return {"outcome": "accepted", "roundtrip": values == [value]}


async def _status_message(case_input: CaseInput) -> Said:
    failure = failure_of(BackendUnavailable(case_input["value"]))
    async with _served(ThinkReply(failure), GrpcSettings()) as thought:
        said = await thought.think()
    if not isinstance(said, TaoError):
        return {"roundtrip": False}
    return {"roundtrip": said.message == case_input["value"], "message": said.message}


GRPC_SIZE = Adapter(feed=_size, required=("limit_bytes", "response_bytes|request_bytes"))
GRPC_METADATA = Adapter(feed=_metadata, required=("key", "value"))
GRPC_STATUS_MESSAGE = Adapter(feed=_status_message, required=("value",))
