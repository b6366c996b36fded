"""Frames between the service and its workers."""

from __future__ import annotations

import io

import pytest

from taoloop.action.transports.python.frames import HEADER, FrameBroken, Kind, frame, read_frame, receive_frame


def test_a_frame_is_read_as_it_was_written() -> None:
    stream = io.BytesIO(frame(Kind.CALL, b"{}") + frame(Kind.READY, b""))
    assert [read_frame(stream), read_frame(stream), read_frame(stream)] == [(Kind.CALL, b"{}"), (Kind.READY, b""), None]


@pytest.mark.parametrize("cut", [3, HEADER.size + 1])
def test_half_a_frame_is_the_end(cut: int) -> None:
    assert read_frame(io.BytesIO(frame(Kind.CALL, b"{}")[:cut])) is None


async def test_frames_of_no_kind_or_too_large_are_broken() -> None:
    async def read_from(stream: io.BytesIO) -> tuple[Kind, bytes]:
        async def read(size: int) -> bytes:
            return stream.read(size)

        return await receive_frame(read, 4)

    assert await read_from(io.BytesIO(frame(Kind.RETURNED, b"1234"))) == (Kind.RETURNED, b"1234")
    for content in (frame(Kind.RETURNED, b"12345"), b"\xff" + frame(Kind.READY, b"")[1:]):
        with pytest.raises(FrameBroken):
            await read_from(io.BytesIO(content))
