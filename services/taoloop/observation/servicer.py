"""ObservationService on the wire: messages in, verdicts out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
from taoloop.wire.records.codec import append, decode, encode, encode_in

MAX_BATCH_ITEMS: Final = 256
"""Most results that one ObserveBatch may hold."""

SERVICE_NAME: Final = "taoloop.api.v1.ObservationService"

_CHARACTERS_OF_AN_ITEM: Final = 2048
"""The characters of JSON that take as long as all else of one observation."""
_COMPILING_FACTOR: Final = 4


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
        self._small_bytes = min(max_body_bytes, LARGE_CHARACTERS // _COMPILING_FACTOR)
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
        if request.ByteSize() <= self._small_bytes:
            return self._response(request)
        return await self._larger(request)

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
        characters = 0
        for index, item in enumerate(request.items):
            if deadline.is_expired:
                raise DeadlineExceeded(f"The time was used up after {index} items.", metadata={"items": str(index)})
            size = item.ByteSize()
            try:
                if size <= self._small_bytes:
                    verdict = self._observer.observe(decode(ObserveRequest, item))
                    append(verdict, pb.ObservationResult, response.results)
                else:
                    size = len(item.result.parsed_json) + _other_characters(item)
                    response.results.append((await self._larger(item)).result)
            except InvalidRequest as error:
                raise _named_by_place(error, index) from error
            characters += _CHARACTERS_OF_AN_ITEM + size
            if characters > LARGE_CHARACTERS:  # as much at a time as one call may take
                characters = 0
                await self._clock.sleep(0)
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

    async def _larger(self, request: pb.ObserveRequest) -> pb.ObserveResponse:
        """Judge a request that may be near a bound; where it takes long, beside the event loop."""
        is_heavy = self._is_heavy(request)
        bounded = self._bounded(request)
        return await self._heavy.run(partial(self._response, bounded)) if is_heavy else self._response(bounded)

    def _is_heavy(self, request: pb.ObserveRequest) -> bool:
        body, other = len(request.result.parsed_json), _other_characters(request)
        if other > self._max_body_bytes:
            _refuse_larger(request, self._max_body_bytes)
        return other + (body if body <= self._max_body_bytes else 0) > LARGE_CHARACTERS

    def _response(self, request: pb.ObserveRequest) -> pb.ObserveResponse:
        verdict = self._observer.observe(decode(ObserveRequest, request))
        return encode_in(pb.ObserveResponse, "result", verdict, pb.ObservationResult)

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


def _other_characters(request: pb.ObserveRequest) -> int:
    """Return how much JSON there is to read besides the body; a schema is compiled, too."""
    read = len(request.arguments_json) + len(request.expect_json)
    return read + _COMPILING_FACTOR * len(request.output_schema_json)


def _refuse_larger(request: pb.ObserveRequest, limit: int) -> None:
    """Refuse what comes with a result and is larger than a body may be, before it is parsed."""
    for field in ("arguments_json", "expect_json", "output_schema_json"):
        size = len(getattr(request, field))
        if size > limit:
            violation = FieldViolation(field, f"has {size} characters; at most {limit} are read")
            message = f"ObserveRequest: {field} {violation.description}."
            metadata = {"field": field, "limit": "TAOLOOP_OBSERVATION_MAX_BODY_BYTES"}
            raise InvalidRequest(message, violations=(violation,), metadata=metadata)


def _check_count(count: int) -> None:
    if count > MAX_BATCH_ITEMS:
        violation = FieldViolation("items", f"has {count} items; at most {MAX_BATCH_ITEMS} are allowed")
        raise InvalidRequest(
            f"A batch has at most {MAX_BATCH_ITEMS} items, not {count}.",
            violations=(violation,),
            metadata={"items": str(count), "limit": str(MAX_BATCH_ITEMS)},
        )


def _named_by_place(error: InvalidRequest, index: int) -> InvalidRequest:
    """Return the error of one item with violations that name its place in the batch."""
    placed = tuple(FieldViolation(f"items[{index}].{found.field}", found.description) for found in error.violations)
    metadata = {**error.metadata, "item": str(index)}
    return InvalidRequest(f"Item {index}: {error.message}", violations=placed, metadata=metadata)
