"""Rules of a request's head."""

import pytest

from taoloop.action.ports import TransportFault
from taoloop.action.transports.http.wire import Route
from taoloop.action.transports.http_request import HttpRequest
from taoloop.core.faults import FaultCode

ORIGIN = "https://api.example:8443"


def head(url: str, method: str = "GET", body: bytes | None = None, **headers: str) -> list[str]:
    request = HttpRequest(
        method=method, url=url, headers={name.replace("_", "-"): text for name, text in headers.items()}, body=body
    )
    text = Route(ORIGIN).head(request).decode()
    assert text.endswith("\r\n\r\n")
    return text.removesuffix("\r\n\r\n").split("\r\n")


async def test_a_head_names_the_target_the_host_and_what_every_request_says() -> None:
    assert head(f"{ORIGIN}/a%20b?c=d#e", X_One="1") == [
        "GET /a%20b?c=d HTTP/1.1",
        "Host: api.example:8443",
        "Accept: */*",
        "User-Agent: taoloop",
        "X-One: 1",
    ]


@pytest.mark.parametrize(("url", "target"), [(ORIGIN, "/"), (f"{ORIGIN}?a=1", "/?a=1"), (f"{ORIGIN}#x", "/")])
async def test_an_empty_path_is_the_root(url: str, target: str) -> None:
    assert head(url)[0] == f"GET {target} HTTP/1.1"


async def test_a_header_of_its_own_stands_once_in_whatever_case() -> None:
    lines = head(f"{ORIGIN}/", user_agent="mine", ACCEPT="text/html", X_One="1")
    assert lines[1:] == ["Host: api.example:8443", "ACCEPT: text/html", "user-agent: mine", "X-One: 1"]


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [("GET", None, None), ("HEAD", None, None), ("POST", None, "0"), ("DELETE", None, "0"), ("POST", b"abc", "3")],
)
async def test_the_length_of_a_body_is_said_where_one_could_be(
    method: str, body: bytes | None, length: str | None
) -> None:
    told = [line for line in head(f"{ORIGIN}/", method, body) if line.startswith("Content-Length")]
    assert told == ([] if length is None else [f"Content-Length: {length}"])


@pytest.mark.parametrize("text", ["a\r\nX-Two: 2", "a\nb", "a\rb", "a\0b"])
async def test_no_header_can_begin_another_line_and_nothing_has_left(text: str) -> None:
    with pytest.raises(TransportFault) as raised:
        head(f"{ORIGIN}/", X_One=text)
    assert (raised.value.code, raised.value.may_have_left) == (FaultCode.INVALID_PARAMETER, False)


async def test_of_two_headers_whose_names_differ_in_case_the_later_one_counts() -> None:
    assert head(f"{ORIGIN}/", X_One="1", x_one="2")[4:] == ["x-one: 2"]


async def test_braces_and_percent_signs_in_headers_stand_for_themselves() -> None:
    request = HttpRequest(method="GET", url=f"{ORIGIN}/", headers={"X{0}%s": "{1}%d{"}, body=None)
    assert b"\r\nX{0}%s: {1}%d{\r\n" in Route(ORIGIN).head(request)


async def test_ever_new_names_of_headers_do_not_pile_up() -> None:
    route = Route(ORIGIN)
    for number in range(200):
        route.head(HttpRequest(method="GET", url=f"{ORIGIN}/", headers={f"X-{number}": "1"}, body=None))
    assert len(route._layouts) <= 64
