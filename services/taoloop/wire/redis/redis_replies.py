"""Reads the replies of stream commands, whose shape differs between the two protocols."""

from __future__ import annotations

from typing import Any


def stream_entries(reply: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """Return the entries of the one stream that XREAD or XREADGROUP was asked for; none when nothing came.

    RESP2 gives `[[name, [(id, fields), …]]]`, RESP3 gives `{name: [[(id, fields), …]]}`.
    """
    return next(iter(entries_by_stream(reply).values()), [])


def entries_by_stream(reply: Any) -> dict[bytes, list[tuple[bytes, dict[bytes, bytes]]]]:
    """Return the entries of each stream that XREAD or XREADGROUP found some in, by the stream's name."""
    if not reply:
        return {}
    streams = reply.items() if isinstance(reply, dict) else reply
    return {name: _entries(entries) for name, entries in streams}


def raw_entries(entries: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """Return entries that a script passed on as the server keeps them: `[[id, [name, value, …]], …]`."""
    return [(entry_id, dict(zip(flat[::2], flat[1::2], strict=True))) for entry_id, flat in entries]


def _entries(entries: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    if entries and isinstance(entries[0], list) and (not entries[0] or isinstance(entries[0][0], (list, tuple))):
        entries = entries[0]
    return [(entry_id, fields) for entry_id, fields in entries]
