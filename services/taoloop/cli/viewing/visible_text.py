"""Text as a terminal may be given it: what it would obey, or would not show, is written as escapes."""

from __future__ import annotations

import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Kinds of characters that a terminal does not show, or that change how it shows others."""


def visible(text: str) -> str:
    r"""Return a text with everything that a terminal would not show as `\u` escapes.

    >>> visible("a\u202eb\x1b[2J")
    'a\\u202eb\\u001b[2J'
    """
    if text.isprintable():
        return text
    return "".join(_escaped(each) if unicodedata.category(each) in _UNSEEN else each for each in text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))
