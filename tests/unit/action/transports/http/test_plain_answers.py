"""Rules of answers that are read in one step: they are what the parser would say, and never more than that."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp.client_proto import ResponseHandler
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.action.transports.http.plain_answers import HeadLimits, plain_answer

LIMITS = HeadLimits()
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def answer(*, first: str = "HTTP/1.1 200 OK", headers: str = "", body: bytes = b"{}", length: object = None) -> bytes:
    announced = len(body) if length is None else length
    return f"{first}\r\nContent-Length: {announced}\r\n{headers}\r\n".encode() + body


def test_an_answer_that_came_whole_is_read_at_once() -> None:
    data = answer(headers="Content-Type: application/json\r\nRETRY-AFTER: \t Wed, 21 Oct 2026 07:28 GMT \r\nEmpty:\r\n")
    assert plain_answer(data, LIMITS) == (
        200,
        {
            "content-length": "2",
            "content-type": "application/json",
            "retry-after": "Wed, 21 Oct 2026 07:28 GMT",
            "empty": "",
        },
        b"{}",
    )


@pytest.mark.parametrize(
    "data",
    [
        answer(headers="Connection: Keep-Alive\r\n"),
        answer(first="HTTP/1.1 404 Not Found", body=b""),
        answer(first="HTTP/1.1 503 "),
        answer(body=b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
    ],
)
def test_what_servers_mostly_send_is_plain(data: bytes) -> None:
    assert plain_answer(data, LIMITS) is not None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        answer()[:-1],
        answer() + b" ",
        answer() + answer(),
        answer(length=999),
        answer(length=""),
        answer(length="+2"),
        answer(length="0x2"),
        answer(length="2, 2"),
        answer(length="0000000002"),
        answer(headers="Content-Length: 2\r\n"),
        answer(headers="Set-Cookie: a=1\r\nset-cookie: b=2\r\n"),
        b"HTTP/1.1 200 OK\r\n\r\n{}",
        answer(headers="Transfer-Encoding: chunked\r\n"),
        answer(headers="Connection: close\r\n"),
        answer(headers="Connection: keep-alive, upgrade\r\n"),
        answer(headers="Proxy-Connection: close\r\n"),
        answer(headers="Upgrade: websocket\r\n"),
        answer(headers="Trailer: Digest\r\n"),
        answer(headers=" folded\r\n"),
        answer(headers="Name : value\r\n"),
        answer(headers=": nameless\r\n"),
        answer(headers="No colon\r\n"),
        answer(headers="X: \u00e9\r\n"),
        answer(headers="X: a\x00b\r\n"),
        answer(headers="X: a\rb\r\n"),
        answer().replace(b"\r\n", b"\n"),
        *(
            answer(first=f"HTTP/1.1 {code} Word")
            for code in (99, 100, 101, 103, 199, 204, 205, 206, 302, 304, 600, 2000)
        ),
        *(answer(first=first) for first in ("HTTP/1.0 200 OK", "HTTP/2 200 OK", "HTTP/1.1 200", "http/1.1 200 OK")),
    ],
)
def test_whatever_differs_is_left_to_the_parser(data: bytes) -> None:
    assert plain_answer(data, LIMITS) is None


def test_a_head_that_could_pass_a_limit_is_left_to_the_parser() -> None:
    assert plain_answer(answer(headers=f"X: {'y' * 100}\r\n"), HeadLimits(max_header_bytes=100)) is None
    many = "".join(f"X-{number}: y\r\n" for number in range(3))
    assert plain_answer(answer(headers=many), HeadLimits(max_headers=4)) is not None
    assert plain_answer(answer(headers=many), HeadLimits(max_headers=3)) is None


NAMES = st.sampled_from(
    ["Content-Type", "content-type", "Retry-After", "X", "Connection", "Transfer-Encoding", "!#$%&'*"]
)
VALUES = st.one_of(
    st.sampled_from(
        ["close", "keep-alive", "Keep-Alive", "chunked", "", " \t", "a: b", '"q"', "\x00", "\x7f", "\u00e9"]
    ),
    st.text(st.characters(min_codepoint=1, max_codepoint=0x100), max_size=8),
)
FIRSTS = st.builds(
    "{} {}{}".format,
    st.sampled_from(["HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/11"]),
    st.one_of(st.sampled_from([200, 204, 404, 503]), st.integers(90, 700)),
    st.sampled_from([" OK", " ", "", " a\tb", " \u00e9", "  "]),
)


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    body = draw(st.one_of(st.binary(max_size=6), st.just(b"{}")))
    headers = draw(st.lists(st.tuples(NAMES, st.sampled_from([":", ": ", ":\t", " :"]), VALUES), max_size=3))
    length = draw(st.one_of(st.just(str(len(body))), st.sampled_from(["0", "1", "2", "02", "x", ""])))
    lines = ["".join(parts) for parts in headers]
    lines.insert(draw(st.integers(0, len(lines))), f"Content-Length: {length}")
    end = draw(st.sampled_from(["\r\n"] * 6 + ["\n"]))
    return (end.join([draw(FIRSTS), *lines]) + 2 * end).encode() + body + draw(st.sampled_from([b"", b"", b"", b"x"]))


@settings(max_examples=500, deadline=None)
@given(data=answers())
async def test_what_is_plain_the_parser_reads_alike(data: bytes) -> None:
    plain = plain_answer(data, LIMITS)
    if plain is None:
        return
    protocol = ResponseHandler(asyncio.get_running_loop())
    protocol.set_response_params(read_until_eof=True, auto_decompress=False)
    protocol.data_received(data)
    message, content = await protocol.read()
    headers = {name.lower(): value for name, value in message.headers.items()}
    assert content.is_eof()
    assert plain == (message.code, headers, content.read_nowait())
    assert not protocol.should_close
