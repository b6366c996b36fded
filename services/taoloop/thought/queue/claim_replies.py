"""Reads what XAUTOCLAIM answers: servers before Redis 7 tell a deleted entry as nil, later ones by its id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

END: Final = b"0-0"


@dataclass(frozen=True, slots=True)
class Claimed:
    """What was claimed.

    Attributes:
        next_id: Where the next look begins; `0-0` when the pending list is through.
        entries: What is to be worked on.
        deleted: Ids that were pending and whose entries are gone; the server has dropped them.
        nameless: How many more such entries were told without an id; they stay pending until somebody acknowledges
            them.
    """

    next_id: bytes
    entries: tuple[tuple[bytes, dict[bytes, bytes]], ...]
    deleted: tuple[bytes, ...] = ()
    nameless: int = 0

    @property
    def is_last(self) -> bool:
        """Whether the whole pending list was looked at."""
        return self.next_id == END


def read_claimed(reply: Sequence[Any]) -> Claimed:
    """Return what a reply says.

    Args:
        reply: Next id, entries and, from Redis 7, deleted ids, as redis-py reads them. An entry that is gone is None or
            a pair of None.
    """
    entries = [entry for entry in reply[1] if entry is not None and entry[0] is not None]
    # An entry without fields cannot be added: what looks like one is a deleted one, too.
    living = tuple((entry_id, fields) for entry_id, fields in entries if fields)
    deleted = tuple(reply[2]) if len(reply) > 2 else ()
    bare = tuple(entry_id for entry_id, fields in entries if not fields)
    return Claimed(reply[0], living, (*deleted, *bare), len(reply[1]) - len(entries))
