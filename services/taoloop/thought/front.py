"""The front of the thought service: turns a request into a job and a reply into a thought or an error."""

from __future__ import annotations

from collections.abc import Sequence

from taoloop.core.calls import CallContext
from taoloop.core.errors import FieldViolation, InternalError, InvalidRequest, TaoError, error_classes
from taoloop.core.telemetry.tracing import inject
from taoloop.plan.task import Turn
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.thought.model import ThinkFailure, ThinkJob, job_id_of
from taoloop.thought.ports import JobQueue
from taoloop.values.cleaning.requests import clean_request


class ThoughtFront:
    """Hands requests to the workers by way of the queue."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue

    async def think(self, request: ThinkRequest, call: CallContext) -> ThinkResponse:
        """Make one thought; the same run and iteration give the stored one.

        Raises:
            InvalidRequest: A turn holds marks that nobody sees. Spans count code points of the text that the caller
                stores, so that the caller takes them out, as the loop does.
            QueueFull: The queue takes no more, of all or of this priority.
            TenantQueueFull: The tenant has as many jobs in the queue as it may.
            DeadlineExceeded: No worker answered in time.
            BackendUnavailable: The queue does not answer.
            TaoError: What the worker raised, as it raised it.
        """
        _require_clean(request.turns)
        trace: dict[str, str] = {}
        inject(trace)
        job = ThinkJob(
            job_id=job_id_of(call.tenant, request),
            tenant=call.tenant,
            request=request,
            trace=trace,
        )
        reply = await self._queue.ask(job, call.deadline)
        match reply.outcome:
            case ThinkFailure() as failure:
                raise error_of(failure)
            case response:
                return response


def _require_clean(turns: Sequence[Turn]) -> None:
    violations = [
        FieldViolation(f"turns[{index}].text", f"holds marks that nobody sees: {cleaned.described}")
        for index, turn in enumerate(turns)
        if (cleaned := clean_request(turn.text)).is_changed
    ]
    if violations:
        what = "; ".join(f"{violation.field} {violation.description}" for violation in violations)
        raise InvalidRequest(f"The conversation is not clean: {what}.", violations=violations)


def failure_of(error: TaoError) -> ThinkFailure:
    """Return the parts of an error that travel through the queue."""
    return ThinkFailure(
        reason=error.reason,
        message=error.message,
        metadata=dict(error.metadata),
        retry_after_seconds=error.retry_after_seconds,
    )


def error_of(failure: ThinkFailure) -> TaoError:
    """Return the error that a worker met; a reason that this version does not know is an internal error."""
    # The first class below the root that has the reason, since children may inherit it.
    known = next((cls for cls in error_classes()[1:] if cls.reason == failure.reason), InternalError)
    return known(failure.message, metadata=failure.metadata, retry_after_seconds=failure.retry_after_seconds)
