"""An exception that is not meant for callers becomes an incident."""

import logging

import pytest

from taoloop.api.v1 import types_pb2
from taoloop.core.errors import ConfigurationError, InternalError, InvalidRequest, TaoError, UnknownTool
from taoloop.testing.clock import FakeClock
from taoloop.wire.failures import as_tao_error, read_message


def _mapped(exc: Exception) -> TaoError:
    try:
        raise exc
    except Exception as raised:  # noqa: BLE001 - as the interceptor has it
        return as_tao_error(raised, "a/B", FakeClock())


def test_error_of_ours_is_itself() -> None:
    error = UnknownTool.of("x")
    assert _mapped(error) is error


def test_group_of_errors_of_ours_is_its_first() -> None:
    error = UnknownTool.of("x")
    assert _mapped(ExceptionGroup("g", [ExceptionGroup("h", [error]), UnknownTool.of("y")])) is error


@pytest.mark.parametrize(
    "exc",
    [
        RuntimeError("secret"),
        ConfigurationError("secret"),
        ExceptionGroup("secret", [UnknownTool.of("x"), KeyError("secret")]),
    ],
)
def test_anything_else_is_an_incident_told_to_the_log_alone(exc: Exception, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        mapped = _mapped(exc)
    assert type(mapped) is InternalError
    assert "secret" not in str(mapped)
    (record,) = caplog.records
    assert record.getMessage() == "rpc_failed_unexpectedly"
    assert record.exc_info is not None
    assert record.exc_info[1] is exc


@pytest.mark.parametrize("raw", [b"\xff", b"\x12\x01\xff"])
def test_bytes_that_are_no_message_are_the_callers_fault(raw: bytes) -> None:
    with pytest.raises(InvalidRequest):
        read_message(types_pb2.Turn.FromString, raw)
