"""Rules by which arguments become an HTTP request."""

from decimal import Decimal
from typing import Any

import pytest

from taoloop.action.transports.http_request import (
    RequestRefused,
    build_request,
    build_url,
    path_template,
    with_base,
)
from taoloop.tools.contract import HttpTransport

BASE = "http://tools.test"


def template(method: str = "GET", path: str = "/things", **parts: Any) -> HttpTransport:
    return HttpTransport(method=method, url=BASE + path, **parts)


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        ("a b", "a%20b"),
        ("a/../b", "a%2F..%2Fb"),
        ("?x=1#y", "%3Fx%3D1%23y"),
        ("%2e%2e", "%252e%252e"),
        ("北京", "%E5%8C%97%E4%BA%AC"),
        (12345678901234567, "12345678901234567"),
        (Decimal("0.10"), "0.10"),
        (True, "true"),
    ],
)
def test_a_value_in_the_path_is_one_encoded_segment(value: Any, encoded: str) -> None:
    assert build_request(template(path="/things/{key}/parts"), {"key": value}).url == f"{BASE}/things/{encoded}/parts"


@pytest.mark.parametrize("value", [".", "..", "", None, ["a"], {"a": 1}])
def test_a_path_refuses_dot_segments_and_values_without_text(value: Any) -> None:
    with pytest.raises(RequestRefused) as refused:
        build_request(template(path="/things/{key}"), {"key": value})
    assert refused.value.parameter == "key"


def test_a_text_that_has_no_encoding_is_refused_wherever_it_stands() -> None:
    half = {"key": "a\ud800"}
    with pytest.raises(RequestRefused, match="surrogate"):
        build_url(f"{BASE}/things/{{key}}", half)
    for http in (template(path="/things/{key}"), template(headers={"X-Key": "{key}"})):
        with pytest.raises(RequestRefused, match="surrogate"):
            build_request(http, half)


def test_a_path_refuses_a_missing_value() -> None:
    with pytest.raises(RequestRefused, match="the path needs this parameter"):
        build_request(template(path="/things/{key}"), {})


def test_dots_beside_other_text_are_no_dot_segment() -> None:
    assert build_request(template(path="/files/v{key}"), {"key": ".."}).url == f"{BASE}/files/v.."


@pytest.mark.parametrize("path", ["/things/../{key}", "/./{key}"])
def test_a_dot_segment_of_the_contract_itself_is_refused(path: str) -> None:
    with pytest.raises(RequestRefused, match="dot segment"):
        build_request(template(path=path), {"key": "abc"})


def test_a_placeholder_in_the_host_is_refused() -> None:
    with pytest.raises(RequestRefused, match="host"):
        build_request(HttpTransport(method="GET", url="http://{key}/things"), {"key": "evil.test"})


def test_query_entries_are_encoded_repeated_and_left_out() -> None:
    http = template(query={"q": "{words}", "tag": "{tags}", "at": "{at}", "fixed": "x={words}"})
    url = build_request(http, {"words": "a&b=c", "tags": ["x", "y z"]}).url
    assert url == f"{BASE}/things?q=a%26b%3Dc&tag=x&tag=y%20z&fixed=x%3Da%26b%3Dc"


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD"])
def test_unplaced_parameters_go_to_the_query_where_bodies_are_unusual(method: str) -> None:
    built = build_request(template(method, "/things/{key}"), {"key": "k", "amount": Decimal("0.10")})
    assert (built.url, built.body) == (f"{BASE}/things/k?amount=0.10", None)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_unplaced_parameters_go_to_the_body_elsewhere_with_exact_numbers(method: str) -> None:
    built = build_request(
        template(method, "/things/{key}"), {"key": "k", "id": 12345678901234567, "amount": Decimal("0.10")}
    )
    assert built.body == b'{"id":12345678901234567,"amount":0.10}'
    assert built.headers["Content-Type"] == "application/json"


def test_a_body_template_takes_arguments_with_their_type() -> None:
    http = template(
        "POST", json={"a": {"amount": "{amount}", "note": "for {who}", "x": "{absent}"}, "list": ["{who}", "{absent}"]}
    )
    built = build_request(http, {"amount": Decimal("0.10"), "who": "Ana", "extra": None})
    assert built.body == b'{"a":{"amount":0.10,"note":"for Ana"},"list":["Ana"],"extra":null}'


def test_a_header_refuses_control_characters() -> None:
    http = template(headers={"X-Key": "{key}", "X-None": "{absent}", "X-Fixed": "1"})
    assert build_request(http, {"key": "a"}).headers == {"X-Key": "a", "X-Fixed": "1"}
    with pytest.raises(RequestRefused, match="control characters"):
        build_request(http, {"key": "a\r\nX-Evil: 1"})


def test_a_base_is_put_in_and_an_unknown_one_refused() -> None:
    http = HttpTransport(method="GET", url="{{base.things}}/things/{key}")
    assert with_base(http, {"things": "http://tools.test/api/"}).url == "http://tools.test/api/things/{key}"
    with pytest.raises(RequestRefused, match="no base URL things"):
        with_base(http, {})


@pytest.mark.parametrize(
    ("url", "path"),
    [("http://h:1/a/{b}?c={d}", "/a/{b}"), ("http://h", "/"), ("http://h?x=1", "/")],
)
def test_a_path_template_holds_no_value(url: str, path: str) -> None:
    assert path_template(url) == path


def test_a_url_may_have_a_query_of_its_own() -> None:
    built = build_request(template(path="/things?v=2&k={key}"), {"key": "a b", "more": "x"})
    assert built.url == f"{BASE}/things?v=2&k=a%20b&more=x"
    assert build_request(template(path="/things?v=2"), {"more": "x"}).url == f"{BASE}/things?v=2&more=x"
