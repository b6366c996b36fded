"""Rules by which a failure of the client becomes a fault."""

import ssl

import aiohttp
import pytest

from taoloop.action.ports import TransportFault
from taoloop.action.transports.http.failures import Progress, translated
from taoloop.core.faults import FaultCode


@pytest.mark.parametrize(
    ("error", "has_connection", "code", "is_retriable"),
    [
        (aiohttp.ClientConnectionError("s3cret"), False, FaultCode.TOOL_UNREACHABLE, True),
        (aiohttp.ClientConnectionError("s3cret"), True, FaultCode.RESPONSE_INCOMPLETE, True),
        (ConnectionResetError("s3cret"), True, FaultCode.RESPONSE_INCOMPLETE, True),
        (aiohttp.ServerDisconnectedError("s3cret"), True, FaultCode.RESPONSE_INCOMPLETE, True),
        (aiohttp.ClientPayloadError("s3cret"), True, FaultCode.RESPONSE_INCOMPLETE, True),
        (aiohttp.InvalidURL("http://s3cret"), False, FaultCode.TOOL_UNREACHABLE, False),
        (ssl.SSLError("s3cret"), False, FaultCode.TOOL_UNREACHABLE, False),
    ],
)
def test_every_failure_is_a_fault_without_the_librarys_text(
    error: Exception, has_connection: bool, code: str, is_retriable: bool
) -> None:
    with pytest.raises(TransportFault) as refused, translated(Progress(has_connection=has_connection)):
        raise error
    assert (refused.value.code, refused.value.is_retriable) == (code, is_retriable)
    assert refused.value.may_have_left is has_connection
    assert "s3cret" not in refused.value.message


def test_what_is_no_failure_of_the_network_passes() -> None:
    with pytest.raises(KeyError), translated(Progress()):
        raise KeyError("a")
