"""Folding of what is only a spelling: letter case, width and white space."""

from __future__ import annotations

from typing import Final

_WIDTH = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
_SIGNS = {"\u3000": " ", "\u2212": "-", "\ufe63": "-", "\u301c": "~", "\u223c": "~"}
_TABLE: Final = str.maketrans(_WIDTH | _SIGNS)


def fold(text: str) -> str:
    """Return the text in half width and lower case, with single spaces and none at the ends.

    Width: U+FF01 to U+FF5E and the ideographic space become ASCII; the minus sign and the wave dash their ASCII
    likes. Nothing else is changed, so a letter that only looks like another one stays what it is.

    >>> fold("  ２０２４－０４ ")
    '2024-04'
    """
    return " ".join(_narrow(text).split()).lower()


def fold_width(text: str) -> str:
    """Return the text in half width, with its case, trimmed at both ends."""
    return _narrow(text).strip()


def _narrow(text: str) -> str:
    return text if text.isascii() else text.translate(_TABLE)
