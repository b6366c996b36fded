"""Rules by which arguments become a body."""

from decimal import Decimal
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qsl

import pytest

from taoloop.action.transports.http_filling import RequestRefused
from taoloop.action.transports.http_request import HttpRequest, SentKey, build_request
from taoloop.tools.contract import HttpTransport, Idempotency, KeyLocation, Part, PartEncoding

URL = "http://tools.test/things"


def template(method: str = "POST", **parts: Any) -> HttpTransport:
    return HttpTransport(method=method, url=URL, **parts)


def parts_of(request: HttpRequest) -> list[tuple[str, bytes]]:
    """Read a multipart body by the standard library's parser: name and content of each part."""
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    message: Any = BytesParser().parsebytes(head + (request.body or b""))
    return [
        (part.get_param("name", header="content-disposition"), part.get_payload(decode=True))
        for part in message.get_payload()
    ]


def test_a_form_is_encoded_as_forms_are() -> None:
    http = template(form={"q": "{words}", "tag": "{tags}", "gone": "{absent}", "fixed": "a b&c"})
    built = build_request(http, {"words": "ä +&=", "tags": ["x", Decimal("0.10")], "rest": True})
    assert built.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert built.body == b"q=%C3%A4+%2B%26%3D&tag=x&tag=0.10&fixed=a+b%26c&rest=true"
    assert ("q", "ä +&=") in parse_qsl(built.body.decode())
    assert built.url == URL


def test_a_text_is_utf_8_and_the_rest_goes_to_the_query() -> None:
    built = build_request(template(text="Für {who}: {n}"), {"who": "Ana", "n": 3, "more": "x"})
    assert built.body == "Für Ana: 3".encode()
    assert built.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert built.url == f"{URL}?more=x"


def test_a_json_body_whose_only_argument_is_absent_is_no_body() -> None:
    http = template(json="{payload}")
    assert build_request(http, {"payload": {"a": 1}}).body == b'{"a":1}'
    absent = build_request(http, {})
    assert (absent.body, dict(absent.headers)) == (None, {})


def test_the_contract_may_name_another_content_type() -> None:
    built = build_request(template(text="<a/>", headers={"content-type": "application/xml"}), {})
    assert dict(built.headers) == {"content-type": "application/xml"}


def test_a_multipart_body_has_fields_files_and_the_rest() -> None:
    http = template(
        multipart={
            "note": Part(content="for {who}"),
            "file": Part(content="{data}", file_name="{name}", content_type="image/png", encoding=PartEncoding.BASE64),
            "meta": Part(content="{meta}", content_type="application/json"),
            "gone": Part(content="{absent}"),
            "count": Part(content="{count}"),
        }
    )
    arguments: dict[str, Any] = {
        "who": "Ana",
        "data": "iVBORw==",
        "name": "ü.png",
        "meta": {"a": [1]},
        "count": 3,
        "extra": ["x", "y"],
    }
    built = build_request(http, arguments)
    assert parts_of(built) == [
        ("note", b"for Ana"),
        ("file", b"\x89PNG"),
        ("meta", b'{"a":[1]}'),
        ("count", b"3"),
        ("extra", b"x"),
        ("extra", b"y"),
    ]
    assert built.body is not None
    assert 'filename="ü.png"'.encode() in built.body
    assert build_request(http, arguments).body == built.body


def test_names_of_parts_cannot_break_out_of_their_header() -> None:
    http = template(multipart={"a": Part(content="x", file_name="{name}")})
    built = build_request(http, {"name": 'a"\r\nX-Evil: 1'})
    assert built.body is not None
    assert b'filename="a%22%0D%0AX-Evil: 1"' in built.body


def test_a_part_that_is_no_base64_is_refused() -> None:
    http = template(multipart={"a": Part(content="{data}", encoding=PartEncoding.BASE64)})
    with pytest.raises(RequestRefused, match="not base64") as refused:
        build_request(http, {"data": "no!"})
    assert refused.value.parameter == "data"


@pytest.mark.parametrize("parts", [{"form": {"a": "{a}"}}, {"text": "{a}"}, {"query": {"a": "{a}"}}])
def test_a_lone_surrogate_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused, match="surrogate"):
        build_request(template(**parts), {"a": "\ud800"})
    with pytest.raises(RequestRefused, match="surrogate"):
        build_request(template(headers={"X-A": "{a}"}), {"a": "\ud800"})


def test_numbers_and_lists_have_texts_and_null_has_none() -> None:
    http = template(form={"n": 3, "gone": "{null}", "empty": "<{null}>", "items": "{items}"})
    assert build_request(http, {"null": None, "items": [1, None]}).body == b"n=3&empty=%3C%3E&items=1&items="
    assert build_request(template("GET"), {"null": None, "on": True}).url == f"{URL}?on=true"


@pytest.mark.parametrize("value", [{"a": 1}, [[1]], [{"a": 1}]])
def test_what_has_no_text_is_refused(value: Any) -> None:
    with pytest.raises(RequestRefused, match="no text form") as refused:
        build_request(template(form={"a": "{a}"}), {"a": value})
    assert refused.value.parameter == "a"


def test_an_array_beside_a_json_array_goes_to_the_query() -> None:
    built = build_request(template(json=["{a}"]), {"a": 1, "b": [2, 3]})
    assert (built.body, built.url) == (b"[1]", f"{URL}?b=2&b=3")


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "connection"])
def test_headers_of_the_connection_are_not_the_contracts(name: str) -> None:
    with pytest.raises(RequestRefused, match="connection's own"):
        build_request(template(headers={name: "x"}), {})


def key(location: KeyLocation, name: str) -> SentKey:
    return SentKey(Idempotency(location=location, name=name), "k1")


def test_the_key_goes_to_the_header_and_no_argument_replaces_it() -> None:
    http = template(headers={"idempotency-key": "{mine}"})
    built = build_request(http, {"mine": "other"}, key(KeyLocation.HEADER, "Idempotency-Key"))
    assert built.headers["Idempotency-Key"] == "k1"
    assert "idempotency-key" not in built.headers


def test_the_key_goes_to_the_query() -> None:
    http = template(query={"key": "{mine}"})
    assert build_request(http, {"mine": "other"}, key(KeyLocation.QUERY, "key")).url == f"{URL}?key=k1"


@pytest.mark.parametrize(
    ("parts", "body"),
    [
        ({}, b'{"a":1,"key":"k1"}'),
        ({"json": {"x": "{a}", "key": "{b}"}}, b'{"x":1,"key":"k1"}'),
        ({"form": {"x": "{a}"}}, b"x=1&key=k1"),
    ],
)
def test_the_key_goes_to_the_body(parts: dict[str, Any], body: bytes) -> None:
    assert build_request(template(**parts), {"a": 1}, key(KeyLocation.BODY, "key")).body == body


@pytest.mark.parametrize("parts", [{"text": "x"}, {"json": ["x"]}])
def test_a_body_without_members_has_no_place_for_the_key(parts: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused, match="no place for the idempotency key"):
        build_request(template(**parts), {}, key(KeyLocation.BODY, "key"))


def test_a_multipart_body_takes_the_key_as_a_part() -> None:
    built = build_request(template(multipart={"a": Part(content="x")}), {}, key(KeyLocation.BODY, "key"))
    assert parts_of(built) == [("a", b"x"), ("key", b"k1")]
