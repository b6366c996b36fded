"""Every error has a status, and every status an error."""

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2, status_pb2

from taoloop.core import errors
from taoloop.core.errors import FieldViolation, TaoError
from taoloop.wire.status import (
    DETAILS_KEY,
    MAX_DETAILS_BYTES,
    from_rpc_error,
    status_code,
    status_details,
    status_text,
)

_ON_THE_WIRE = [cls for cls in errors.error_classes() if cls not in {TaoError, errors.ConfigurationError}]


def _received(error: TaoError) -> TaoError:
    """Return the error as a client gets it."""
    trailing = grpc.aio.Metadata((DETAILS_KEY, status_details(error)))
    rpc_error = grpc.aio.AioRpcError(status_code(error), grpc.aio.Metadata(), trailing, status_text(error))
    return from_rpc_error(rpc_error, "taoloop.api.v1.ThoughtService/Think", "thought:7701")


def _foreign(code: grpc.StatusCode, text: str = "text") -> TaoError:
    rpc_error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), text)
    return from_rpc_error(rpc_error, "taoloop.api.v1.ThoughtService/Think", "thought:7701")


def _details(error: TaoError) -> dict[str, status_pb2.Status]:
    status = status_pb2.Status.FromString(status_details(error))
    return {packed.TypeName().rpartition(".")[2]: packed for packed in status.details}


@pytest.mark.parametrize("error_class", _ON_THE_WIRE, ids=lambda cls: cls.__name__)
def test_every_error_comes_back_as_itself(error_class: type[TaoError]) -> None:
    error = error_class("工具超时", metadata={"tool": "订单"}, retry_after_seconds=1.25)
    read = _received(error)
    assert type(read) is error_class
    assert (read.message, read.reason, read.metadata, read.retry_after_seconds) == (
        "工具超时",
        error.reason,
        {"tool": "订单"},
        1.25,
    )


@pytest.mark.parametrize(
    ("error", "error_class"),
    [
        (errors.UnknownRun("m", reason="FROM_A_NEWER_VERSION"), errors.UnknownRun),
    ],
)
def test_reason_without_a_class_keeps_its_reason(error: TaoError, error_class: type[TaoError]) -> None:
    read = _received(error)
    assert (type(read), read.reason) == (error_class, error.reason)


def test_violations_cross() -> None:
    violations = (FieldViolation("turns[0].text", "must be set"), FieldViolation("状态", "不对"))
    read = _received(errors.InvalidRequest("m", violations=violations))
    assert isinstance(read, errors.InvalidRequest)
    assert read.violations == violations


def test_details_follow_the_table() -> None:
    assert set(_details(errors.NotReady("m"))) == {"ErrorInfo", "PreconditionFailure"}
    assert set(_details(errors.QueueFull("m", retry_after_seconds=1))) == {"ErrorInfo", "RetryInfo"}
    assert set(_details(errors.BudgetExhausted("m", metadata={"tenant": "a"}))) == {"ErrorInfo", "QuotaFailure"}
    assert set(_details(errors.UnknownRun.of("a"))) == {"ErrorInfo"}
    info = error_details_pb2.ErrorInfo()
    _details(errors.UnknownRun.of("a"))["ErrorInfo"].Unpack(info)
    assert (info.reason, info.domain, dict(info.metadata)) == ("UNKNOWN_RUN", "taoloop.dev", {"run_id": "a"})


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidRequest("m" * 9_000, violations=[FieldViolation("字段" * 20, "错" * 50)] * 100),
        errors.UnknownRun("工" * 9_000, metadata={str(number): "值" * 200 for number in range(99)}),
        errors.NotReady("m" * 9_000, reason="R" * 200, metadata={"a": "b" * 9_000}),
    ],
)
def test_trailers_stay_below_what_every_client_takes(error: TaoError) -> None:
    assert len(status_details(error)) <= MAX_DETAILS_BYTES
    text = status_text(error)
    assert error.message.startswith(text.removesuffix("…"))
    percent_encoded = sum(1 if 0x20 <= byte <= 0x7E else 3 for byte in text.encode())
    assert len(status_details(error)) * 4 / 3 + percent_encoded < 8_000
    assert type(_received(error)) is type(error)


@pytest.mark.parametrize("code", list(grpc.StatusCode), ids=lambda code: code.name)
def test_every_status_code_is_an_error_of_ours(code: grpc.StatusCode) -> None:
    read = _foreign(code)
    assert isinstance(read, TaoError)
    assert read.metadata["rpc"] == "taoloop.api.v1.ThoughtService/Think"
    assert read.metadata["grpc_code"] == code.name


@pytest.mark.parametrize("word", ["Sent", "Received", "SERVER: Received", "CLIENT: Sent"])
def test_transport_that_refuses_a_size_says_limit_and_size(word: str) -> None:
    read = _foreign(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{word} message larger than max (9437184 vs. 8388608)")
    assert type(read) is errors.MessageTooLarge
    assert read.metadata == {"size_bytes": "9437184", "limit_bytes": "8388608"}


def test_refusal_for_too_many_calls_is_a_full_queue() -> None:
    assert type(_foreign(grpc.StatusCode.RESOURCE_EXHAUSTED, "Concurrent RPC limit exceeded!")) is errors.QueueFull


@pytest.mark.parametrize("value", [b"\xff\xff", status_pb2.Status(code=5).SerializeToString()])
def test_details_of_others_are_not_taken_for_ours(value: bytes) -> None:
    trailing = grpc.aio.Metadata((DETAILS_KEY, value))
    rpc_error = grpc.aio.AioRpcError(grpc.StatusCode.ABORTED, grpc.aio.Metadata(), trailing, "text")
    assert type(from_rpc_error(rpc_error, "a/b", "c:1")) is errors.RunConflict
