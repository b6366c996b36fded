"""The exceptions that leave a service as an RPC status: one class, one gRPC code.

```text
TaoError                      code                 raised when
├── InvalidRequest            INVALID_ARGUMENT     the message breaks its contract
│   └── InvalidMetadata       INVALID_ARGUMENT     a metadata entry breaks its contract
├── Unauthenticated           UNAUTHENTICATED      the caller is not known
├── PermissionDenied          PERMISSION_DENIED    the caller may not do this
├── UnknownRun                NOT_FOUND            no run has this id
├── UnknownHandover           NOT_FOUND            the run has no such handover
├── UnknownTool               NOT_FOUND            no tool has this name
├── CatalogueInvalid          FAILED_PRECONDITION  the catalogue cannot serve this call
│   └── CatalogueMismatch     FAILED_PRECONDITION  the call was planned for another catalogue
├── NotReady                  FAILED_PRECONDITION  the service has not finished starting
├── NotWaiting                FAILED_PRECONDITION  the run waits for no such answer
├── RequestIdReused           ALREADY_EXISTS       another body came under the same request id
├── RunConflict               ABORTED              another host advanced the run
├── MessageTooLarge           RESOURCE_EXHAUSTED   a message is larger than the channel allows
│   └── EventTooLarge         RESOURCE_EXHAUSTED   an event is larger than the run log takes
├── QueueFull                 RESOURCE_EXHAUSTED   the queue takes no more work now
│   ├── TenantQueueFull       RESOURCE_EXHAUSTED   the tenant has as much work in the queue as it may
│   ├── TooManyRuns           RESOURCE_EXHAUSTED   the host drives as many runs as it may
│   ├── TooManyTenantRuns     RESOURCE_EXHAUSTED   the tenant has as many runs open as one may
│   └── TooManyCalls          RESOURCE_EXHAUSTED   the server carries out as many calls as it may
├── BudgetExhausted           RESOURCE_EXHAUSTED   the tenant has spent its budget
├── BackendUnavailable        UNAVAILABLE          something that the service stands on does not answer
│   └── BackendOutOfMemory    UNAVAILABLE          it answers, and has no memory left for what is to be written
├── DeadlineExceeded          DEADLINE_EXCEEDED    the time of the call is used up
├── FeatureNotServed          UNIMPLEMENTED        this build does not serve the RPC or the feature
├── InternalError             INTERNAL             anything else; the cause is in the log only
└── ConfigurationError        (start-up only)      a setting is missing or wrong
```

A tool that failed or a result that was rejected is no error: it is a `taoloop.core.faults.Fault`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Self


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field of a request that breaks its contract.

    Attributes:
        field: Path of the field, such as `turns[0].text`.
        description: What is wrong with it, in one sentence.
    """

    field: str
    description: str


class TaoError(Exception):
    """The service could not do what it was asked.

    Args:
        message: One sentence for the caller; no secrets, no payloads.
        reason: UPPER_SNAKE, stable, one cause; the class's own when left out.
        metadata: Every value that the message mentions, for programs.
        retry_after_seconds: When a repeat may succeed, at least 0; None says nothing.

    Attributes:
        code: Name of the gRPC status code, such as `INVALID_ARGUMENT`.
        remedy: What the caller or the operator does about it.
    """

    code: ClassVar[str] = "INTERNAL"
    reason: str = "INTERNAL"
    remedy: ClassVar[str] = "Look up the incident in the service's log."

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        metadata: Mapping[str, str] | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.metadata: Mapping[str, str] = MappingProxyType(dict(metadata or {}))
        self.retry_after_seconds = retry_after_seconds
        if reason is not None:
            self.reason = reason

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, reason={self.reason!r}, metadata={dict(self.metadata)!r})"


class InvalidRequest(TaoError):
    """The message breaks its contract; each violation names one field.

    Args:
        message: One sentence for the caller.
        violations: Every field at fault, in the order of the message.
        reason: See `TaoError`.
        metadata: See `TaoError`.
        retry_after_seconds: See `TaoError`.
    """

    code = "INVALID_ARGUMENT"
    reason = "INVALID_REQUEST"
    remedy = "Correct the named fields and send the request again."

    def __init__(
        self,
        message: str,
        *,
        violations: Sequence[FieldViolation] = (),
        reason: str | None = None,
        metadata: Mapping[str, str] | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message, reason=reason, metadata=metadata, retry_after_seconds=retry_after_seconds)
        self.violations = tuple(violations)


class InvalidMetadata(InvalidRequest):
    """A metadata entry of the call is missing, malformed or given twice."""

    reason = "INVALID_METADATA"
    remedy = "Correct the named metadata entry and send the request again."


class Unauthenticated(TaoError):
    """The caller sent no credentials, or credentials that are not valid."""

    code = "UNAUTHENTICATED"
    reason = "UNAUTHENTICATED"
    remedy = "Send valid credentials."


class PermissionDenied(TaoError):
    """The caller is known and may not do this."""

    code = "PERMISSION_DENIED"
    reason = "PERMISSION_DENIED"
    remedy = "Ask the operator for the permission that the message names."


class UnknownRun(TaoError):
    """No run has this id, or it belongs to another tenant, or it is past its retention."""

    code = "NOT_FOUND"
    reason = "UNKNOWN_RUN"
    remedy = "Check the run id and the tenant; a repeat gives the same answer."

    @classmethod
    def of(cls, run_id: str) -> Self:
        """Return the error for this run id."""
        return cls(f"There is no run {run_id}.", metadata={"run_id": run_id})


class UnknownHandover(TaoError):
    """The run has no handover with this id, or none that is open where no id was given."""

    code = "NOT_FOUND"
    reason = "UNKNOWN_HANDOVER"
    remedy = "List the handovers of the tenant or of the run; a repeat gives the same answer."


class UnknownTool(TaoError):
    """No tool of the catalogue has this name."""

    code = "NOT_FOUND"
    reason = "UNKNOWN_TOOL"
    remedy = "List the tools; a repeat gives the same answer."

    @classmethod
    def of(cls, tool: str) -> Self:
        """Return the error for this tool name."""
        return cls(f"There is no tool {tool}.", metadata={"tool": tool})


class CatalogueInvalid(TaoError):
    """The catalogue has faults, or its digest is not the one that the call was planned against."""

    code = "FAILED_PRECONDITION"
    reason = "CATALOGUE_INVALID"
    remedy = "The operator corrects the catalogue or gives all services the same bundle; the caller plans again."


class CatalogueMismatch(CatalogueInvalid):
    """The call was planned for another catalogue than the one that the service has loaded."""

    reason = "CATALOGUE_MISMATCH"
    remedy = "Plan again; if it lasts, the operator gives all services the same bundle."

    @classmethod
    def of(cls, wanted: str, loaded: str) -> Self:
        """Return the error for a call pinned to the digest `wanted` at a service that has `loaded`."""
        return cls(
            f"The call is pinned to catalogue {wanted[:12]}, this service has {loaded[:12]}.",
            metadata={"wanted_digest": wanted, "loaded_digest": loaded},
        )


class NotReady(TaoError):
    """The service has not finished starting, or is about to stop."""

    code = "FAILED_PRECONDITION"
    reason = "NOT_READY"
    remedy = "Wait until the health service says SERVING; if it never does, the operator reads the log."


class NotWaiting(TaoError):
    """The run waits for no answer, or for the answer to another question."""

    code = "FAILED_PRECONDITION"
    reason = "NOT_WAITING"
    remedy = "Read the run and answer the question that it names; a run that does not wait needs no answer."


class RequestIdReused(TaoError):
    """Another body was already accepted under the same request id."""

    code = "ALREADY_EXISTS"
    reason = "REQUEST_ID_REUSED"
    remedy = "Send the other body under an id of its own."

    @classmethod
    def of(cls, request_id: str) -> Self:
        """Return the error for this request id."""
        return cls(
            f"Request id {request_id} was used before with another body.",
            metadata={"request_id": request_id},
        )


class RunConflict(TaoError):
    """Another host or another call advanced the run at the same time."""

    code = "ABORTED"
    reason = "RUN_CONFLICT"
    remedy = "Read the run again and retry one level up."


class MessageTooLarge(TaoError):
    """A message is larger than the channel allows."""

    code = "RESOURCE_EXHAUSTED"
    reason = "MESSAGE_TOO_LARGE"
    remedy = "Send less, or raise the limit on both sides."

    @classmethod
    def of(cls, size_bytes: int, limit_bytes: int) -> Self:
        """Return the error for a message of `size_bytes` on a channel that takes `limit_bytes`."""
        return cls(
            f"The message has {size_bytes} bytes; the limit is {limit_bytes}.",
            metadata={"size_bytes": str(size_bytes), "limit_bytes": str(limit_bytes)},
        )


class EventTooLarge(MessageTooLarge):
    """An event of a run is larger than the run log takes; nothing of it was written.

    Attributes:
        limit_bytes: The most that the log takes.
    """

    reason = "EVENT_TOO_LARGE"
    remedy = "Let tools return less, ask for less in one task, or raise TAOLOOP_RUNS__MAX_EVENT_BYTES."
    limit_bytes: int = 0

    @classmethod
    def of_event(cls, run_id: str, sequence: int, size_bytes: int, limit_bytes: int) -> Self:
        """Return the error for an event of `size_bytes` in a log that takes `limit_bytes`."""
        error = cls(
            f"Event {sequence} of run {run_id} has {size_bytes} bytes; the run log takes {limit_bytes}.",
            metadata={
                "run_id": run_id,
                "sequence": str(sequence),
                "size_bytes": str(size_bytes),
                "limit_bytes": str(limit_bytes),
            },
        )
        error.limit_bytes = limit_bytes
        return error


class QueueFull(TaoError):
    """The queue holds as much work as it may."""

    code = "RESOURCE_EXHAUSTED"
    reason = "QUEUE_FULL"
    remedy = "Wait as long as the error says, then retry; if it lasts, add workers."


class TenantQueueFull(QueueFull):
    """The tenant has as much work in the queue as one tenant may; others are still served."""

    reason = "TENANT_QUEUE_FULL"
    remedy = "Wait as long as the error says, then retry; send less at the same time, or ask for a higher share."


class TooManyRuns(QueueFull):
    """The host drives as many runs as it may."""

    reason = "TOO_MANY_RUNS"
    remedy = "Wait as long as the error says, then retry; if it lasts, add hosts or raise the limit."


class TooManyTenantRuns(QueueFull):
    """The tenant has as many runs open, on all hosts together, as one tenant may; others are still served."""

    reason = "TOO_MANY_TENANT_RUNS"
    remedy = "Wait as long as the error says, then retry; start fewer at the same time, or ask for a higher limit."


class TooManyCalls(QueueFull):
    """The server has as many calls in progress as it may; this one was not looked at."""

    reason = "TOO_MANY_CALLS"
    remedy = "Wait as long as the error says, then retry; if it lasts, add replicas or raise max_concurrent_rpcs."


class BudgetExhausted(TaoError):
    """The tenant has spent its budget of runs, calls or tokens for now."""

    code = "RESOURCE_EXHAUSTED"
    reason = "BUDGET_EXHAUSTED"
    remedy = "Wait as long as the error says, or ask the operator for a larger budget."


class BackendUnavailable(TaoError):
    """Something that the service stands on does not answer."""

    code = "UNAVAILABLE"
    reason = "BACKEND_UNAVAILABLE"
    remedy = "Retry a call that is idempotent; if it lasts, the operator looks at the named backend."


class BackendOutOfMemory(BackendUnavailable):
    """Something that the service stands on has no memory left for what is to be written."""

    reason = "BACKEND_OUT_OF_MEMORY"
    remedy = "Retry later; the operator gives the named backend more memory, or finds out what fills it."


class DeadlineExceeded(TaoError):
    """The time that the caller gave the call is used up."""

    code = "DEADLINE_EXCEEDED"
    reason = "DEADLINE_EXCEEDED"
    remedy = "Give more time; never repeat automatically."


class FeatureNotServed(TaoError):
    """This build does not serve the RPC or the feature."""

    code = "UNIMPLEMENTED"
    reason = "FEATURE_NOT_SERVED"
    remedy = "Leave the feature out, or use a version that serves it."

    @classmethod
    def rpc(cls, method: str) -> Self:
        """Return the error for an RPC such as `/taoloop.api.v1.ActionService/ListEffects`."""
        return cls(f"{method} is not served by this version.", metadata={"rpc": method})


class InternalError(TaoError):
    """The service failed in a way that it does not describe to callers."""

    @classmethod
    def of(cls, incident_id: str) -> Self:
        """Return the error for an incident; its cause is in the log under the same id."""
        return cls(f"Internal error; incident {incident_id}.", metadata={"incident_id": incident_id})


class ConfigurationError(TaoError):
    """A setting is missing or wrong, or an optional library that it needs is not installed; start-up only."""

    reason = "CONFIGURATION_INVALID"
    remedy = "Correct the named setting, or install the named extra, and start again."


def error_classes() -> tuple[type[TaoError], ...]:
    """Return every error class that is loaded, parents before children, in the order of definition."""

    def walk(cls: type[TaoError]) -> Iterator[type[TaoError]]:
        yield cls
        for child in cls.__subclasses__():
            yield from walk(child)

    return tuple(walk(TaoError))
