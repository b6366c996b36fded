"""gRPC tools on real servers: exact messages, every status, deadlines, and servers that misbehave."""

from __future__ import annotations

import asyncio
import socket
from decimal import Decimal
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import any_pb2, wrappers_pb2
from google.rpc import error_details_pb2, status_pb2

from taoloop.action.ports import TransportFault
from taoloop.action.transports.grpc_methods.statuses import HTTP_STATUS
from taoloop.action.transports.grpc_methods.transport import GrpcMethodTransport
from taoloop.core.faults import FaultCode
from tests.integration.action.transports.grpc_calls import at, fault_of, opened, outcome_of, tool
from tests.integration.action.transports.grpc_server import (
    REFLECTION_V1,
    descriptor_set,
    message,
    orders_server,
)
from tests.integration.action.transports.tool_calls import attempted, body_of


@pytest.mark.parametrize("reflects", [("grpc.reflection.v1alpha.ServerReflection",), (REFLECTION_V1,)])
async def test_arguments_and_replies_are_exact_over_reflection(reflects: tuple[str, ...]) -> None:
    async with orders_server(reflects=reflects) as server, opened(at(server)) as transport:
        for is_second in (False, True):
            reply = await attempted(transport, tool(), order_id="A1", number=9007199254740993, price=Decimal("0.1"))
            assert reply.reused_connection is is_second
            assert reply.status_code == 200
            assert {k: v for k, v in body_of(reply).items() if k in {"order_id", "number", "price", "big"}} == {
                "order_id": "A1",
                "number": 9007199254740993,
                "price": Decimal("0.1"),
                "big": 0,
            }
        assert server.reflections == 1
        assert len(server.peers) == 1
        assert "READY" in repr(transport)


async def test_every_kind_of_field_has_exact_json() -> None:
    line = message("Line", amount=9007199254740993)
    in_any, wide = any_pb2.Any(), any_pb2.Any()
    in_any.Pack(line)
    wide.Pack(wrappers_pb2.Int64Value(value=9007199254740993))
    order = message(
        "Order",
        big=18446744073709551615,
        state=1,
        numbers=[1, 9007199254740993],
        counts={"a": 9007199254740993},
        lines={7: line},
        more=[line],
        raw=b"\0\xff",
        metadata={"fields": "x"},
    )
    order.wrapped.value = 9007199254740993
    order.made.FromJsonString("2026-01-02T03:04:05.123456789Z")
    order.took.FromJsonString("1.5s")
    order.free.update({"n": 1.5, "deep": {"t": "5"}})
    order.list.extend([1, "2"])
    for name, value in (("any", in_any), ("any_wrapped", wide), ("any_empty", any_pb2.Any())):
        getattr(order, name).MergeFromString(value.SerializeToString())

    async def answer(request: Any, context: Any) -> bytes:
        raw: bytes = order.SerializeToString()
        return raw

    async with orders_server(answer) as server, opened(at(server)) as transport:
        body = body_of(await attempted(transport, tool()))
    exact_line = {"amount": 9007199254740993, "note": ""}
    assert body == {
        "order_id": "",
        "number": 0,
        "big": 18446744073709551615,
        "price": Decimal("0.0"),
        "state": "STATE_SHIPPED",
        "numbers": [1, 9007199254740993],
        "counts": {"a": 9007199254740993},
        "lines": {"7": exact_line},
        "wrapped": 9007199254740993,
        "made": "2026-01-02T03:04:05.123456789Z",
        "took": "1.500s",
        "free": {"n": Decimal("1.5"), "deep": {"t": "5"}},
        "list": [Decimal("1.0"), "2"],
        "any": {"@type": "type.googleapis.com/shop.v1.Line", **exact_line},
        "any_wrapped": {"@type": "type.googleapis.com/google.protobuf.Int64Value", "value": 9007199254740993},
        "any_empty": {},
        "more": [exact_line],
        "raw": "AP8=",
        "metadata": {"fields": "x"},
    }


async def test_a_descriptor_set_needs_no_reflection(tmp_path: Path) -> None:
    (tmp_path / "orders.pb").write_bytes(descriptor_set())
    (tmp_path / "broken.pb").write_bytes(b"\xff\xff")
    async with orders_server(reflects=()) as server, opened(at(server), directory=tmp_path) as transport:
        assert (await attempted(transport, tool(descriptors="orders.pb"), order_id="A1")).status_code == 200
        for descriptors in ("broken.pb", "absent.pb", "../orders.pb", None):
            with pytest.raises(TransportFault) as caught:
                await attempted(transport, tool(descriptors=descriptors))
            assert (caught.value.code, caught.value.may_have_left) == (FaultCode.TOOL_PROTOCOL_FAULT, False)


@pytest.mark.parametrize("method", ["shop.v1.Orders/Absent", "shop.v1.Nothing/Find", "shop.v1.Orders/Watch"])
async def test_a_method_that_cannot_be_called_is_surely_not_called(method: str) -> None:
    async with orders_server() as server:
        fault = await fault_of(at(server), tool(method=method))
        assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_PROTOCOL_FAULT, False)
        assert server.requests == []


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({"order_id": 5}, "/order_id"),
        ({"number": "geheim"}, "/number"),
        ({"no_such": "geheim"}, "/no_such"),
        ({"line": {"amount": "geheim"}}, "/line/amount"),
        ({"price": Decimal("0.1234567890123456789")}, "/price"),
        ({"order_id": "x" * 100_000}, ""),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_without_a_call(arguments: Any, pointer: str) -> None:
    async with orders_server() as server:
        fault = await fault_of(at(server), tool(), **arguments)
        assert (fault.code, fault.may_have_left) == (FaultCode.INVALID_PARAMETER, False), fault.message
        assert fault.pointer == pointer
        assert "geheim" not in fault.message
        assert server.requests == []


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code.name not in {"OK", "DEADLINE_EXCEEDED"}])
async def test_a_status_is_an_answer_with_the_http_status_of_its_class(code: grpc.StatusCode) -> None:
    async def fails(request: Any, context: Any) -> bytes:
        await context.abort(code, "no, by token=abcdef1234567890")
        return b""

    async with orders_server(fails) as server, opened(at(server)) as transport:
        reply = await attempted(transport, tool())
    assert reply.status_code == HTTP_STATUS[code.name]
    assert body_of(reply)["error"]["code"] == code.name
    assert b"abcdef1234567890" not in reply.body


async def test_details_of_a_status_are_part_of_the_answer() -> None:
    info = error_details_pb2.ErrorInfo(reason="QUOTA", domain="shop", metadata={"limit": "5"})
    retry = error_details_pb2.RetryInfo()
    retry.retry_delay.FromSeconds(7)
    status = status_pb2.Status(code=8)
    for detail in (info, retry, wrappers_pb2.BoolValue()):
        status.details.add().Pack(detail)

    async def fails(request: Any, context: Any) -> bytes:
        raw = status.SerializeToString() if request.order_id != "garbage" else b"\xff"
        context.set_trailing_metadata((("other", "x"), ("grpc-status-details-bin", raw)))
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "slow down")
        return b""

    async with orders_server(fails) as server, opened(at(server)) as transport:
        reply = await attempted(transport, tool())
        garbled = await attempted(transport, tool(), order_id="garbage")
    assert (reply.status_code, reply.retry_after) == (429, "7")
    assert body_of(reply)["error"] == {
        "code": "RESOURCE_EXHAUSTED",
        "message": "slow down",
        "reason": "QUOTA",
        "domain": "shop",
        "metadata": {"limit": "5"},
    }
    assert (garbled.status_code, garbled.retry_after) == (429, "")


async def test_a_late_call_ends_at_the_server_too() -> None:
    async def hangs(request: Any, context: Any) -> bytes:
        await asyncio.Event().wait()
        return b""

    async with orders_server(hangs) as server, opened(at(server)) as transport:
        await attempted_and_late(transport)
        async with asyncio.timeout(5):
            await server.was_cancelled.wait()


async def attempted_and_late(transport: GrpcMethodTransport) -> None:
    async with asyncio.timeout(5):
        with pytest.raises(TransportFault) as caught:
            await attempted(transport, tool(), 0.3)
    assert (caught.value.code, caught.value.may_have_left) == (FaultCode.TOOL_TIMEOUT, True)


async def test_a_deadline_of_the_server_is_a_timeout_too() -> None:
    async def fails(request: Any, context: Any) -> bytes:
        await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "downstream")
        return b""

    async with orders_server(fails) as server:
        assert (await fault_of(at(server), tool())).code == FaultCode.TOOL_TIMEOUT


async def test_a_cancelled_call_is_cancelled_at_the_server() -> None:
    began = asyncio.Event()

    async def hangs(request: Any, context: Any) -> bytes:
        began.set()
        await asyncio.Event().wait()
        return b""

    async with orders_server(hangs) as server, opened(at(server)) as transport:
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            call = group.create_task(attempted(transport, tool()))
            await began.wait()
            call.cancel()
        async with asyncio.timeout(5):
            await server.was_cancelled.wait()


async def test_answers_are_bounded_and_must_be_messages() -> None:
    async def answer(request: Any, context: Any) -> bytes:
        return b"\xff\xff" if request.order_id == "garbage" else b"\x0a" + b"\x80\x80\x08" + b"x" * (128 * 1024)

    async with orders_server(answer) as server:
        large = await fault_of(at(server), tool(), order_id="large")
        assert (large.code, large.may_have_left) == (FaultCode.RESPONSE_TOO_LARGE, True)
        garbage = await fault_of(at(server), tool(), order_id="garbage")
        assert (garbage.code, garbage.may_have_left) == (FaultCode.RESPONSE_MALFORMED, True)


async def test_a_method_that_is_gone_is_looked_for_again() -> None:
    async with orders_server() as server, opened(at(server)) as transport:
        await attempted(transport, tool())
        server.serves = False
        assert (await attempted(transport, tool())).status_code == 501
        server.serves = True
        assert (await attempted(transport, tool())).status_code == 200
        assert server.reflections == 2


async def test_a_server_that_is_not_there_is_surely_not_reached_and_found_when_it_is() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for _ in range(2):
            fault = await fault_of(f"http://127.0.0.1:{taken.getsockname()[1]}", tool())
            assert (fault.code, fault.may_have_left, fault.is_retriable) == (FaultCode.TOOL_UNREACHABLE, False, True)


async def test_a_server_that_speaks_no_grpc_is_a_fault_in_time() -> None:
    async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-x\r\n" * 100)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(garbage, "127.0.0.1", 0)
    async with server, asyncio.timeout(8):
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(TransportFault) as caught:
            async with opened(f"http://127.0.0.1:{port}") as transport:
                await attempted(transport, tool(), 3.0)
        assert not caught.value.may_have_left


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://127.0.0.1", FaultCode.TOOL_UNREACHABLE),
        ("http://127.0.0.1/path", FaultCode.TOOL_UNREACHABLE),
        ("http://127.0.0.1:port", FaultCode.TOOL_UNREACHABLE),
        ("http://", FaultCode.TOOL_UNREACHABLE),
        ("http://no-such-host.invalid", FaultCode.TOOL_UNREACHABLE),
        ("http://169.254.169.254:50051", FaultCode.EGRESS_FORBIDDEN),
    ],
)
async def test_a_base_that_leads_nowhere_is_surely_not_called(url: str, code: str) -> None:
    fault = await fault_of(url, tool())
    assert (fault.code, fault.may_have_left) == (code, False)


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.PERMISSION_DENIED])
async def test_a_reflection_that_fails_leaves_the_method_uncalled(code: grpc.StatusCode) -> None:
    async def fails(context: Any) -> None:
        await context.abort(code, "no")

    async with orders_server(reflection=fails) as server:
        fault = await fault_of(at(server), tool())
        assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)
        assert fault.is_retriable is (code is grpc.StatusCode.UNAVAILABLE)
        assert server.requests == []


@pytest.mark.parametrize("times", [1, 2])
async def test_a_reflection_that_breaks_is_asked_once_more(times: int) -> None:
    asked = 0

    async def breaks(context: Any) -> None:
        nonlocal asked
        asked += 1
        if asked <= times:
            await context.abort(grpc.StatusCode.INTERNAL, "the stream broke")

    async with orders_server(reflection=breaks) as server, opened(at(server)) as transport:
        if times == 1:
            assert (await attempted(transport, tool())).status_code == 200
        else:
            with pytest.raises(TransportFault, match="INTERNAL"):
                await attempted(transport, tool())
    assert asked == 2


async def test_a_channel_that_is_closed_under_a_call_is_an_answer_and_no_cancellation() -> None:
    began = asyncio.Event()

    async def hangs(request: Any, context: Any) -> bytes:
        began.set()
        await asyncio.Event().wait()
        return b""

    async with orders_server(hangs) as server, opened(at(server)) as transport:
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            call = group.create_task(attempted(transport, tool()))
            await began.wait()
            await transport.aclose()
        assert call.result().status_code == 503


async def test_a_server_that_comes_back_is_reached_without_a_pause() -> None:
    async with orders_server() as server:
        port = server.address.rpartition(":")[2]
        async with opened(at(server)) as transport:
            assert (await attempted(transport, tool())).status_code == 200
            assert server.stop is not None
            await server.stop()
            while (outcome := await outcome_of(transport, tool())) == 503:
                continue  # until the client has seen that it is gone
            assert outcome == FaultCode.TOOL_UNREACHABLE
            async with orders_server(port=int(port)):
                assert (await attempted(transport, tool())).status_code == 200


async def test_calls_that_find_a_server_gone_together_fail_together() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with opened(f"http://127.0.0.1:{taken.getsockname()[1]}") as transport:
            outcomes = await asyncio.gather(*(outcome_of(transport, tool()) for _ in range(3)))
            assert set(outcomes) == {FaultCode.TOOL_UNREACHABLE}
            assert repr(transport) == "GrpcMethodTransport(<Links []>)"


async def test_an_answer_that_has_no_json_is_malformed() -> None:
    async def answer(request: Any, context: Any) -> bytes:
        order = message("Order")
        order.any.MergeFromString(any_pb2.Any(type_url="type.googleapis.com/no.Such", value=b"x").SerializeToString())
        raw: bytes = order.SerializeToString()
        return raw

    async with orders_server(answer) as server:
        fault = await fault_of(at(server), tool())
        assert (fault.code, fault.may_have_left) == (FaultCode.RESPONSE_MALFORMED, True)


async def test_fractions_are_checked_in_lists_too() -> None:
    async with orders_server() as server:
        fault = await fault_of(at(server), tool(), line=[Decimal("0.1234567890123456789")])
        assert (fault.code, fault.pointer) == (FaultCode.INVALID_PARAMETER, "/line")
