"""Why a model's text is not used, and what was mended in one that is."""

from __future__ import annotations

from enum import StrEnum

from taoloop.core.exact_json import JsonSyntaxError

_EXCERPT_RADIUS = 20


class ReplyFault(StrEnum):
    """Why a reply is not read."""

    TRUNCATED = "TRUNCATED"
    """The reply was cut off: its finish reason says so, or something is left open."""
    EMPTY_CONTENT = "EMPTY_CONTENT"
    """The reply has no text, or nothing but reasoning."""
    NO_PLAN = "NO_PLAN"
    """The reply is prose, or a bare scalar: it holds neither an object nor a list."""
    MALFORMED_JSON = "MALFORMED_JSON"
    """The text is not JSON, and none of the repairs makes it so."""
    AMBIGUOUS_JSON = "AMBIGUOUS_JSON"
    """Two readings are possible, such as two different objects."""
    NON_FINITE_NUMBER = "NON_FINITE_NUMBER"
    """A number is not finite, or is none for every reader that computes in doubles."""
    DUPLICATE_KEY = "DUPLICATE_KEY"
    """A key is repeated in one object."""
    NESTING_TOO_DEEP = "NESTING_TOO_DEEP"
    """The nesting is deeper than 64."""
    INVALID_UNICODE = "INVALID_UNICODE"
    """Half of a surrogate pair: the text could not be encoded."""
    UNPARSED_TOOL_CALL = "UNPARSED_TOOL_CALL"
    """A call, or another token of the model's own format, that is not understood."""


class Repair(StrEnum):
    """What was mended; none of them changes a character inside of a string value."""

    REASONING = "reasoning"
    """A block of reasoning was taken out."""
    PROSE = "prose"
    """Words around the value were left out."""
    FENCE = "fence"
    """The outer code fence was taken off."""
    LEADING_WORD = "leading_word"
    """The word `json` stood in front."""
    TRAILING_COMMA = "trailing_comma"
    """A comma stood before a closing bracket."""
    PYTHON_LITERAL = "python_literal"
    """`True`, `False` or `None`."""
    PYTHON_QUOTES = "python_quotes"
    """Strings between apostrophes, or an escaped apostrophe."""
    TYPOGRAPHIC_QUOTES = "typographic_quotes"
    """Strings between curly quotes."""
    FULL_WIDTH = "full_width"
    """Full-width brackets, colons, commas, quotes or blanks."""
    RAW_LINE_FEED = "raw_line_feed"
    """A line feed, carriage return or tab stood unescaped in a string."""
    ESCAPED_LINE_FEED = "escaped_line_feed"
    r"""A written `\n` stood between tokens."""
    SURPLUS_CLOSER = "surplus_closer"
    """One closing bracket too many at the end."""
    SAME_TWICE = "same_twice"
    """The same value stood twice."""
    EMPTY_STRING_AFTER = "empty_string_after"
    """An empty string followed the value."""
    CALL_WRAPPER = "call_wrapper"
    """The opening wrapper of a list of calls was missing."""


class ReplyRefused(ValueError):
    """The reply is not used, and no tool is called for it.

    Attributes:
        fault: Why.
        syntax: Where; None when it was refused as a whole.
    """

    def __init__(self, fault: ReplyFault, message: str, syntax: JsonSyntaxError | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.syntax = syntax


def refused_at(fault: ReplyFault, message: str, text: str, position: int) -> ReplyRefused:
    """Return a refusal that names line and column, from 1; the excerpt is kept beside the message, not in it."""
    position = min(position, len(text))
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    excerpt = text[max(0, position - _EXCERPT_RADIUS) : position + _EXCERPT_RADIUS]
    syntax = JsonSyntaxError(message, line, column, excerpt)
    return ReplyRefused(fault, f"The reply is not used: {syntax}.", syntax)
