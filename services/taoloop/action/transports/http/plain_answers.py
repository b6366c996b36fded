"""The plainest form of an HTTP answer, read in one step; whatever differs from it in anything is left to the parser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_PLAIN_HEAD: Final = re.compile(
    rb"HTTP/1\.1 (20[0-3]|[45][0-9]{2}) [\t\x20-\x7e]*+\r\n((?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t\x20-\x7e]*+\r\n)*+)\r\n"
)
"""A final status with a body, and headers of visible ASCII. Possessive: linear on any input."""

_LEFT_TO_THE_PARSER: Final = frozenset(
    {"transfer-encoding", "upgrade", "proxy-connection", "sec-websocket-key1", "trailer"}
)
"""Headers that say how a message ends, or that the connection becomes another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadLimits:
    """How large the head of an answer may be.

    Attributes:
        max_header_bytes: Of its first line, and of each header.
        max_headers: Most headers.
    """

    max_header_bytes: int = 8190
    max_headers: int = 128


PlainAnswer = tuple[int, Mapping[str, str], bytes]
"""Status, lower-case name of each header → value, and the body, not decoded."""


def plain_answer(data: bytes, limits: HeadLimits) -> PlainAnswer | None:
    """Return the answer that the bytes are, the whole of it and nothing else; None where the parser has to say.

    Plain is what a server of JSON mostly sends: one final status, no header twice, a `Content-Length` that is the
    length of what follows, and a connection that stays open. For such bytes the parser says the same.

    Args:
        data: What came first on a connection after a request, which was none for the head alone.
        limits: Of the head.
    """
    found = _PLAIN_HEAD.match(data)
    if found is None or found.end() > limits.max_header_bytes:
        return None
    lines = found[2].decode().split("\r\n")
    headers: dict[str, str] = {}
    for line in lines[:-1]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip(" \t")
    if not len(headers) == len(lines) - 1 <= limits.max_headers or not _LEFT_TO_THE_PARSER.isdisjoint(headers):
        return None
    if headers.get("content-length") != str(len(data) - found.end()):
        return None
    if headers.get("connection", "keep-alive").lower() != "keep-alive":
        return None
    return int(found[1]), headers, data[found.end() :]
