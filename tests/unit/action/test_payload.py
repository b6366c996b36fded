"""Rules by which a body is read."""

import hashlib
from decimal import Decimal

import pytest

from taoloop.action.payload import RAW_PREFIX_BYTES, is_json_type, read_payload
from taoloop.action.ports import Reply
from taoloop.core.exact_json import ABSENT


def reply(body: bytes, content_type: str = "application/json", status: int = 200) -> Reply:
    return Reply(status_code=status, content_type=content_type, body=body)


def test_numbers_of_a_body_stay_exact() -> None:
    payload = read_payload(reply(b'{"id":12345678901234567,"amount":0.10}'), expects_json=True)
    assert payload.parsed == {"id": 12345678901234567, "amount": Decimal("0.10")}
    assert isinstance(payload.parsed, dict)
    assert str(payload.parsed["amount"]) == "0.10"
    assert payload.raw is None


def test_a_byte_order_mark_is_accepted() -> None:
    assert read_payload(reply(b'\xef\xbb\xbf{"a":1}'), expects_json=True).parsed == {"a": 1}


@pytest.mark.parametrize("content_type", ["", "text/plain"])
def test_json_that_is_expected_needs_no_announcement(content_type: str) -> None:
    assert read_payload(reply(b"[1]", content_type), expects_json=True).parsed == [1]


@pytest.mark.parametrize("body", [b'{"a":1', b'{"a":1,"a":2}', b"NaN", b"<html>", b"\xff"])
def test_a_body_that_is_no_strict_json_is_a_fault_that_does_not_quote_it(body: bytes) -> None:
    payload = read_payload(reply(body), expects_json=True)
    assert (payload.parsed, payload.raw) == (ABSENT, body)
    assert "The body is not JSON" in payload.fault_message
    assert "html" not in payload.fault_message


def test_a_page_instead_of_json_is_told_by_its_content_type() -> None:
    page = b"<html><input name=token value=s3cret></html>"
    payload = read_payload(reply(page, "text/html"), expects_json=True)
    assert payload.fault_message == "The content type is text/html, not JSON."


def test_text_is_no_fault_where_the_contract_expects_nothing() -> None:
    payload = read_payload(reply(b"hello", "text/plain"), expects_json=False)
    assert (payload.parsed, payload.raw, payload.fault_message) == (ABSENT, b"hello", "")


@pytest.mark.parametrize(("status", "message"), [(200, "The body is empty."), (204, ""), (202, "")])
def test_an_empty_body_is_a_fault_unless_its_status_says_so(status: int, message: str) -> None:
    payload = read_payload(reply(b"", status=status), expects_json=True)
    assert (payload.parsed, payload.raw, payload.fault_message) == (ABSENT, None, message)


def test_only_the_beginning_of_a_raw_body_travels() -> None:
    body = b"x" * (RAW_PREFIX_BYTES + 1)
    payload = read_payload(reply(body), expects_json=True)
    assert payload.raw == body[:RAW_PREFIX_BYTES]
    assert (payload.body.size_bytes, payload.body.truncated) == (len(body), False)
    assert payload.body.sha256 == hashlib.sha256(body).hexdigest()


def test_a_body_with_bytes_missing_is_never_parsed() -> None:
    payload = read_payload(reply(b"[1]"), expects_json=True, is_truncated=True)
    assert (payload.parsed, payload.raw, payload.body.truncated) == (ABSENT, b"[1]", True)


@pytest.mark.parametrize(
    ("content_type", "is_json"),
    [("application/json", True), ("application/problem+json", True), ("text/html", False), ("", False)],
)
def test_json_types_are_known(content_type: str, is_json: bool) -> None:
    assert is_json_type(content_type) is is_json
