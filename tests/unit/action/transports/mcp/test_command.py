"""Rules of the lines that a server writes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCResponse

from taoloop.action.transports.mcp.command import BROKEN_ANSWER, read_line


def test_a_response_keeps_its_numbers() -> None:
    message = read_line(b'{"jsonrpc":"2.0","id":1,"result":{"a":0.10,"n":12345678901234567890}}')
    assert isinstance(message, JSONRPCResponse)
    assert message.result == {"a": Decimal("0.10"), "n": 12345678901234567890}


def test_a_notification_is_passed_on() -> None:
    assert isinstance(read_line(b'{"jsonrpc":"2.0","method":"notifications/message"}'), JSONRPCNotification)


@pytest.mark.parametrize("line", [b"", b"Listening.", b"{", b"[]", b"1", b'{"a":1}', b"\xff", b'{"a":NaN}'])
def test_what_is_no_message_is_none(line: bytes) -> None:
    assert read_line(line) is None


@pytest.mark.parametrize("result", [b'{"a":NaN}', b'{"a":1,"a":2}'])
def test_an_answer_that_is_lax_json_fails_the_call_that_it_is_for(result: bytes) -> None:
    message = read_line(b'{"jsonrpc":"2.0","id":7,"result":' + result + b"}")
    assert isinstance(message, JSONRPCError)
    assert (message.id, message.error.code) == (7, BROKEN_ANSWER)


def test_a_request_that_is_lax_json_is_none() -> None:
    assert read_line(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":NaN}}') is None


@given(st.binary(max_size=60))
def test_any_line_is_a_message_or_none(line: bytes) -> None:
    read_line(line)
