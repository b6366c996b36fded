"""Server-sent events as far as chat completions use them: the data of each event, however the bytes were cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

DONE: Final = b"[DONE]"
"""The data of the last event of a chat completion."""


class EventStream:
    """Collects bytes until an event is whole.

    Source: the WHATWG's HTML standard, 9.2.6, without `id`, `event` and `retry`, which chat completions do not use;
    lines end by LF or CRLF.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the data of every event that the chunk completes."""
        if b"\n" not in chunk:  # joined once it is whole: a line may come byte by byte
            self._rest.append(chunk)
            return
        *lines, rest = b"".join([*self._rest, chunk]).split(b"\n")
        self._rest = [rest]
        for line in lines:
            yield from self._take(line.removesuffix(b"\r"))

    def close(self) -> Iterator[bytes]:
        """Yield the data of an event that the end of the connection completes: some servers forget the blank line."""
        yield from self.feed(b"\n\n")

    def _take(self, line: bytes) -> Iterator[bytes]:
        if not line:
            if self._data:
                data, self._data = b"\n".join(self._data), []
                yield data
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
