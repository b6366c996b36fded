"""Credentials that a tool sends back: taken out of its answer before anybody reads it."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import Final
from urllib.parse import quote

from taoloop.action.ports import Reply
from taoloop.core.redaction import MASK

LEAST_CHARACTERS: Final = 8
"""A shorter secret is left in: it would be found in words that have nothing to do with it."""

_MASK: Final = MASK.encode()


@lru_cache(maxsize=256)
def secrets_of(*values: str) -> tuple[bytes, ...]:
    """Return what must not come back, as it may stand in a body, longest first.

    Args:
        values: The values of the headers, query parameters or metadata that carry credentials, such as
            `Bearer abc`.

    >>> secrets_of("Bearer fZ8/x+2kQ")
    (b'fZ8%2Fx%2B2kQ', b'fZ8/x%2B2kQ', b'fZ8/x+2kQ')
    """
    texts: set[str] = set()
    for value in values:
        scheme, _, text = value.partition(" ")
        texts.add(text)  # also behind a word of the operator's own, as in `Token abc`
        if scheme not in {"Bearer", "Basic"}:
            texts.add(value)
        elif scheme == "Basic":
            texts.add(_password(text))
    forms = {form for text in texts if len(text) >= LEAST_CHARACTERS for form in _forms(text)}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def masked(reply: Reply, secrets: tuple[bytes, ...]) -> Reply:
    """Return an answer without any of these secrets.

    An answer that has none, as nearly every one, costs one search for each and is returned as it is.
    """
    body, media_type, failure = reply.body, reply.content_type, reply.failure
    for secret in secrets:
        if secret in body:
            body = body.replace(secret, _MASK)
        if media_type or failure:
            text = secret.decode()
            media_type, failure = media_type.replace(text.lower(), MASK), failure.replace(text, MASK)
    if body is reply.body and media_type == reply.content_type and failure == reply.failure:
        return reply
    return replace(reply, body=body, content_type=media_type, failure=failure, has_masked=True)


def _password(credentials: str) -> str:
    """Return the password of basic authentication; empty when there is none."""
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _forms(text: str) -> set[bytes]:
    """Return a text as JSON, URLs, pages and anything else may hold it."""
    in_json = (json.dumps(text, ensure_ascii=is_ascii)[1:-1] for is_ascii in (False, True))
    return {form.encode() for form in (text, *in_json, quote(text, safe=""), quote(text), escape(text))}
