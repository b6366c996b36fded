"""ThoughtService on the wire: messages in, thoughts out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

import grpc.aio
from google.protobuf.message import DecodeError, Message

from taoloop.api.v1 import thought_pb2 as pb
from taoloop.api.v1 import thought_pb2_grpc
from taoloop.core.errors import InvalidRequest
from taoloop.plan.thinking import CheckPlanRequest, ThinkRequest, ThinkResponse
from taoloop.thought.front import ThoughtFront
from taoloop.thought.plan_checking import PlanChecking
from taoloop.thought.queue.job_codec import RecordCodec
from taoloop.wire.context import incoming_call
from taoloop.wire.records.codec import decode, encode

RecordT = TypeVar("RecordT")

SERVICE_NAME: Final = "taoloop.api.v1.ThoughtService"
# The stubs type the context by the reply of the synchronous API; nothing here depends on it.
Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]


class ThoughtServicer(thought_pb2_grpc.ThoughtServiceServicer):
    """Serves one front."""

    def __init__(self, front: ThoughtFront, checking: PlanChecking) -> None:
        self._front = front
        self._checking = checking

    async def Think(self, request: pb.ThinkRequest, context: Context) -> pb.ThinkResponse:
        """Make one thought."""
        response = await self._front.think(decode(ThinkRequest, request), incoming_call(context))
        return encode(response, pb.ThinkResponse)

    async def CheckPlan(self, request: pb.CheckPlanRequest, context: Context) -> pb.CheckPlanResponse:
        """Check a plan."""
        return encode(self._checking.check(decode(CheckPlanRequest, request)), pb.CheckPlanResponse)


def registrar(servicer: ThoughtServicer) -> Callable[[grpc.aio.Server], None]:
    """Return what adds the servicer to a server."""
    return lambda server: thought_pb2_grpc.add_ThoughtServiceServicer_to_server(servicer, server)


def record_codec() -> RecordCodec:
    """Return requests and responses as the bytes of their messages: the queue speaks what the wire speaks."""
    return RecordCodec(
        encode_request=lambda record: encode(record, pb.ThinkRequest).SerializeToString(),
        decode_request=lambda data: _read(ThinkRequest, pb.ThinkRequest, data),
        encode_response=lambda record: encode(record, pb.ThinkResponse).SerializeToString(),
        decode_response=lambda data: _read(ThinkResponse, pb.ThinkResponse, data),
    )


def _read(record_class: type[RecordT], message_class: type[Message], data: bytes) -> RecordT:
    try:
        return decode(record_class, message_class.FromString(data))
    except (DecodeError, InvalidRequest) as error:
        raise ValueError(f"no {message_class.DESCRIPTOR.name}: {error}") from error
