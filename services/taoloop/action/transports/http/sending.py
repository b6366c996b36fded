"""The body of an answer, read as it arrives."""

from __future__ import annotations

from typing import Final

import aiohttp

from taoloop.action.transports.http.decoding import BodyDecoder
from taoloop.action.transports.http.failures import Progress

_READ_BYTES: Final = 64 * 1024


async def read_body(response: aiohttp.ClientResponse, progress: Progress, limit_bytes: int) -> None:
    """Read a body into `progress`, decoded.

    Raises:
        BodyTooLarge: It is larger than `limit_bytes`.
        EncodingBroken: It is not in the encoding that its head names.
        aiohttp.ClientError: The connection broke.
    """
    decoder = BodyDecoder(response.headers.get("Content-Encoding", ""), limit_bytes)
    progress.received = decoder.body
    content = response.content
    while chunk := await content.read(_READ_BYTES):
        decoder.feed(chunk)
        if content.at_eof() and content.exception() is None:  # a short body is whole with its first piece
            break
    decoder.finish()
