"""How much time is left, in words of a table's cell."""

from __future__ import annotations

_UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


def in_words(seconds: float) -> str:
    """Return a time that is left by its two largest units.

    >>> in_words(90_061.9), in_words(3_725), in_words(59.2), in_words(-3)
    ('1 d 1 h', '1 h 2 min', '59 s', 'none')
    """
    left = max(0, int(seconds))
    parts: list[str] = []
    for unit, size in _UNITS:
        if left >= size and len(parts) < 2:
            parts.append(f"{left // size} {unit}")
        elif parts:
            break
        left %= size
    return " ".join(parts) or "none"
