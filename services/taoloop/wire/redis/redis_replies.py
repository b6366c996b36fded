"""Reads the replies of stream commands, whose shape differs between the two protocols."""

from __future__ import annotations

from typing import Any


def stream_entries(reply: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """Return the entries of the one stream that XREAD or XREADGROUP was asked for; none when nothing came.

    RESP2 gives `[[name, [(id, fields), …]]]`, RESP3 gives `{name: [[(id, fields), …]]}`.
    """
    if not reply:
        return []
    entries = next(iter(reply.values())) if isinstance(reply, dict) else reply[0][1]
    if entries and isinstance(entries[0], list) and (not entries[0] or isinstance(entries[0][0], (list, tuple))):
        entries = entries[0]
    return [(entry_id, fields) for entry_id, fields in entries]
