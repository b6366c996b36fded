"""How events stand in the log: small ones as they are, large ones compressed and by reference."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.errors import EventTooLarge, UnknownRun
from taoloop.plan.running import RunEvent, RunSummary

EVENT_FIELD: Final = b"event"
"""Field of an entry that holds the event itself."""
CONTENT_FIELD: Final = b"content"
"""Field of an entry that names the event's content: its SHA-256 and its size in bytes."""
# The fastest level: JSON shrinks to a quarter with it, and the host's time is dearer than the store's memory.
_LEVEL: Final = 1


@dataclass(frozen=True, slots=True)
class RunCodec:
    """How events and summaries become bytes and back; the bytes of equal events are equal."""

    encode: Callable[[RunEvent], bytes]
    decode: Callable[[bytes], RunEvent]
    encode_summary: Callable[[RunSummary], bytes]
    decode_summary: Callable[[bytes], RunSummary]


@dataclass(frozen=True, slots=True)
class WrittenEvents:
    """Events as they are written.

    Attributes:
        fields: Name and value of each event's one field, one after the other.
        contents: Digest and bytes of each large event, one after the other.
    """

    fields: tuple[bytes, ...]
    contents: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class EventForm:
    """Writes events for the log and reads them back.

    Args:
        codec: Event to bytes and back.
        inline_bytes: Larger events are kept by reference.
        max_bytes: Larger ones are refused.
    """

    codec: RunCodec
    inline_bytes: int
    max_bytes: int

    def write(self, events: Sequence[RunEvent]) -> WrittenEvents:
        """Return the fields of the events' entries, and what goes beside them.

        Raises:
            EventTooLarge: An event has more than `max_bytes`.
        """
        fields: list[bytes] = []
        contents: list[bytes] = []
        for event in events:
            data = self.codec.encode(event)
            if len(data) <= self.inline_bytes:
                fields += (EVENT_FIELD, data)
                continue
            if len(data) > self.max_bytes:
                raise EventTooLarge.of_event(event.run_id, event.sequence, len(data), self.max_bytes)
            digest = hashlib.sha256(data).hexdigest().encode()
            fields += (CONTENT_FIELD, b"%s %d" % (digest, len(data)))
            contents += (digest, zlib.compress(data, _LEVEL))
        return WrittenEvents(tuple(fields), tuple(contents))

    def references(self, entries: Iterable[Mapping[bytes, bytes]]) -> list[bytes]:
        """Return the digests of the contents that entries name."""
        return [fields[CONTENT_FIELD].partition(b" ")[0] for fields in entries if CONTENT_FIELD in fields]

    def read(
        self, run_id: str, entries: Iterable[Mapping[bytes, bytes]], contents: Mapping[bytes, bytes | None]
    ) -> tuple[RunEvent, ...]:
        """Return the events of entries, in their order.

        Args:
            run_id: Whose they are.
            entries: The fields of each entry.
            contents: What `references` asked for, by digest.

        Raises:
            UnknownRun: A content is gone, so that the log is not whole.
        """
        return tuple(self.codec.decode(self._bytes(run_id, fields, contents)) for fields in entries)

    def _bytes(self, run_id: str, fields: Mapping[bytes, bytes], contents: Mapping[bytes, bytes | None]) -> bytes:
        inline = fields.get(EVENT_FIELD)
        if inline is not None:
            return inline
        digest, _, size = fields[CONTENT_FIELD].partition(b" ")
        packed = contents.get(digest)
        data = b"" if packed is None else zlib.decompressobj().decompress(packed, int(size))
        if len(data) != int(size):
            raise UnknownRun(
                f"The log of run {run_id} is not whole: the content {digest.decode()[:12]} of an event is gone.",
                metadata={"run_id": run_id},
            )
        return data
