"""Which texts of a body are credentials of ours, and what is left of it."""

from __future__ import annotations

import base64
import json
from html import escape
from urllib.parse import quote

import pytest

from taoloop.action.ports import Reply
from taoloop.action.transports.secret_echoes import masked, secrets_of

SECRET = 'l0ng"séc/ret'


@pytest.mark.parametrize(
    "value",
    [
        SECRET,
        f"Bearer {SECRET}",
        "Basic " + base64.b64encode(f"ana:{SECRET}".encode()).decode(),
        f"Token {SECRET}",
    ],
    ids=["key", "bearer", "basic", "a scheme of the operator's own"],
)
@pytest.mark.parametrize("form", [str, json.dumps, lambda text: json.dumps(text, ensure_ascii=False), quote, escape])
def test_a_secret_is_found_in_every_form_in_which_a_tool_may_say_it(value: str, form: object) -> None:
    assert callable(form)
    said = str(form(SECRET)).strip('"')
    reply = masked(Reply(status_code=200, body=f"<{said}|{said}>".encode()), secrets_of(value))
    assert (reply.body, reply.has_masked) == (b"<***|***>", True)


def test_what_is_sent_by_basic_authentication_is_masked_whole() -> None:
    value = "Basic " + base64.b64encode(b"ana:correct horse").decode()
    reply = masked(Reply(status_code=200, body=f"you sent {value}".encode()), secrets_of(value))
    assert reply.body == b"you sent Basic ***"


def test_a_short_secret_and_an_answer_without_one_leave_everything_as_it_is() -> None:
    reply = Reply(status_code=200, body=b"seven77 words", content_type="text/plain", failure="seven77")
    assert masked(reply, secrets_of("Bearer seven77")) is reply
    assert masked(reply, secrets_of("Bearer eight888")) is reply
    assert secrets_of("Basic no base64 at all") == (b"no%20base64%20at%20all", b"no base64 at all")


def test_the_words_of_a_failure_and_the_media_type_are_masked_as_well() -> None:
    reply = Reply(status_code=500, content_type="text/eight888", failure="EIGHT888 is no key")
    got = masked(reply, secrets_of("EIGHT888"))
    assert (got.content_type, got.failure, got.has_masked) == ("text/***", "*** is no key", True)
