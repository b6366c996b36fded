"""A connection of aiohttp's, asked without its client: requests go out, several at a time, and answers come back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import DEFAULT_CHUNK_SIZE, EMPTY_BODY_STATUS_CODES, set_exception
from aiohttp.http import HttpResponseParser
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader

from taoloop.action.transports.http.decoding import BodyDecoder
from taoloop.action.transports.http.failures import Progress
from taoloop.action.transports.http.plain_answers import HeadLimits, plain_answer
from taoloop.action.transports.http.time_limits import NEVER

_ONE_WRITE_BYTES: Final = 64 * 1024
"""A longer body is not copied behind its head."""

_READ_BYTES: Final = 64 * 1024

Arrived = tuple[int, Mapping[str, str], bytes | StreamReader]
"""Status, headers, and the body: whole, or as it arrives; undecoded."""


class AnswerProtocol(ResponseHandler):
    """One connection. What is received for a request of `ask` takes fewer steps than the library's own way.

    The library's client goes on working with it as before.

    Attributes:
        ends_at: When what is asked must be answered, on the clock of the event loop; see `TimeLimits.watch`.
        has_spoken: Whether the server said something since it had answered.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.ends_at = NEVER
        self.has_spoken = False
        self._is_asked = False
        self._is_ours = False
        self._limits = HeadLimits()
        self._plain: Arrived | None = None
        self._unsent: tuple[bytes, ...] = ()

    def ask(
        self, method: str, head: bytes, body: bytes | None, limits: HeadLimits, outbox: Outbox | None = None
    ) -> asyncio.Future[None]:
        """Send a request; what is returned is done when `answered` can be called.

        Args:
            method: Upper case.
            head: With its empty line.
            body: None for no body.
            limits: Of the answer's head.
            outbox: Where the request is left to be sent with others; None sends it at once.

        Raises:
            aiohttp.ClientError: The connection is closed.
        """
        transport = self.transport
        if transport is None or transport.is_closing():
            raise aiohttp.ClientConnectionResetError("closed before the request")
        self._skip_payload = method == "HEAD"
        self._limits = limits
        self._parser = self._payload = None
        self._is_ours = True
        if body is None:
            self._unsent = (head,)
        else:
            self._unsent = (head + body,) if len(body) <= _ONE_WRITE_BYTES else (head, body)
        self._waiter = waiter = self._loop.create_future()
        self.send() if outbox is None else outbox.add(self)
        return waiter

    def send(self) -> None:
        """Send what `ask` left, unless the connection was closed meanwhile, of which who waits hears otherwise."""
        pieces, self._unsent = self._unsent, ()
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        if not self.is_silent():
            self._break(aiohttp.ClientConnectionError("the server spoke first"))
            return
        self._is_asked = True
        for piece in pieces:
            transport.write(piece)

    def answered(self) -> Arrived:
        """Return the answer that has arrived; `read` waits for a further head."""
        plain = self._plain
        if plain is not None:
            self._plain = None
            return plain
        (message, content), _ = self._buffer.popleft()
        return message.code, message.headers, content

    def rest(self) -> bool:
        """End an exchange whose answer was read; tell whether the connection can take another one."""
        self._is_asked = False
        payload = self._payload
        is_over = payload is None or payload is EMPTY_PAYLOAD or payload._eof  # noqa: SLF001 - a call
        is_broken = self._should_close or self._upgraded or self._exception is not None
        return is_over and not (is_broken or self._buffer or self._tail)

    def holds_back(self, body: bytes | None, status_code: int) -> bool:
        """Tell whether a part of a request may still be on its way, although it was answered.

        Args:
            body: That of the request.
            status_code: That of the answer, which may have come before the request was read.
        """
        transport = self.transport
        if transport is None:
            return False
        if transport.get_write_buffer_size():
            return True
        if body is None or len(body) <= _ONE_WRITE_BYTES or 200 <= status_code < 300:
            return False
        # What TLS has handed on is counted nowhere: a long request that was refused may be on its way still.
        return transport.get_extra_info("sslcontext") is not None

    def is_silent(self) -> bool:
        """Tell whether the server said nothing before it was asked: the next answer would be that."""
        # Answers that were parsed, or what came before there was a parser, as on a new connection.
        return not (self.has_spoken or self._buffer or self._tail)

    def pass_by(self) -> None:
        """Wake who waits for the answer: its time is over."""
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            self._waiter = None
            waiter.set_exception(TimeoutError())

    def set_response_params(self, **params: Any) -> None:
        """Make ready for an answer that the library's client reads."""
        self._is_ours = False
        super().set_response_params(**params)

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Let the connection read on where it was held; the end of each body asks for that, held or not."""
        if resume_parser or self._reading_paused or self._buffer_paused:
            super().resume_reading(resume_parser)

    def data_received(self, data: bytes) -> None:
        """Take what the server sent."""
        if not self._is_asked:
            if data and self._is_ours:
                self.has_spoken = True
            super().data_received(data)
            return
        if self._exception is not None:
            return  # what comes behind the fault that broke it
        if self._parser is None:
            plain = None if self._skip_payload else plain_answer(data, self._limits)
            if plain is not None:
                self._plain, self._is_asked = plain, False
                self._wake()
                return
            self._parser = self._parser_of_answers()
        try:
            messages, is_upgraded, tail = self._parser.feed_data(data)
        except Exception as error:  # noqa: BLE001 - as the library does: whatever the parser raises, it was no HTTP
            self._break(error)
            return
        for message, payload in messages:
            self._should_close = self._should_close or message.should_close
            self._payload = payload
            has_body = not self._skip_payload and message.code not in EMPTY_BODY_STATUS_CODES
            self._buffer.append(((message, payload if has_body else EMPTY_PAYLOAD), 0))
        if messages:
            self._wake()
        if is_upgraded:
            self._upgraded = True
            super().data_received(tail)

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _parser_of_answers(self) -> HttpResponseParser:
        limits = self._limits
        return HttpResponseParser(
            self,
            self._loop,
            DEFAULT_CHUNK_SIZE,
            payload_exception=aiohttp.ClientPayloadError,
            response_with_body=not self._skip_payload,
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=limits.max_header_bytes,
            max_field_size=limits.max_header_bytes,
            max_headers=limits.max_headers,
        )

    def _break(self, error: Exception) -> None:
        """Close the connection, and tell who waits for the answer why."""
        if self.transport is not None:
            self.transport.close()
        told: Exception = error
        if isinstance(error, HttpProcessingError):
            told = HttpProcessingError(code=error.code, message=error.message, headers=error.headers)
        elif not isinstance(error, aiohttp.ClientError):
            told = HttpProcessingError()
        self._end_body(told, error)
        self.set_exception(told, error)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Tell who waits; a body that has no length is whole only where the server ended it in peace."""
        if exc is not None:
            self._end_body(aiohttp.ClientPayloadError("The connection broke within the body."), exc)
        super().connection_lost(exc)

    def _end_body(self, told: Exception, cause: BaseException) -> None:
        """Tell who reads a body that no more of it comes; the library's parser forgets it when it fails."""
        payload = self._payload
        if payload is not None and payload is not EMPTY_PAYLOAD and not payload.is_eof():
            set_exception(payload, told, cause)


class Outbox:
    """Sends the requests of one turn of the event loop together, at its end.

    Each write goes through the kernel's network down to waking the server, which drives out of the processor's caches
    what the next call is about to need. One behind the other they cost less, and so does the work around them.
    """

    def __init__(self) -> None:
        self._waiting: deque[AnswerProtocol] = deque()

    def add(self, connection: AnswerProtocol) -> None:
        """Leave a request to be sent."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._send)
        self._waiting.append(connection)

    def _send(self) -> None:
        waiting = self._waiting
        try:
            while waiting:
                waiting.popleft().send()
        finally:
            if waiting:  # what one connection raises is nothing to the others
                asyncio.get_running_loop().call_soon(self._send)

    def __repr__(self) -> str:
        return f"<Outbox {len(self._waiting)} waiting>"


def took_whole(content: bytes | aiohttp.StreamReader, encoding: str, progress: Progress, limit_bytes: int) -> bool:
    """Take a body that is there already, as a short one is that came with its head; tell whether it was.

    Args:
        content: The undecoded body.
        encoding: The `Content-Encoding` header as sent; empty for none.
        progress: Takes it.
        limit_bytes: Largest body.
    """
    if encoding:
        return False
    if isinstance(content, bytes):
        progress.received = content
        return len(content) <= limit_bytes
    if content is EMPTY_PAYLOAD:
        return True
    # Taken without the reader's own ways out, which let the connection read on: for so few bytes it never paused.
    is_short = content.total_bytes <= limit_bytes and content.total_bytes <= _READ_BYTES
    if not is_short or not content._eof or content._exception is not None:  # noqa: SLF001 - see above
        return False
    pieces = content._buffer  # noqa: SLF001 - see above
    progress.received = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    return True


async def read_body(content: bytes | aiohttp.StreamReader, encoding: str, progress: Progress, limit_bytes: int) -> None:
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
    if isinstance(content, bytes):
        decoder.feed(content)
    elif content.is_eof() and content.exception() is None:
        decoder.feed(content.read_nowait())
    else:
        while chunk := await content.read(_READ_BYTES):
            decoder.feed(chunk)
            if content.at_eof() and content.exception() is None:  # whole with this piece
                break
    decoder.finish()
