"""Rules by which a redirect is followed."""

from typing import Any

import pytest

from taoloop.action.egress.redirects import Hop, RedirectDecision, redirect_decision

FROM = "https://api.a.test/x"
OTHER = "https://b.test/y"
SECRETS = (
    ("Authorization", "Bearer 1"),
    ("Authorization", "Bearer 2"),
    ("Cookie", "s=1"),
    ("X-Api-Key", "k"),
    ("X-Subscription-Token", "t"),
    ("Accept", "application/json"),
)


def decided(location: str, *, allows_other_origins: bool = True, **hop: Any) -> RedirectDecision:
    given: dict[str, Any] = {"method": "GET", "url": FROM, "headers": SECRETS, "status": 302, **hop}
    return redirect_decision(Hop(location=location, **given), allows_other_origins=allows_other_origins)


def test_another_origin_sees_harmless_headers_alone_and_the_drop_is_told() -> None:  # C039-1
    decision = decided(OTHER)
    assert decision.is_followed
    assert decision.is_other_origin
    assert decision.headers == (("Accept", "application/json"),)
    assert decision.dropped == ("Authorization", "Cookie", "X-Api-Key", "X-Subscription-Token")


@pytest.mark.parametrize("location", ["https://api.a.test/z", "/z", "HTTPS://API.A.TEST:443/z#part"])
def test_the_same_origin_sees_all_headers(location: str) -> None:  # C039-2
    decision = decided(location, allows_other_origins=False)
    assert decision.headers == SECRETS
    assert not decision.is_other_origin
    assert decision.dropped == ()
    assert decision.url.lower().removesuffix(":443").endswith("/z")


@pytest.mark.parametrize(
    ("location", "hop", "reason"),
    [
        ("http://api.a.test/x", {"status": 301}, "plain text"),  # C039-3
        (OTHER, {"method": "POST", "status": 307}, "a write to another origin"),  # C039-4
        (OTHER, {"method": "POST", "status": 308}, "a write to another origin"),
        (OTHER, {"method": "DELETE", "status": 302}, "a write to another origin"),
        (OTHER, {"method": "QUERY", "status": 307}, "a query to another origin"),
        (OTHER, {"method": "QUERY", "status": 302}, "a query to another origin"),
        (OTHER, {"status": 300}, "where to"),
        ("", {}, "where to"),
        ("ftp://b.test/", {}, "where to"),
        ("https://u:p@b.test/", {}, "where to"),
        ("https://b.test:port/", {}, "where to"),
        ("https://:443/x", {}, "where to"),
    ],
)
def test_a_dangerous_redirect_is_not_followed(location: str, hop: dict[str, Any], reason: str) -> None:
    decision = decided(location, **hop)
    assert not decision.is_followed
    assert reason in decision.reason


@pytest.mark.parametrize("location", [OTHER, "https://api.a.test:8443/x", "https://a.test/x"])
def test_another_host_or_port_is_another_origin(location: str) -> None:
    assert decided(location, allows_other_origins=False).reason == "it leads to another origin"


@pytest.mark.parametrize(
    ("method", "status", "next_method", "keeps_body"),
    [
        ("POST", 301, "GET", False),
        ("POST", 302, "GET", False),
        ("POST", 303, "GET", False),
        ("PUT", 303, "GET", False),
        ("PUT", 302, "PUT", True),
        ("POST", 307, "POST", True),
        ("POST", 308, "POST", True),
        ("HEAD", 303, "HEAD", False),
        ("GET", 307, "GET", False),
        ("QUERY", 301, "QUERY", True),
        ("QUERY", 307, "QUERY", True),
        ("QUERY", 303, "GET", False),
    ],
)
def test_the_next_method_is_that_of_the_fetch_standard(
    method: str, status: int, next_method: str, keeps_body: bool
) -> None:
    headers = (("Content-Type", "application/json"), ("Accept", "*/*"))
    decision = decided("/z", method=method, status=status, headers=headers)
    assert (decision.method, decision.keeps_body) == (next_method, keeps_body)
    assert (("Content-Type", "application/json") in decision.headers) is keeps_body


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("/a b", "/a%20b"),
        ("/x HTTP/1.1\r\nX-Evil: y", "/x%20HTTP/1.1%0D%0AX-Evil:%20y"),
        ("/\x0bx", "/%0Bx"),
        ("/订单?q=é", "/%E8%AE%A2%E5%8D%95?q=%C3%A9"),
        ("/caf\udce9", "/caf%E9"),  # a byte that is no UTF-8, as the library hands it on
        ("/is%20so;v=1?a=[1]&b='~'", "/is%20so;v=1?a=[1]&b='~'"),
    ],
)
def test_whatever_stands_in_a_location_fits_a_request_line(location: str, path: str) -> None:
    decision = decided(location)
    assert decision.is_followed
    assert decision.url.partition("://")[2].partition("/")[2] == path[1:]
