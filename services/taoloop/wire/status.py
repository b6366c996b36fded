"""Errors as gRPC status with `google.rpc` details, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError, Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

from taoloop.core import errors
from taoloop.core.errors import TaoError
from taoloop.wire.records.scalars import duration_fields, duration_seconds

DOMAIN: Final = "taoloop.dev"
DETAILS_KEY: Final = "grpc-status-details-bin"

# All trailers of a call must stay below 8 KiB, the default limit of gRPC clients; base64 and percent-encoding count.
MAX_DETAILS_BYTES: Final = 3_072
MAX_MESSAGE_BYTES: Final = 768

_TOO_LARGE = re.compile(r"message larger than max \((\d+) vs\. (\d+)\)")

# The class of a status that carries no details of ours: another server's, a proxy's or gRPC's own.
_BY_CODE: Mapping[grpc.StatusCode, type[TaoError]] = {
    grpc.StatusCode.CANCELLED: errors.BackendUnavailable,
    grpc.StatusCode.UNKNOWN: errors.InternalError,
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidRequest,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.DeadlineExceeded,
    grpc.StatusCode.NOT_FOUND: errors.UnknownRun,
    grpc.StatusCode.ALREADY_EXISTS: errors.RequestIdReused,
    grpc.StatusCode.PERMISSION_DENIED: errors.PermissionDenied,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.QueueFull,
    grpc.StatusCode.FAILED_PRECONDITION: errors.NotReady,
    grpc.StatusCode.ABORTED: errors.RunConflict,
    grpc.StatusCode.OUT_OF_RANGE: errors.InvalidRequest,
    grpc.StatusCode.UNIMPLEMENTED: errors.FeatureNotServed,
    grpc.StatusCode.INTERNAL: errors.InternalError,
    grpc.StatusCode.UNAVAILABLE: errors.BackendUnavailable,
    grpc.StatusCode.DATA_LOSS: errors.InternalError,
    grpc.StatusCode.UNAUTHENTICATED: errors.Unauthenticated,
    grpc.StatusCode.OK: errors.InternalError,  # an error that says OK is a broken peer
}


def status_code(error: TaoError) -> grpc.StatusCode:
    """Return the gRPC status code of an error."""
    return grpc.StatusCode[error.code]


def status_text(error: TaoError) -> str:
    """Return the status message: the error's own, cut between characters to `MAX_MESSAGE_BYTES` of UTF-8."""
    encoded = error.message.encode(errors="replace")
    if len(encoded) <= MAX_MESSAGE_BYTES:
        return encoded.decode()
    return encoded[: MAX_MESSAGE_BYTES - 3].decode(errors="ignore") + "…"


def status_details(error: TaoError) -> bytes:
    """Return the value of `grpc-status-details-bin`: a `google.rpc.Status` of at most `MAX_DETAILS_BYTES`.

    `ErrorInfo` comes first; of the rest, what does not fit is left out from the end.
    """
    status = status_pb2.Status(code=code_pb2.Code.Value(error.code), message=status_text(error))
    for detail in _details(error):
        packed = AnyMessage()
        packed.Pack(detail)
        if status.ByteSize() + packed.ByteSize() > MAX_DETAILS_BYTES - 8:
            break
        status.details.append(packed)
    encoded: bytes = status.SerializeToString()
    return encoded


def _details(error: TaoError) -> Iterator[Message]:
    budget = MAX_DETAILS_BYTES - MAX_MESSAGE_BYTES - 256
    yield error_details_pb2.ErrorInfo(
        reason=error.reason, domain=DOMAIN, metadata=_fitting(error.metadata, budget // 2)
    )
    if error.retry_after_seconds is not None:
        yield error_details_pb2.RetryInfo(retry_delay=duration_fields(max(0.0, error.retry_after_seconds)))
    if isinstance(error, errors.InvalidRequest) and error.violations:
        yield _bad_request(error, budget // 2)
    if error.code == "FAILED_PRECONDITION":
        violation = {"type": error.reason, "subject": DOMAIN, "description": error.remedy}
        yield error_details_pb2.PreconditionFailure(violations=[violation])
    if isinstance(error, errors.BudgetExhausted):
        subject = f"tenant:{error.metadata['tenant']}" if "tenant" in error.metadata else DOMAIN
        yield error_details_pb2.QuotaFailure(violations=[{"subject": subject, "description": error.remedy}])


def _fitting(metadata: Mapping[str, str], budget_bytes: int) -> dict[str, str]:
    """Return the entries that fit, whole: half a value would be a wrong one."""
    kept: dict[str, str] = {}
    for key, value in metadata.items():
        budget_bytes -= len(key) + len(value.encode(errors="replace")) + 8
        if budget_bytes < 0:
            break
        kept[key] = value.encode(errors="replace").decode()
    return kept


def _bad_request(error: errors.InvalidRequest, budget_bytes: int) -> error_details_pb2.BadRequest:
    detail = error_details_pb2.BadRequest()
    for violation in error.violations:
        text = violation.description.encode(errors="replace").decode()
        budget_bytes -= len(violation.field.encode()) + len(text.encode()) + 8
        if budget_bytes < 0:
            break
        detail.field_violations.add(field=violation.field, description=text)
    return detail


def from_rpc_error(error: grpc.aio.AioRpcError, method: str, address: str) -> TaoError:
    """Return the error that a failed call means: of the class that was raised, by its reason, else by its code.

    Args:
        error: What the call raised.
        method: Such as `taoloop.api.v1.ThoughtService/Think`.
        address: Where the call went.
    """
    details = _received(error)
    info = details.get(error_details_pb2.ErrorInfo)
    if info is None or info.domain != DOMAIN:
        return _foreign(error, method, address)
    text = error.details() or info.reason
    options: dict[str, Any] = {"reason": info.reason, "metadata": dict(info.metadata)}
    retry = details.get(error_details_pb2.RetryInfo)
    if retry is not None:
        options["retry_after_seconds"] = duration_seconds(retry.retry_delay)
    error_class = _class_of(info.reason, error.code())
    if issubclass(error_class, errors.InvalidRequest):
        options["violations"] = _violations(details.get(error_details_pb2.BadRequest))
    return error_class(text, **options)


def _violations(detail: Any) -> tuple[errors.FieldViolation, ...]:
    if detail is None:
        return ()
    return tuple(errors.FieldViolation(found.field, found.description) for found in detail.field_violations)


def _class_of(reason: str, code: grpc.StatusCode) -> type[TaoError]:
    for error_class in errors.error_classes():
        if error_class.reason == reason and error_class.code == code.name and error_class is not TaoError:
            return error_class
    return _BY_CODE[code]


def _foreign(error: grpc.aio.AioRpcError, method: str, address: str) -> TaoError:
    code, text = error.code(), error.details() or ""
    metadata = {"rpc": method, "address": address, "grpc_code": code.name}
    size = _TOO_LARGE.search(text)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and size is not None:
        return errors.MessageTooLarge.of(int(size[1]), int(size[2]))
    describe = _WORDING.get(code)
    sentence = describe(method, address) if describe else f"{method} at {address} failed with {code.name}"
    return _BY_CODE[code](f"{sentence}: {text}" if text else f"{sentence}.", metadata=metadata)


_WORDING: Mapping[grpc.StatusCode, Callable[[str, str], str]] = {
    grpc.StatusCode.UNAVAILABLE: lambda method, address: f"{address} does not answer {method}",
    grpc.StatusCode.CANCELLED: lambda method, address: f"{address} gave up {method}",
    grpc.StatusCode.DEADLINE_EXCEEDED: lambda method, address: f"{method} at {address} took longer than it may",
    grpc.StatusCode.UNIMPLEMENTED: lambda method, address: f"{address} does not serve {method}",
}


def _received(error: grpc.aio.AioRpcError) -> dict[type[Message], Any]:
    """Return the details that a status carries, by their class; unknown and broken ones are left out."""
    found: dict[type[Message], Any] = {}
    for key, value in error.trailing_metadata() or ():
        if key != DETAILS_KEY or not isinstance(value, bytes):
            continue
        try:
            status = status_pb2.Status.FromString(value)
            for packed in status.details:
                for detail_class in (
                    error_details_pb2.ErrorInfo,
                    error_details_pb2.RetryInfo,
                    error_details_pb2.BadRequest,
                ):
                    if packed.Is(detail_class.DESCRIPTOR):
                        found[detail_class] = detail_class.FromString(packed.value)
        except DecodeError:
            continue
    return found
