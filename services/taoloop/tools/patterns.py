"""Which regular expressions a schema may hold: those of ECMAScript that a linear-time engine can run."""

from __future__ import annotations

import re
from typing import Final

MAX_PATTERN_LENGTH: Final = 1000
"""Longest pattern in characters."""

# One alternative for each construct that must not be read otherwise (escapes, classes), then the refused ones.
_SCANNER = re.compile(
    r"""
      (?P<named_backreference> \\k< )
    | (?P<backreference> \\[1-9][0-9]* )
    | (?P<foreign_escape> \\[AzZGQEhHRXKC] )
    | (?P<escape> \\. )
    | (?P<lookbehind> \(\?<[=!] )
    | (?P<lookahead> \(\?[=!] )
    | (?P<foreign_group> \(\?(?![:<]) [^)\s]{0,3} )
    | (?P<class_start> \[\^? )
    | (?P<possessive> (?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})[+*] )
    """,
    re.VERBOSE,
)
_NOT_LINEAR: Final = "which a linear-time engine does not have"
_FOREIGN: Final = "which ECMAScript does not have"
_REFUSED: Final = {
    "named_backreference": ("a back-reference", _NOT_LINEAR),
    "backreference": ("a back-reference", _NOT_LINEAR),
    "lookbehind": ("a look-behind", _NOT_LINEAR),
    "lookahead": ("a look-ahead", _NOT_LINEAR),
    "foreign_group": ("a group", _FOREIGN),
    "foreign_escape": ("an escape", _FOREIGN),
    "possessive": ("a possessive or doubled quantifier", _FOREIGN),
}
_CLASS_ITEM = re.compile(r"\\.|[^\\\]]")
_FOREIGN_IN_CLASS = re.compile(r"\[:\^?[a-z]+:\]|&&|--|~~|\[")


def refusal(pattern: str) -> str | None:
    """Return why the pattern is refused, with the construct's name and text, or None.

    What passes may still not compile; the schema's own compilation tells.

    >>> refusal(r"(?=x)y")
    "it uses a look-ahead ('(?='), which a linear-time engine does not have"
    >>> refusal(r"^[A-Z]{2}[0-9]{12}$")
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"it has {len(pattern)} characters, more than {MAX_PATTERN_LENGTH}"
    position = 0
    while (found := _SCANNER.search(pattern, position)) is not None:
        kind = str(found.lastgroup)
        if kind in _REFUSED:
            name, reason = _REFUSED[kind]
            return f"it uses {name} ({found.group()!r}), {reason}"
        position = found.end()
        if kind == "class_start":
            end = _class_end(pattern, position)
            if pattern[position : position + 1] == "]":
                return "it uses a character class that begins with ']', which ECMAScript reads as an empty class"
            foreign = _FOREIGN_IN_CLASS.search(_unescaped(pattern[position:end]))
            if foreign is not None:
                return f"it uses {foreign.group()!r} inside a character class, which ECMAScript reads otherwise"
            position = end
    return None


def _class_end(pattern: str, position: int) -> int:
    while (item := _CLASS_ITEM.match(pattern, position)) is not None:
        position = item.end()
    return position + 1


def _unescaped(text: str) -> str:
    return re.sub(r"\\.", "\\\\", text)
