"""ObservationService on the wire: messages in, verdicts out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import grpc.aio

from taoloop.api.v1 import observation_pb2 as pb
from taoloop.api.v1 import observation_pb2_grpc
from taoloop.core.clock import Clock
from taoloop.core.errors import DeadlineExceeded, FieldViolation, InvalidRequest
from taoloop.observation.drift.reading import DriftReader
from taoloop.observation.heavy_work import LARGE_CHARACTERS, HeavyWork
from taoloop.observation.metering import MeteredObserver
from taoloop.observation.semantic.answer_checker import LARGE_ANSWER_CHARACTERS
from taoloop.observation.semantic.metering import MeteredAnswerChecker
from taoloop.plan.answering import CheckAnswerRequest
from taoloop.plan.observing import ListDriftRequest, ObserveRequest
from taoloop.wire.context import incoming_call
from taoloop.wire.records.codec import decode, encode

MAX_BATCH_ITEMS: Final = 256
"""Most results that one ObserveBatch may hold."""

SERVICE_NAME: Final = "taoloop.api.v1.ObservationService"

_ITEMS_BETWEEN_PAUSES: Final = 16


class ObservationServicer(observation_pb2_grpc.ObservationServiceServicer):
    """Serves the verdicts of one observer.

    Args:
        observer: Judges.
        max_body_bytes: Largest body that is read from a message; the observer refuses a larger one by its size.
        clock: Gives way to other calls during a batch.
        heavy: Judges large bodies beside the event loop.
        drift: Lists what changed upstream.
        answers: Checks answers.
    """

    def __init__(
        self,
        observer: MeteredObserver,
        max_body_bytes: int,
        clock: Clock,
        heavy: HeavyWork,
        drift: DriftReader,
        answers: MeteredAnswerChecker,
    ) -> None:
        self._observer = observer
        self._max_body_bytes = max_body_bytes
        self._clock = clock
        self._heavy = heavy
        self._drift = drift
        self._answers = answers

    async def Observe(
        self,
        request: pb.ObserveRequest,
        _context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.ObserveResponse:
        """Judge one result."""
        return pb.ObserveResponse(result=await self._judged(request))

    async def ObserveBatch(
        self,
        request: pb.ObserveBatchRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.ObserveBatchResponse:
        """Judge the items in their order, giving way to other calls in between.

        Raises:
            InvalidRequest: INVALID_REQUEST, too many items or one that breaks its contract.
            DeadlineExceeded: The caller's time was used up before the last item.
        """
        _check_count(len(request.items))
        deadline = incoming_call(context).deadline
        response = pb.ObserveBatchResponse()
        for index, item in enumerate(request.items):
            if index % _ITEMS_BETWEEN_PAUSES == _ITEMS_BETWEEN_PAUSES - 1:
                await self._clock.sleep(0)
            if deadline.is_expired:
                raise DeadlineExceeded(f"The time was used up after {index} items.", metadata={"items": str(index)})
            with _named_by_place(index):
                response.results.append(await self._judged(item))
        return response

    async def CheckAnswer(
        self,
        request: pb.CheckAnswerRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.CheckAnswerResponse:
        """Compare an answer with its evidence; an unsupported claim is a verdict.

        Raises:
            InvalidRequest: INVALID_REQUEST, evidence that is no JSON.
            QueueFull: QUEUE_FULL, too many large inputs wait already.
        """
        evidence_characters = sum(len(one.exposed_json) for one in request.evidence)
        if evidence_characters > self._answers.limits.max_evidence_bytes:
            return encode(self._answers.refuse_evidence(), pb.CheckAnswerResponse)
        is_large = len(request.text) + evidence_characters > LARGE_ANSWER_CHARACTERS
        if is_large:
            record = await self._heavy.run(lambda: decode(CheckAnswerRequest, request))
        else:
            record = decode(CheckAnswerRequest, request)
        verdict = await self._answers.check(record, incoming_call(context).deadline, is_large=is_large)
        return encode(verdict, pb.CheckAnswerResponse)

    async def ListDrift(
        self,
        request: pb.ListDriftRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.ListDriftResponse:
        """List what the tools began to answer that was never seen of them; raises what `DriftReader` does."""
        record = decode(ListDriftRequest, request)
        return encode(await self._drift.list_drift(record, incoming_call(context)), pb.ListDriftResponse)

    async def _judged(self, request: pb.ObserveRequest) -> pb.ObservationResult:
        if not LARGE_CHARACTERS < len(request.result.parsed_json) <= self._max_body_bytes:
            return self._judged_here(request)
        return await self._heavy.run(lambda: self._judged_here(request))

    def _judged_here(self, request: pb.ObserveRequest) -> pb.ObservationResult:
        record = decode(ObserveRequest, self._bounded(request))
        return encode(self._observer.observe(record), pb.ObservationResult)

    def _bounded(self, request: pb.ObserveRequest) -> pb.ObserveRequest:
        """Take a body that is too large out before it is parsed, and leave its size for the verdict."""
        size_bytes = len(request.result.parsed_json)  # characters: at most the bytes of the UTF-8 text
        if size_bytes <= self._max_body_bytes:
            return request
        request.result.ClearField("parsed_json")
        request.result.body.size_bytes = max(size_bytes, request.result.body.size_bytes)
        return request


def registrar(servicer: ObservationServicer) -> Callable[[grpc.aio.Server], None]:
    """Return what adds the servicer to a server."""
    return lambda server: observation_pb2_grpc.add_ObservationServiceServicer_to_server(servicer, server)


def _check_count(count: int) -> None:
    if count > MAX_BATCH_ITEMS:
        violation = FieldViolation("items", f"has {count} items; at most {MAX_BATCH_ITEMS} are allowed")
        raise InvalidRequest(
            f"A batch has at most {MAX_BATCH_ITEMS} items, not {count}.",
            violations=(violation,),
            metadata={"items": str(count), "limit": str(MAX_BATCH_ITEMS)},
        )


@contextmanager
def _named_by_place(index: int) -> Iterator[None]:
    """Let the violations of one item name its place in the batch."""
    try:
        yield
    except InvalidRequest as error:
        placed = tuple(FieldViolation(f"items[{index}].{found.field}", found.description) for found in error.violations)
        metadata = {**error.metadata, "item": str(index)}
        raise InvalidRequest(f"Item {index}: {error.message}", violations=placed, metadata=metadata) from error
