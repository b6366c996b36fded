"""A response body decoded while it arrives: bounded, whole or refused."""

from __future__ import annotations

import zlib
from typing import Final

ACCEPTED_ENCODINGS: Final = "gzip, deflate"
"""For the `Accept-Encoding` header; what else a server sends is refused."""

_GZIP_BITS: Final = 31
_ZLIB_BITS: Final = 15
_RAW_BITS: Final = -15


class EncodingBroken(ValueError):
    """The bytes are not in the encoding that the response announced, or they end too early."""


_MOST_MEMBERS: Final = 500
"""Each member costs a copy of what is behind it, so that thousands of empty ones would hold the event loop up."""


class BodyTooLarge(ValueError):
    """The decoded body passed its limit."""


class BodyDecoder:
    """Decodes one body, never holding more than the limit and one piece of it.

    The client's own decoding is not used: it takes a gzip stream that ends in the middle for a whole one.

    Args:
        encoding: The `Content-Encoding` header as sent; empty for none.
        limit_bytes: Largest decoded body.

    Raises:
        EncodingBroken: The encoding is none of those accepted.
    """

    def __init__(self, encoding: str, limit_bytes: int) -> None:
        name = encoding.strip().lower()
        if name not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise EncodingBroken("the encoding is none of those that were accepted")
        self._is_plain = name in {"", "identity"}
        self._is_gzip = name in {"gzip", "x-gzip"}
        self._limit = limit_bytes
        self._stream = zlib.decompressobj(_GZIP_BITS) if self._is_gzip else None
        self._has_input = False
        self._members = 0
        self.body = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next bytes off the wire.

        Raises:
            EncodingBroken: They break the encoding.
            BodyTooLarge: The decoded body passed its limit; `body` holds what came up to it.
        """
        if self._is_plain:
            self._add(data)
            return
        self._has_input = self._has_input or bool(data)
        try:
            self._inflate(data)
        except zlib.error as exc:
            raise EncodingBroken("the compressed bytes are broken") from exc

    def finish(self) -> None:
        """Say that no more bytes come.

        Raises:
            EncodingBroken: The encoding is not at its end.
        """
        if self._has_input and (self._stream is None or not self._stream.eof):
            raise EncodingBroken("the compressed bytes end too early")

    def _inflate(self, data: bytes) -> None:
        while data and not self._is_padding(data):
            stream = self._stream_for(data)
            # One byte more than allowed is enough to know; a bomb is not unpacked further than that.
            self._add(stream.decompress(data, self._limit - len(self.body) + 1))
            data = stream.unconsumed_tail or stream.unused_data

    def _is_padding(self, data: bytes) -> bool:
        """Tell whether these are zeros after the end, which are common and harmless."""
        return self._stream is not None and self._stream.eof and not data.strip(b"\0")

    def _stream_for(self, data: bytes) -> zlib._Decompress:
        if self._stream is None:
            # Some servers send the bare stream under the name of the wrapped one.
            self._stream = zlib.decompressobj(_ZLIB_BITS if data[0] & 0x0F == 8 else _RAW_BITS)
        elif self._stream.eof:
            self._members += 1
            if not self._is_gzip:
                raise EncodingBroken("bytes follow the end of the compressed ones")
            if self._members > _MOST_MEMBERS:
                raise EncodingBroken(f"the compressed bytes have more than {_MOST_MEMBERS} members")
            self._stream = zlib.decompressobj(_GZIP_BITS)  # gzip may be several members in a row
        return self._stream

    def _add(self, data: bytes) -> None:
        room = self._limit - len(self.body)
        self.body += data[:room]
        if len(data) > room:
            raise BodyTooLarge(f"The decoded body is larger than {self._limit} bytes.")
