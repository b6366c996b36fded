"""Whatever a server sends and whatever arguments hold, one answer or one fault comes of it."""

from __future__ import annotations

import gzip
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taoloop.action.ports import Reply, TransportFault
from taoloop.action.transports.http_request import HttpRequest, RequestRefused, build_request
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import HttpTransport, Part, PartEncoding, Redirects
from tests.integration.action.http_calls import call, contract, transport
from tests.integration.action.raw_server import raw_server, says_and_closes

HEADERS = st.sampled_from(
    [
        b"Content-Length: 2\r\n",
        b"Content-Length: 999\r\n",
        b"Content-Length: x\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Content-Encoding: gzip\r\n",
        b"Content-Encoding: deflate\r\n",
        b"Content-Encoding: \xff\r\n",
        b"Content-Type: application/json; charset=utf-16\r\n",
        b"Content-Type:\r\n",
        b"Location: \xff\xfe\r\n",
        b"Location: /things\r\n",
        b"Location: http://[::1\r\n",
        b"Location: //\r\n",
        b"Retry-After: \x00\r\n",
        b"Set-Cookie: a=b; domain=.\r\n",
        b"Upgrade: websocket\r\nConnection: upgrade\r\n",
        b": nameless\r\n",
        b" folded\r\n",
        b"No colon\r\n",
        b"X: " + b"y" * 9000 + b"\r\n",
    ]
)
STATUS_LINES = st.one_of(
    st.integers(0, 1000).map(lambda status: b"HTTP/1.1 %d Word\r\n" % status),
    st.sampled_from([b"HTTP/1.0 200\r\n", b"HTTP/2 200\r\n", b"HTTP/1.1 \r\n", b"200 OK\r\n", b"\r\n", b""]),
)
BODIES = st.one_of(
    st.binary(max_size=64),
    st.just(gzip.compress(b'{"a":1}')),
    st.just(b"2\r\n{}\r\n0\r\n\r\n"),
    st.just(b"ffffffffffffffff\r\n{}"),
    st.just(b"\xef\xbb\xbf{}"),
)


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    whole = draw(STATUS_LINES) + b"".join(draw(st.lists(HEADERS, max_size=5))) + b"\r\n" + draw(BODIES)
    return whole[: draw(st.integers(0, len(whole)))] if draw(st.booleans()) else whole


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.one_of(answers(), st.binary(max_size=200)), method=st.sampled_from(["GET", "HEAD", "POST", "DELETE"]))
async def test_any_bytes_are_one_answer_or_one_fault(data: bytes, method: str) -> None:
    tool = contract(method=method, redirects=Redirects.SAME_ORIGIN)
    async with raw_server(says_and_closes(data)) as server, transport(server.base_url) as under_test:
        outcome: Reply | TransportFault
        try:
            outcome = await under_test.attempt(call(tool, seconds=2.0))
        except TransportFault as fault:
            outcome = fault
        assert under_test.pools.pools["look_up"].busy == 0
    if isinstance(outcome, TransportFault):
        assert outcome.code in set(FaultCode)
        assert outcome.may_have_left
        assert outcome.message.endswith(".")
    else:
        assert 200 <= outcome.status_code < 1000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
TEMPLATES = st.sampled_from(
    [
        {"query": {"q": "{a}", "x": "-{b}"}},
        {"headers": {"X-A": "{a}"}},
        {"json": {"x": ["{a}", {"y": "{b}"}]}},
        {"form": {"q": "{a}", "x": "-{b}"}},
        {"text": "{a} and {b}"},
        {
            "multipart": {
                "p": Part(content="{a}", file_name="{b}"),
                "q": Part(content="{b}", encoding=PartEncoding.BASE64),
            }
        },
    ]
)


@given(arguments=st.dictionaries(st.sampled_from(["a", "b", "c", "id"]), JSON), parts=TEMPLATES)
def test_any_arguments_are_one_request_to_the_same_place_or_refused(
    arguments: dict[str, Any], parts: dict[str, Any]
) -> None:
    template = HttpTransport(method="POST", url="http://tools.test/v1/{id}/end", **parts)
    try:
        built = build_request(template, arguments)
    except RequestRefused:
        return
    assert isinstance(built, HttpRequest)
    path = built.url.removeprefix("http://tools.test/v1/").partition("?")[0]
    assert path.count("/") == 1
    assert path.endswith("/end")
    assert path.removesuffix("/end") not in {"", ".", ".."}
    assert built.url.isascii()
    assert not any("\n" in value or "\r" in value for value in built.headers.values())
