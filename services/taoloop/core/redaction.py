"""Takes secrets out of what is logged, traced or shown to a model; names and harmless parts stay."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Final
from urllib.parse import unquote_plus

MASK: Final = "***"

DEFAULT_ALLOWED_HEADERS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "age",
        "cache-control",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "etag",
        "retry-after",
        "traceparent",
        "user-agent",
        "vary",
        "x-request-id",
        "x-trace-id",
    }
)
"""Headers, in lower case, that telemetry may show; a header that nobody thought of is not among them."""


def redact_text(text: str) -> str:
    """Return the text with credentials masked: in URLs, after telling names, and by their well-known forms.

    >>> redact_text("401 for Authorization: Bearer abc-1 at https://api.example.test/w?api_key=x&city=Oslo")
    '401 for Authorization: *** at https://api.example.test/w?api_key=***&city=Oslo'
    """
    if is_harmless(text):
        return text
    text = _URL.sub(lambda found: redact_url(found[0]), text)
    text = _mask_named(text)
    text = _CHINESE_NAMED.sub(rf"\g<1>{MASK}", text)
    text = _BEARER.sub(rf"\g<1>{MASK}", text)
    return _KNOWN_FORMS.sub(MASK, text)


def is_harmless(text: str) -> bool:
    """Tell at once of most texts that they hold no credential; a text of which this is not said need not hold one."""
    # A name and its value have one of the two in between, and an address has the first.
    return _is_time(text) if ":" in text or "=" in text else _has_no_form(text)


def are_harmless(texts: Collection[str], together: str) -> bool:
    """Tell the same of many texts at once.

    Args:
        texts: The texts.
        together: The same, with something between them that is in no credential, such as `|`.
    """
    if ":" in together or "=" in together:
        named = [text for text in texts if ":" in text or "=" in text]
        if not all(map(_is_time, named)):
            return False
    return _has_no_form(together)


def _is_time(text: str) -> bool:
    return text[:1].isdecimal() and _TIME.fullmatch(text) is not None


def _has_no_form(text: str) -> bool:
    if not text.isascii() and any(word in text for word in _CHINESE_NAMES):
        return False
    if len(text) >= _SHORTEST_FORM and _may_have_known_form(text):
        return False
    return len(text) < len(_SCHEME) or _SCHEME not in text.lower()


def redact_url(url: str) -> str:
    """Return the URL with the password and the secret parameters masked; all else is left as it was written."""
    url = _USER_INFO.sub(_masked_user_info, url, count=1)
    path, mark, rest = _partition_query(url)
    return _KNOWN_FORMS.sub(MASK, path) + mark + _PARAMETER.sub(_masked_parameter, rest)


def redact_headers(headers: Mapping[str, str], allowed: Collection[str] = DEFAULT_ALLOWED_HEADERS) -> dict[str, str]:
    """Return the headers that may be recorded, with their values redacted.

    Args:
        headers: Names in any case.
        allowed: Names in lower case; a header outside this list is left out altogether.
    """
    return {name: redact_text(value) for name, value in headers.items() if name.lower() in allowed}


def is_secret_name(name: str) -> bool:
    """Tell whether a parameter, field or variable of this name holds a secret.

    >>> [is_secret_name(name) for name in ("X-Api-Key", "accessToken", "max_tokens", "token_type", "city")]
    [True, True, False, False, False]
    """
    words = tuple(word.lower() for word in _WORD.findall(name))
    if not words or words[-1] in _HARMLESS_ENDINGS:
        return False
    if not _SECRET_WORDS.isdisjoint(words):
        return True
    return any(pair in _SECRET_PAIRS for pair in pairwise(words))


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET_WORDS = frozenset(
    {
        "accesskey",
        "apikey",
        "auth",
        "authorization",
        "cookie",
        "credential",
        "credentials",
        "jsessionid",
        "jwt",
        "passphrase",
        "passwd",
        "password",
        "phpsessid",
        "privatekey",
        "pwd",
        "secret",
        "session",
        "sessionid",
        "sid",
        "sig",
        "signature",
        "token",
    }
)
_SECRET_PAIRS = frozenset(
    (first, "key")
    for first in ("access", "account", "api", "auth", "encryption", "private", "secret", "shared", "signing")
)
# `session_id` is the caller's conversation here; a browser's session travels as `sid`, `sessionid` or a cookie.
_HARMLESS_ENDINGS = frozenset({"count", "endpoint", "expires", "id", "length", "limit", "name", "seconds", "type"})

_URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://[^\s\"'<>]++")
_USER_INFO = re.compile(r"(?<=://)[^/?#\s]*(?=@)")
_PARAMETER = re.compile(r"(?P<name>[^&;=?#]++)=(?P<value>[^&;#]*+)")


def _partition_query(url: str) -> tuple[str, str, str]:
    """Split before the query or, if there is none, before the fragment, where tokens travel too."""
    for mark in ("?", "#"):
        path, found, rest = url.partition(mark)
        if found:
            return path, found, rest
    return url, "", ""


def _masked_user_info(found: re.Match[str]) -> str:
    user, colon, _ = found[0].partition(":")
    return f"{user}:{MASK}" if colon else MASK  # alone it may be a token


def _masked_parameter(found: re.Match[str]) -> str:
    name = unquote_plus(found["name"])
    if found["value"] and (is_secret_name(name) or name.lower() == "key"):
        return f"{found['name']}={MASK}"
    return f"{found['name']}={_KNOWN_FORMS.sub(MASK, found['value'])}"


# `name: value`, `name=value`, `"name": "value"`, also inside JSON that was quoted once more.
_NAME = re.compile(r"(?<![A-Za-z0-9_.-])(?P<name>[A-Za-z0-9_.-]++)(?:\\*+[\"'])?+\s*+(?:=>|[:=])\s*+")
_VALUE = re.compile(
    r"""
    "(?:[^"\\]++|\\.)*+"?            # a quoted value, to its own quote or, cut off, to the end
    | '(?:[^'\\]++|\\.)*+'?
    | \\+"[^"\\]*+(?:\\+")?          # the same inside quoted JSON
    | digest\s[^\r\n]*+              # the one scheme whose credentials have commas and blanks
    | (?:basic|bearer|negotiate|token|apikey)\s++[^\s,;"'<>]++
    | [^\s&,;"'<>)}\]\\]++
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_REST_OF_LINE = re.compile(r"[^\r\n\"']++")


def _mask_named(text: str) -> str:
    parts: list[str] = []
    done = 0
    for found in _NAME.finditer(text):
        if found.start() < done or not is_secret_name(found["name"]):
            continue
        pattern = _REST_OF_LINE if found["name"].lower().endswith("cookie") else _VALUE
        value = pattern.match(text, found.end()) or _VALUE.match(text, found.end())
        if value is None or value[0] == MASK:
            continue
        quote = value[0][0] if value[0][:1] in {'"', "'"} else ""
        parts += [text[done : found.end()], quote, MASK, quote]
        done = value.end()
    parts.append(text[done:])
    return "".join(parts)


_CHINESE_NAMES = ("密码", "口令", "令牌", "密钥")
_CHINESE_NAMED = re.compile(rf"((?:{'|'.join(_CHINESE_NAMES)})\s*+[:：=是为]\s*+)[^\s,，。;；]++")
# After `bearer`, words about the scheme are prose and not a credential.
_BEARER = re.compile(
    r"(\bbearer\s++)(?!(?:tokens?|auth\w*|realm|scheme|credentials?)\b)[A-Za-z0-9._~+/=-]++", re.IGNORECASE
)
_KNOWN_FORMS = re.compile(
    r"""
    -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    | \beyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+   # JSON web token
    | \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}+                             # model providers, payment
    | \b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-)[A-Za-z0-9_-]{10,}+
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_-]{35}
    """,
    re.VERBOSE | re.DOTALL,
)

# What `is_harmless` looks for, since it is found faster than a pattern: a part of every form of the patterns above.
_TIME = re.compile(r"[0-9T:.Z+ -]*+")
_SCHEME = "bearer"
_SHORTEST_FORM = 14
_BEGINNINGS = (
    *("eyJ", "AKIA", "ASIA", "AIza", "-----BEGIN ", "sk-", "pk-", "rk-"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox"),
)


_HINTS = ("eyJ", "AKIA", "ASIA", "AIza", "-----", "k-", "gh", "_pat_", "glpat-", "xox")
"""A part of each beginning; the fewer there are, the less it costs to find none."""


def _may_have_known_form(text: str) -> bool:
    for hint in _HINTS:  # no generator: each text that is shown passes here
        if hint in text:
            return any(beginning in text for beginning in _BEGINNINGS)
    return False
