"""Rules of a connection that is asked without the library's client."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from aiohttp.http_exceptions import HttpProcessingError

from taoloop.action.transports.http.answering import AnswerProtocol, Arrived, Outbox, read_body, took_whole
from taoloop.action.transports.http.failures import Progress
from taoloop.action.transports.http.plain_answers import HeadLimits

LIMITS = HeadLimits()
HEAD = b"GET / HTTP/1.1\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX-One: 1\r\n\r\n" + b'{"a":1}'
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-One: 1\r\n\r\n7\r\n" + b'{"a":1}\r\n0\r\n\r\n'


class RecordingTransport(asyncio.Transport):
    """Takes what is written, and is closed by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def resume_reading(self) -> None:
        """There is nothing to hold up."""


def connected() -> tuple[AnswerProtocol, RecordingTransport]:
    protocol, transport = AnswerProtocol(asyncio.get_running_loop()), RecordingTransport()
    protocol.transport = transport
    return protocol, transport


async def body_of(arrived: Arrived) -> bytes:
    progress = Progress()
    if not took_whole(arrived[2], "", progress, 1000):
        await read_body(arrived[2], "", progress, 1000)
    return bytes(progress.received)


@pytest.mark.parametrize("data", [PLAIN, CHUNKED])
async def test_an_answer_is_the_same_wherever_it_is_cut(data: bytes) -> None:
    protocol, _ = connected()
    for cut in range(len(data)):
        arrival = protocol.ask("GET", HEAD, None, LIMITS)
        protocol.data_received(data[:cut])
        protocol.data_received(data[cut:])
        await arrival
        status_code, headers, content = protocol.answered()
        assert (status_code, headers.get("x-one")) == (200, "1")
        assert await body_of((status_code, headers, content)) == b'{"a":1}'
        assert protocol.rest()
        assert protocol.is_silent()


@pytest.mark.parametrize("data", [PLAIN, CHUNKED])
@pytest.mark.parametrize("more", [b"H", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
async def test_what_comes_behind_an_answer_is_no_answer(data: bytes, more: bytes) -> None:
    protocol, _ = connected()
    arrival = protocol.ask("GET", HEAD, None, LIMITS)
    protocol.data_received(data)
    is_kept = await _ended(protocol, arrival)
    assert is_kept
    protocol.data_received(more)
    assert not protocol.is_silent()


async def test_what_comes_behind_an_answer_before_it_is_taken_ends_the_connection() -> None:
    protocol, _ = connected()
    arrival = protocol.ask("GET", HEAD, None, LIMITS)
    protocol.data_received(PLAIN)
    protocol.data_received(b"H")
    assert not await _ended(protocol, arrival)


async def test_an_answer_to_head_has_no_body_whatever_length_it_names() -> None:
    protocol, _ = connected()
    arrival = protocol.ask("HEAD", HEAD, None, LIMITS)
    protocol.data_received(PLAIN.partition(b"{")[0])
    await arrival
    assert await body_of(protocol.answered()) == b""
    assert protocol.rest()


async def test_a_switch_to_another_protocol_ends_the_connection() -> None:
    protocol, _ = connected()
    arrival = protocol.ask("GET", HEAD, None, LIMITS)
    protocol.data_received(b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello")
    await arrival
    assert protocol.answered()[0] == 101
    assert not protocol.rest()


async def test_what_is_no_http_is_told_to_who_waits_and_closes_the_connection() -> None:
    protocol, transport = connected()
    arrival = protocol.ask("GET", HEAD, None, LIMITS)
    protocol.data_received(b"SSH-2.0-OpenSSH\r\n")
    with pytest.raises(HttpProcessingError):
        await arrival
    assert transport.is_closed
    assert not protocol.rest()


async def test_what_comes_behind_a_fault_is_not_read_any_more() -> None:
    protocol, transport = connected()
    arrival = protocol.ask("GET", HEAD, None, LIMITS)
    protocol.data_received(b"no HTTP\r\n\r\n")
    protocol.data_received(PLAIN)
    with pytest.raises(HttpProcessingError):
        await arrival
    assert transport.is_closed
    assert not protocol.rest()


async def test_a_parser_that_fails_in_its_own_way_is_no_http_either(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def feed_data(self, data: bytes) -> None:
            raise ValueError(data)

    protocol, _ = connected()
    protocol.transport = None
    monkeypatch.setattr(protocol, "_parser_of_answers", Failing)
    protocol._is_asked = True
    protocol.data_received(b"HTTP/")
    assert isinstance(protocol.exception(), HttpProcessingError)


async def test_who_waits_hears_when_the_time_is_over_and_an_answer_that_came_stays() -> None:
    protocol, _ = connected()
    late = protocol.ask("GET", HEAD, None, LIMITS)
    protocol.pass_by()
    with pytest.raises(TimeoutError):
        await late
    protocol.data_received(PLAIN)
    assert protocol.answered()[0] == 200
    in_time = protocol.ask("GET", HEAD, None, LIMITS)
    protocol.data_received(PLAIN)
    protocol.pass_by()
    await in_time


async def test_who_has_given_up_is_not_woken() -> None:
    protocol, _ = connected()
    given_up = protocol.ask("GET", HEAD, None, LIMITS)
    given_up.cancel()
    protocol.pass_by()
    protocol.data_received(PLAIN)
    assert given_up.cancelled()


async def test_a_body_goes_out_with_its_head_unless_it_is_long() -> None:
    protocol, transport = connected()
    protocol.ask("POST", HEAD, b"short", LIMITS)
    protocol.ask("POST", HEAD, b"x" * 70_000, LIMITS)
    assert [len(piece) for piece in transport.written] == [len(HEAD) + 5, len(HEAD), 70_000]


async def test_a_closed_connection_takes_no_request() -> None:
    protocol, transport = connected()
    transport.is_closed = True
    for _ in range(2):
        with pytest.raises(aiohttp.ClientConnectionResetError):
            protocol.ask("GET", HEAD, None, LIMITS)
        protocol.transport = None
    assert transport.written == []
    assert not protocol.holds_back(b"x" * 70_000, 413)


async def test_a_body_above_its_limit_is_not_taken_at_once() -> None:
    for data in (PLAIN, CHUNKED):
        protocol, _ = connected()
        protocol.ask("GET", HEAD, None, LIMITS)
        protocol.data_received(data)
        content = protocol.answered()[2]
        assert not took_whole(content, "", Progress(), 6)
        assert not took_whole(content, "gzip", Progress(), 1000)
        assert took_whole(content, "", Progress(), 7)


async def test_requests_of_one_turn_are_sent_at_its_end_in_their_order() -> None:
    outbox, connections = Outbox(), [connected() for _ in range(3)]
    arrivals = [protocol.ask("GET", HEAD, None, LIMITS, outbox) for protocol, _ in connections]
    assert repr(outbox) == "<Outbox 3 waiting>"
    assert all(transport.written == [] for _, transport in connections)
    await asyncio.sleep(0)
    assert all(transport.written == [HEAD] for _, transport in connections)
    assert repr(outbox) == "<Outbox 0 waiting>"
    for (protocol, _), arrival in zip(connections, arrivals, strict=True):
        protocol.data_received(PLAIN)
        assert await _ended(protocol, arrival)


async def test_a_request_that_was_given_up_before_it_was_sent_never_leaves() -> None:
    outbox = Outbox()
    (protocol, transport), (lost, _) = connected(), connected()
    protocol.ask("GET", HEAD, None, LIMITS, outbox)
    arrival = lost.ask("GET", HEAD, None, LIMITS, outbox)
    protocol.close()
    lost.connection_lost(None)
    await asyncio.sleep(0)
    assert transport.written == []
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await arrival


async def test_what_a_server_says_before_the_request_is_sent_is_no_answer_and_nothing_leaves() -> None:
    outbox = Outbox()
    protocol, transport = connected()
    arrival = protocol.ask("GET", HEAD, None, LIMITS, outbox)
    protocol.data_received(PLAIN)
    with pytest.raises(aiohttp.ClientConnectionError, match="the server spoke first"):
        await arrival
    assert (transport.written, transport.is_closed) == ([], True)


async def test_a_connection_that_cannot_be_written_to_holds_up_no_other() -> None:
    class Failing(RecordingTransport):
        def write(self, data: bytes | bytearray | memoryview) -> None:
            raise RuntimeError(bytes(data))

    outbox, told = Outbox(), list[object]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    (failing, _), (protocol, transport) = connected(), connected()
    failing.transport = Failing()
    for each in (failing, protocol):
        each.ask("GET", HEAD, None, LIMITS, outbox)
    for _ in range(2):
        await asyncio.sleep(0)
    asyncio.get_running_loop().set_exception_handler(None)
    assert transport.written == [HEAD]
    assert [type(error) for error in told] == [RuntimeError]


async def _ended(protocol: AnswerProtocol, arrival: asyncio.Future[None]) -> bool:
    await arrival
    assert await body_of(protocol.answered()) == b'{"a":1}'
    return protocol.rest()
