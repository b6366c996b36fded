"""Rules of redaction: secrets go, names and harmless parts stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.redaction import (
    MASK,
    are_harmless,
    is_harmless,
    is_secret_name,
    redact_headers,
    redact_text,
    redact_url,
)

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "gone", "kept"),
    [
        pytest.param(
            "GET https://api.example.test/v1/w?api_key=abc123XYZ&city=Oslo failed",
            "abc123XYZ",
            "city=Oslo",
            id="C034-1",
        ),
        pytest.param("upstream said: 401 for Authorization: Bearer tkn-55-secret", "tkn-55-secret", "401", id="C034-2"),
        ('{"password": "a\\"b", "user": "ann"}', 'a\\"b', '"user": "ann"'),
        (r"{\"password\":\"hunter2\",\"user\":\"ann\"}", "hunter2", r"\"user\":\"ann\""),
        ("cannot reach redis://:pa55@host:6379/0", "pa55", "host:6379/0"),
        ("clone https://ghtoken@git.example.test/a", "ghtoken", "git.example.test/a"),
        ("see https://x.test/cb#access_token=abc&state=s1", "abc", "state=s1"),
        ("Cookie: a=1; b=2\nAccept: text/html", "b=2", "Accept: text/html"),
        ("{'Cookie': 'a=1; b=2', 'Accept': 'text/html'}", "b=2", "'Accept': 'text/html'"),
        ("Proxy-Authorization: Basic dXNlcjpwdw==, retry 2", "dXNlcjpwdw", "retry 2"),
        ('Authorization: Digest username="ann", response="77aa"', "77aa", "Authorization"),
        ("sent bearer abc.def-1 to it", "abc.def-1", "to it"),
        ("db_password = hunter2 (wrong)", "hunter2", "(wrong)"),
        ("clientSecret => s3, tries=4", "s3", "tries=4"),
        ("密码是hunter2，请重试", "hunter2", "请重试"),
        ("令牌：abc", "abc", "令牌"),
        (f"got {JWT} back", JWT, "back"),
        (f"key {PEM} end", "MIIEow", "end"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE cut off", "MIIE", ""),
        ("used sk-abcdefghijklmnop1234 today", "sk-abcdefghijklmnop1234", "today"),
        ("used ghp_abcdefghijkl1234 today", "ghp_abcdefghijkl1234", "today"),
        ("AKIAABCDEFGHIJKLMNOP denied", "AKIAABCDEFGHIJKLMNOP", "denied"),
        ("url=https://x.test/?sig=77&page=2", "77", "page=2"),
        ('{"token": "cut off in the mid', "cut off", '"token"'),
    ],
)
def test_a_secret_goes_and_the_rest_stays(text: str, gone: str, kept: str) -> None:
    redacted = redact_text(text)
    assert gone not in redacted
    assert kept in redacted
    assert redact_text(redacted) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "order 20240115000123 is at https://shop.test/orders/20240115000123?city=Oslo&page=2#top",
        "max_tokens=500, token_type=bearer, input_tokens: 12, session_id=7",
        "401: Bearer authentication required, no bearer token given",
        "key=order-12 and monkey=1",
        "password=",
        "会话 12：订单已发货",
        "",
    ],
)
def test_a_harmless_text_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://u:p@h.test/a?key=k&x=1", "https://u:***@h.test/a?key=***&x=1"),
        ("https://h.test/a?X-Amz-Signature=9f&X-Amz-Date=2026", "https://h.test/a?X-Amz-Signature=***&X-Amz-Date=2026"),
        ("https://h.test/a?api%5Fkey=9f&q=%E4%B8%AD", "https://h.test/a?api%5Fkey=***&q=%E4%B8%AD"),
        ("https://h.test/a?mail=x@y.test&token=1", "https://h.test/a?mail=x@y.test&token=***"),
        ("https://[broken?sig=1", "https://[broken?sig=***"),
        ("https://h.test/a?token=&b", "https://h.test/a?token=&b"),
        ("/path/only", "/path/only"),
    ],
)
def test_a_url_keeps_everything_but_its_secrets(url: str, expected: str) -> None:
    assert redact_url(url) == expected


def test_only_listed_headers_are_recorded() -> None:
    """C034-3."""
    headers = {
        "Authorization": "Bearer tkn-55-secret",
        "Cookie": "sid=9",
        "X-Api-Key": "k-1",
        "Accept": "application/json",
    }
    assert redact_headers(headers) == {"Accept": "application/json"}


def test_a_listed_header_is_redacted_too_and_the_list_is_the_callers() -> None:
    assert redact_headers({"X-Note": "token=abc", "Accept": "a"}, allowed={"x-note"}) == {"X-Note": "token=***"}


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "X-Api-Key",
        "apiKey",
        "accessToken",
        "TAOLOOP_ACTION__TOKEN",
        "client_secret",
        "Set-Cookie",
        "sid",
        "SSOToken",
    ],
)
def test_a_telling_name_is_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["", "tokens", "max_tokens", "token_type", "token_count", "session_id", "author", "key", "keyboard"]
)
def test_another_name_is_not_secret(name: str) -> None:
    assert not is_secret_name(name)


@given(st.text(alphabet="abc=:\"'\\ ?&/@.{}\n", max_size=60), st.from_regex(r"[a-z0-9]{12}", fullmatch=True))
def test_a_named_secret_goes_whatever_stands_before_it(before: str, secret: str) -> None:
    assert secret not in redact_text(f"{before}\npassword={secret}\n")


@pytest.mark.parametrize(
    "piece",
    ["a=", '"', "\\", "eyJ", "://", "-----BEGIN PRIVATE KEY-----", "token ", '\\"', "token=\\", "sk-", "https://", "@"],
)
def test_a_long_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    redact_text(piece * 20_000)  # a quadratic pattern would run into the time limit of the test


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2ln",
        "sk-abcdefghijklmnop",
        "pk-abcdefghijklmnop",
        "rk-abcdefghijklmnop",
        *(f"gh{kind}_abcdefghij" for kind in "pousr"),
        "github_pat_1234567890",
        "glpat-abcdefghij",
        *(f"xox{kind}-abcdefghij" for kind in "abeprs"),
        "AKIAABCDEFGHIJKLMNOP",
        "ASIAABCDEFGHIJKLMNOP",
        "AIza" + "x" * 35,
        "BEARER abc",
        "密码是abc",
        "token=abc",
        "https://u:p@example.com",
    ],
)
def test_no_form_of_a_secret_passes_for_harmless(text: str) -> None:
    assert not is_harmless(text)
    assert MASK in redact_text(text)


@pytest.mark.parametrize("text", ["shipped", "2024-05-20T14:30:00Z", "Keyboard 3", "广州", "12 km/h", "", "14:30"])
def test_most_texts_of_tools_are_harmless_at_once(text: str) -> None:
    assert is_harmless(text)


SECRETS = [
    "sk-abcdefghij0123456789",
    "password: x",
    "Bearer abc.def",
    "\u5bc6\u7801\u662fx",
    "-----BEGIN PRIVATE KEY-----",
]


@given(st.lists(st.sampled_from([*SECRETS, "2026-03-14T18:00:00Z", "sk", "-", "ghp", "_", "bear", "er"]) | st.text()))
def test_texts_that_are_harmless_together_are_so_one_by_one(texts: list[str]) -> None:
    if are_harmless(texts, "|".join(texts)):
        assert all(redact_text(text) == text for text in texts)


def test_texts_with_times_among_them_are_harmless_together() -> None:
    texts = ["2026-03-14T18:00:00+08:00", "in_transit", "SF Express"]

    assert are_harmless(texts, "|".join(texts))
    assert not are_harmless([*texts, "token=1"], "|".join([*texts, "token=1"]))
