"""The body of an HTTP request: JSON, form, multipart or text, each in its own encoding."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from taoloop.action.transports.http_filling import (
    Arguments,
    RequestRefused,
    entries,
    filled,
    first_name,
    text_of,
    texts_of,
    whole,
)
from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.tools.contract import HttpTransport, Part, PartEncoding

_FORM: Final = "application/x-www-form-urlencoded"
_QUERY_METHODS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_ESCAPES: Final = str.maketrans({"\r": "%0D", "\n": "%0A", '"': "%22"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedBody:
    """A body as it is sent."""

    content: bytes
    content_type: str
    """For the header, unless the contract sets another."""


def takes_rest(template: HttpTransport) -> bool:
    """Tell whether parameters that no placeholder names go to the body, not to the query."""
    if template.form is not None or template.multipart is not None:
        return True
    if template.text is not None or template.method.upper() in _QUERY_METHODS:
        return False
    return isinstance(template.json, exact_json.Absent | Mapping)


def build_body(template: HttpTransport, arguments: Arguments, rest: Arguments) -> EncodedBody | None:
    """Return the body that the template makes of the arguments; None for no body.

    Args:
        template: Has at most one kind of body.
        arguments: All of them.
        rest: Those that the body takes although no placeholder names them.

    Raises:
        RequestRefused: An argument has no form in this kind of body.
    """
    if template.form is not None:
        fields = [*entries(template.form, arguments), *_rest_entries(rest)]
        return EncodedBody(content=urlencode(fields).encode(), content_type=_FORM)
    if template.multipart is not None:
        return _multipart(template.multipart, arguments, rest)
    if template.text is not None:
        return EncodedBody(content=filled(template.text, arguments).encode(), content_type="text/plain; charset=utf-8")
    if template.json is ABSENT and not rest:
        return None
    body = json_body(template.json, arguments)
    if rest:
        body = {**(body if isinstance(body, dict) else {}), **rest}
    if isinstance(body, exact_json.Absent):
        return None
    return EncodedBody(content=exact_json.dumps(body).encode(), content_type="application/json")


def json_body(template: Json, arguments: Arguments) -> Json:
    """Return a JSON template with its placeholders replaced; a text that is one placeholder becomes the argument.

    Members and items that are one placeholder are left out without their argument.
    """
    if isinstance(template, Mapping):
        members = ((key, json_body(value, arguments)) for key, value in template.items())
        return {key: value for key, value in members if not isinstance(value, exact_json.Absent)}
    if isinstance(template, list | tuple):
        items = (json_body(item, arguments) for item in template)
        return [item for item in items if not isinstance(item, exact_json.Absent)]
    name = whole(template)
    if name is not None:
        return arguments.get(name, ABSENT)
    return filled(template, arguments) if isinstance(template, str) else template


def _rest_entries(rest: Arguments) -> Iterable[tuple[str, str]]:
    return ((name, text) for name, value in rest.items() for text in texts_of(name, value))


@dataclass(frozen=True, slots=True)
class _EncodedPart:
    name: str
    content: bytes
    file_name: str = ""
    content_type: str = ""

    def head(self) -> bytes:
        lines = [f'Content-Disposition: form-data; name="{self.name.translate(_ESCAPES)}"']
        if self.file_name:
            lines[0] += f'; filename="{self.file_name.translate(_ESCAPES)}"'
        if self.content_type:
            lines.append(f"Content-Type: {self.content_type}")
        return "\r\n".join(lines).encode()


def _multipart(parts: Mapping[str, Part], arguments: Arguments, rest: Arguments) -> EncodedBody:
    """Return a `multipart/form-data` body.

    Source: the HTML standard, multipart/form-data encoding algorithm: UTF-8, and the two line-end characters
    and the quote percent-encoded in names.
    """
    encoded = [_part(name, part, arguments) for name, part in parts.items() if not _is_left_out(part, arguments)]
    encoded += [_EncodedPart(name, text.encode()) for name, text in _rest_entries(rest)]
    # Made of the content, so that a repeat sends the same bytes and no content can hold its own boundary by chance.
    digest = hashlib.sha256(repr([(part.head(), part.content) for part in encoded]).encode())
    boundary = f"taoloop-{digest.hexdigest()[:32]}"
    line = boundary.encode()
    chunks = [b"--" + line + b"\r\n" + part.head() + b"\r\n\r\n" + part.content + b"\r\n" for part in encoded]
    return EncodedBody(
        content=b"".join([*chunks, b"--", line, b"--\r\n"]), content_type=f"multipart/form-data; boundary={boundary}"
    )


def _is_left_out(part: Part, arguments: Arguments) -> bool:
    name = whole(part.content)
    return name is not None and arguments.get(name) is None


def _part(name: str, part: Part, arguments: Arguments) -> _EncodedPart:
    parameter = whole(part.content)
    value: JsonValue = part.content if parameter is None else arguments[parameter]
    if parameter is not None and isinstance(value, list | dict):
        text = exact_json.dumps(value)  # a part is a document of its own, which JSON can be
    elif parameter is not None:
        text = text_of(parameter, value)
    else:
        text = filled(part.content, arguments)
    return _EncodedPart(
        name,
        _decoded(text, part, first_name(part.content)),
        filled(part.file_name, arguments),
        part.content_type,
    )


def _decoded(text: str, part: Part, parameter: str) -> bytes:
    if part.encoding is PartEncoding.TEXT:
        return text.encode()
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise RequestRefused(parameter, "the part is not base64") from exc
