"""The record of one typed mention in a request, and what kinds there are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MentionKind(StrEnum):
    """What a piece of the request looks like, before any parameter is thought of."""

    QUOTED = "quoted"
    """Text between quotation marks; the span leaves the marks out."""
    EMAIL = "email"
    """An e-mail address."""
    URL = "url"
    """A web address."""
    DATE = "date"
    """A day or a period, written out or in words."""
    TIME = "time"
    """A time of day."""
    NUMBER = "number"
    """A number, perhaps with a unit after it."""
    ID = "id"
    """A token of letters and digits, or of many digits."""
    CODE = "code"
    """A short word in capitals."""
    NAME = "name"
    """Capitalised words, or Chinese characters where a name is expected."""
    PLACE = "place"
    """As a name, where a place is expected."""
    PERSON = "person"
    """As a name, where a person is expected."""
    MALFORMED = "malformed"
    """A token that looks like an address and is none."""
    STATED = "stated"
    """What stands after its own name, as in `姓名是…`; it may cover mentions of other kinds."""
    COUNTED = "counted"
    """What a Chinese number with its measure word counts."""
    PHRASE = "phrase"
    """Words that may be free text."""
    EXPRESSION = "expression"
    """An expression of mathematics with a variable."""
    FLAG = "flag"
    """Words that switch something on or off."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One typed piece of the request.

    Attributes:
        kind: What it looks like.
        start: First code point in the turn's text.
        end: One past the last.
        text: The text between.
        unit: For a number, a key of `vocabulary.UNIT_WORDS`; else empty.
        label: For a stated value, its name; else empty.
    """

    kind: MentionKind
    start: int
    end: int
    text: str
    unit: str = ""
    label: str = ""
