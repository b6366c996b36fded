"""What goes between the service and a worker process: a letter, a length and JSON text."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import BinaryIO, Final

HEADER: Final = struct.Struct(">cQ")
"""One letter and the length of the text in bytes."""


class Kind(StrEnum):
    """What a frame says."""

    CALL = "C"
    """To the worker: the arguments."""
    READY = "Y"
    """The function is loaded."""
    UNUSABLE = "U"
    """The function cannot be loaded; a text that says why."""
    RETURNED = "R"
    """The result, as it is to be passed on."""
    REFUSED = "A"
    """The arguments do not fit the function, which was not called: `{pointer, message}`."""
    RAISED = "E"
    """The function raised: `{type, message, stack}`."""
    NOT_JSON = "J"
    """The result has no exact JSON form; a text that says why."""
    TOO_LARGE = "L"
    """The result is larger than allowed; its size in bytes."""


class FrameBroken(Exception):
    """The bytes are no frame, or one that is larger than allowed."""


def frame(kind: Kind, text: bytes) -> bytes:
    """Return the bytes of a frame."""
    return HEADER.pack(kind.encode(), len(text)) + text


def read_header(header: bytes, limit_bytes: int) -> tuple[Kind, int]:
    """Return the kind of a frame and the length of its text.

    Raises:
        FrameBroken: There is no such kind, or the text is longer than allowed.
    """
    letter, length = HEADER.unpack(header)
    try:
        kind = Kind(letter.decode("latin-1"))
    except ValueError as exc:
        raise FrameBroken("no such kind of frame") from exc
    if length > limit_bytes:
        raise FrameBroken("the frame is larger than allowed")
    return kind, length


def read_frame(stream: BinaryIO) -> tuple[Kind, bytes] | None:
    """Return the next frame of a blocking stream; None when the other side has gone.

    Raises:
        FrameBroken: The bytes are no frame.
    """
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    kind, length = read_header(header, 1 << 62)
    text = stream.read(length)
    return None if len(text) < length else (kind, text)


async def receive_frame(read: Callable[[int], Awaitable[bytes]], limit_bytes: int) -> tuple[Kind, bytes]:
    """Return the next frame; `read` returns exactly as many bytes as it is asked for, or raises.

    Raises:
        FrameBroken: The bytes are no frame, or one whose text is larger than the limit.
    """
    kind, length = read_header(await read(HEADER.size), limit_bytes)
    return kind, await read(length)
