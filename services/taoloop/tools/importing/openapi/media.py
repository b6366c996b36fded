"""Kinds of media types, as far as bodies of requests and replies differ by them."""

from __future__ import annotations

from typing import Literal

Kind = Literal["json", "form", "multipart", "text", "other"]


def media_type(written: str) -> Kind:
    """Return the kind of a media type.

    >>> media_type("application/problem+json; charset=utf-8"), media_type("image/png")
    ('json', 'other')
    """
    name = written.partition(";")[0].strip().lower()
    if name in {"application/json", "*/*", "application/*", "text/json"} or name.endswith("+json"):
        return "json"
    if name == "application/x-www-form-urlencoded":
        return "form"
    if name == "multipart/form-data":
        return "multipart"
    return "text" if name.startswith("text/") else "other"
