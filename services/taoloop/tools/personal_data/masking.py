"""Puts a placeholder in the place of what a finder finds in a text."""

from __future__ import annotations

from taoloop.tools.personal_data.finding import Finder, half_width


def masked(text: str, placeholder: str, finder: Finder) -> str:
    """Return the text with the placeholder where something is found; finds that touch or overlap are one.

    Args:
        text: Any text; full-width signs are read as their ASCII likes.
        placeholder: What stands there instead, such as `<PHONE>`.
        finder: Yields the places.
    """
    spans = sorted(finder(half_width(text)))
    if not spans:
        return text
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start > done or not parts:
            parts += [text[done:start], placeholder]
        done = max(done, end)  # what touches or overlaps the one before is one
    return "".join((*parts, text[done:]))
