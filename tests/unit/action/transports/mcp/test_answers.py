"""Rules of what an answer to `tools/call` means."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.action.ports import Reply, TransportFault
from taoloop.action.transports.mcp.answers import (
    SAID_IT_FAILED,
    malformed_answer,
    read_message,
    reply_of,
    reply_of_error,
    sendable,
)
from taoloop.core import exact_json
from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.core.faults import FaultCode

JSON = "application/json"
EVENTS = "text/event-stream"


def text(*texts: str) -> list[JsonValue]:
    return [{"type": "text", "text": each} for each in texts]


@pytest.mark.parametrize(
    ("result", "body"),
    [
        ({"content": text("x"), "structuredContent": {"a": Decimal("0.10")}}, b'{"a":0.10}'),
        ({"content": text('{"a": 0.10}')}, b'{"a":0.10}'),
        ({"content": text("[1,2]")}, b"[1,2]"),
        ({"content": text("hello")}, b'{"text":"hello"}'),
        ({"content": text('{"a":1,"a":2}')}, b'{"text":"{\\"a\\":1,\\"a\\":2}"}'),
        ({"content": text("one", "two")}, b'{"text":"one\\ntwo"}'),
        ({"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]}, b'{"text":""}'),
        ({"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "of it"}}]}, b'{"text":"of it"}'),
        ({"content": [{"type": "resource", "resource": 1}]}, b'{"text":""}'),
        ({"content": []}, b'{"text":""}'),
        ({"structuredContent": {}}, b"{}"),
    ],
)
def test_the_body_is_structured_content_or_the_text(result: JsonValue, body: bytes) -> None:
    assert reply_of(result) == Reply(status_code=200, content_type=JSON, body=body)


def test_a_tool_that_failed_is_data_with_a_failure() -> None:
    assert reply_of({"content": text("no such order"), "isError": True}) == Reply(
        status_code=200, content_type=JSON, body=b'{"text":"no such order"}', failure=SAID_IT_FAILED
    )


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (None, FaultCode.TOOL_PROTOCOL_FAULT),
        ([], FaultCode.TOOL_PROTOCOL_FAULT),
        ({"content": "x"}, FaultCode.TOOL_PROTOCOL_FAULT),
        ({"content": ["x"]}, FaultCode.TOOL_PROTOCOL_FAULT),
        ({"content": [], "isError": "no"}, FaultCode.TOOL_PROTOCOL_FAULT),
        ({"content": [], "resultType": "input_required"}, FaultCode.UPSTREAM_REFUSED),
    ],
)
def test_another_result_is_a_fault(result: JsonValue, code: FaultCode) -> None:
    with pytest.raises(TransportFault) as caught:
        reply_of(result)
    assert (caught.value.code, caught.value.may_have_left, caught.value.is_retriable) == (code, True, False)


@pytest.mark.parametrize(
    ("code", "status", "failure"),
    [
        (-32700, 400, ""),
        (-32600, 400, ""),
        (-32601, 400, ""),
        (-32602, 400, ""),
        (-32020, 400, ""),
        (-32021, 400, ""),
        (-32022, 400, ""),
        (-32603, 500, ""),
        (-32000, 200, SAID_IT_FAILED),
        (7, 200, SAID_IT_FAILED),
    ],
)
def test_an_error_is_a_refusal_a_broken_server_or_the_tools_own(code: int, status: int, failure: str) -> None:
    error: JsonValue = {"code": code, "message": "m"}
    assert reply_of_error(error) == Reply(
        status_code=status, content_type=JSON, body=exact_json.dumps(error).encode(), failure=failure
    )


@pytest.mark.parametrize("error", [None, [], {}, {"code": "1"}, {"code": True}])
def test_an_error_without_a_code_is_a_fault(error: JsonValue) -> None:
    with pytest.raises(TransportFault):
        reply_of_error(error)


@pytest.mark.parametrize(
    ("content_type", "body", "message"),
    [
        (JSON, b'{"id":1,"result":{"a":0.10}}', {"id": 1, "result": {"a": Decimal("0.10")}}),
        (JSON, b'{"id":1,"method":"m"}', None),
        (JSON, b"[]", None),
        ("text/html", b"<html>", None),
        (EVENTS, b"", None),
        (EVENTS, b'event: message\ndata: {"method":"m"}\n\ndata: {"error":1}\n\n', {"error": 1}),
        (EVENTS, b'id: 1\r\ndata:\r\n\r\ndata: {"result":\r\ndata: 1}\r\n\r\n', {"result": 1}),
        (EVENTS, b': ping\rdata:{"result":2}', {"result": 2}),
    ],
)
def test_the_response_is_found_in_json_and_in_events(content_type: str, body: bytes, message: Any) -> None:
    assert read_message(content_type, body) == message


@pytest.mark.parametrize(("content_type", "body"), [(JSON, b"{"), (EVENTS, b"data: NaN\n\n")])
def test_what_is_no_exact_json_is_told(content_type: str, body: bytes) -> None:
    with pytest.raises(JsonSyntaxError):
        read_message(content_type, body)


def test_arguments_are_sent_as_they_are_or_not_at_all() -> None:
    assert sendable({"a": Decimal("1.10"), "b": [{"c": Decimal("2.0")}], "d": "x", "e": 10**20}) == {
        "a": 1.1,
        "b": [{"c": 2.0}],
        "d": "x",
        "e": 10**20,
    }
    with pytest.raises(TransportFault) as caught:
        sendable({"amount": [Decimal("0.1234567890123456789")]})
    assert (caught.value.code, caught.value.pointer) == (FaultCode.INVALID_PARAMETER, "/amount")


def test_an_answer_that_is_no_message_is_malformed() -> None:
    assert malformed_answer().code == FaultCode.RESPONSE_MALFORMED


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["result", "error", "code", "content", "isError", "text", "type"]), inner)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_any_value_is_a_reply_or_a_fault(value: JsonValue) -> None:
    for read in (reply_of, reply_of_error):
        with contextlib.suppress(TransportFault):
            assert read(value).content_type == JSON


@given(st.sampled_from([JSON, EVENTS, "text/html", ""]), st.binary(max_size=80))
def test_any_bytes_are_a_message_or_none_or_no_json(content_type: str, body: bytes) -> None:
    with contextlib.suppress(JsonSyntaxError):
        assert isinstance(read_message(content_type, body), dict | None)
