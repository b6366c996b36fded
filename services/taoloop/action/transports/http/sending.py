"""The body of an answer, read as it arrives."""

from __future__ import annotations

from typing import Final

import aiohttp
from aiohttp.streams import EMPTY_PAYLOAD

from taoloop.action.transports.http.decoding import BodyDecoder
from taoloop.action.transports.http.failures import Progress

_READ_BYTES: Final = 64 * 1024


def took_whole(content: aiohttp.StreamReader, encoding: str, progress: Progress, limit_bytes: int) -> bool:
    """Take a body that is there already, as a short one is that came with its head; tell whether it was.

    Args:
        content: The undecoded body.
        encoding: The `Content-Encoding` header as sent; empty for none.
        progress: Takes it.
        limit_bytes: Largest body.
    """
    is_whole = content.is_eof() and content.exception() is None
    if not is_whole or encoding or content.total_bytes > limit_bytes:
        return False
    progress.received = _all_of(content)
    return True


async def read_body(content: aiohttp.StreamReader, encoding: str, progress: Progress, limit_bytes: int) -> None:
    """Read a body into `progress`, decoded.

    Args:
        content: The undecoded body.
        encoding: The `Content-Encoding` header as sent; empty for none.
        progress: Takes it, as far as it comes.
        limit_bytes: Largest decoded body.

    Raises:
        BodyTooLarge: It is larger than `limit_bytes`.
        EncodingBroken: It is not in the encoding that its head names.
        aiohttp.ClientError: The connection broke.
    """
    decoder = BodyDecoder(encoding, limit_bytes)
    progress.received = decoder.body
    if content.is_eof() and content.exception() is None:
        decoder.feed(_all_of(content))
    else:
        while chunk := await content.read(_READ_BYTES):
            decoder.feed(chunk)
            if content.at_eof() and content.exception() is None:  # whole with this piece
                break
    decoder.finish()


def _all_of(content: aiohttp.StreamReader) -> bytes:
    """Return a body that is whole."""
    if content is EMPTY_PAYLOAD or content.total_bytes > _READ_BYTES:
        return content.read_nowait()
    # Taken without the reader's own ways out, which let the connection read on: for so few bytes it never paused.
    pieces = content._buffer  # noqa: SLF001 - see above
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
