"""What memory consists of: sessions, entries, and the space in which each is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import quote

from taoloop.core.exact_json import JsonValue
from taoloop.plan.task import Role
from taoloop.plan.thinking import ErrorTrace

DEFAULT_LINE: Final = "default"
"""The line of business of a task that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySpace:
    """Whose memory something is. Two spaces that differ in any member share nothing.

    Attributes:
        tenant: The tenant.
        business_line: The line of business.
        session_id: The conversation; empty for what belongs to none.
        user_id: The user; empty for what belongs to none.
    """

    tenant: str
    business_line: str = DEFAULT_LINE
    session_id: str = ""
    user_id: str = ""


def key_part(text: str) -> str:
    """Return a name as it stands in keys and rows: plain ASCII without separators, another one for each other name.

    Look-alikes stay apart since nothing is folded, and no store's collation or wildcard has anything to fold.

    >>> key_part("a:b"), key_part("a%3Ab"), key_part("张")
    ('a%3Ab', 'a%253Ab', '%E5%BC%A0')
    """
    return quote(text, safe="", errors="surrogatepass")


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedTurn:
    """One turn that survived the filter.

    Attributes:
        role: Who spoke.
        text: What was said, redacted and cut.
        tools: The tools that were called for it.
        run_id: The run that it came from; empty for what a caller gave as history.
    """

    role: Role
    text: str
    tools: tuple[str, ...] = ()
    run_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMemory:
    """What is remembered of one session.

    Attributes:
        turns: The latest turns, oldest first.
        summary: Summary of them.
        state: The session's state as the caller last gave it, without personal data.
        snapshot: What the last plan held to be true of the session, without personal data.
        last_error: The last failure of the session's last run; None when it answered.
        has_tainted_answers: Whether a run of it answered from other people's text: a caller may send that along as an
            earlier turn, also long after the run's own turns have been forgotten here.
        version: How often the session was written; tells a newer copy from an older one without a clock.
    """

    turns: tuple[RememberedTurn, ...] = ()
    summary: str = ""
    state: Mapping[str, JsonValue] = field(default_factory=dict)
    snapshot: Mapping[str, JsonValue] = field(default_factory=dict)
    last_error: ErrorTrace | None = None
    has_tainted_answers: bool = False
    version: int = 0


class EntryKind(StrEnum):
    """What a piece of knowledge is of."""

    PREFERENCE = "preference"
    """What a user likes; of one user."""
    POLICY = "policy"
    """A rule of the company; of a whole line of business, or of one user."""
    STATE = "state"
    """The state of something, such as a device; of a whole line of business, or of one user."""
    RUN = "run"
    """What an earlier run came to; of one user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeEntry:
    """One piece of knowledge.

    Attributes:
        kind: What it is of.
        name: Unique among the entries of its kind and space; a later entry replaces the earlier one.
        text: What is known, redacted.
        user_id: Whose it is; empty for the whole line of business.
        expires_at: When it is forgotten; None when not by itself.
        updated_at: When it was written.
    """

    kind: EntryKind
    name: str
    text: str
    user_id: str = ""
    expires_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was deleted.

    Attributes:
        sessions: Sessions.
        entries: Pieces of knowledge.
    """

    sessions: int = 0
    entries: int = 0
