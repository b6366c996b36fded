"""Names that only the evidence tells: short texts of it that occur in the answer without marks or capital letters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from taoloop.observation.grounding.model import Mention, Node, Taken
from taoloop.observation.grounding.texts.names import is_plain
from taoloop.plan.answering import ClaimKind

_SHORTEST_LATIN: Final = 3
_LATER_SCRIPTS: Final = "\u2e80"
"""From here on, scripts that put no spaces between words."""

_FLAT: Final = str.maketrans("_-’", "  '")


def known_names(view: str, taken: Taken, names: Mapping[str, Node]) -> Iterator[Mention]:
    """Yield where a text in half width has one of the names, the longest at each place, and take the places.

    The cost is the length of the text times the number of different lengths of names, at most 80.

    Args:
        view: The text.
        taken: What is taken already.
        names: Folded names of the evidence.
    """
    flat = view.translate(_FLAT).lower()
    if len(flat) != len(view):  # some capital letters have longer small ones
        flat = view.translate(_FLAT)
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for name in names:
        if _can_stand_alone(name):
            lengths[name[:2]].add(len(name))
    start = 0
    while start < len(flat) - 1:
        end = _longest(flat, start, lengths.get(flat[start : start + 2], ()), names, taken)
        if end:
            taken.take(start, end)
            text = view[start:end]
            yield Mention(kind=ClaimKind.NAME, start=start, end=end, normalised=flat[start:end], needle=text)
        start = end or start + 1


def _longest(flat: str, start: int, lengths: Iterable[int], names: Mapping[str, Node], taken: Taken) -> int:
    for length in sorted(lengths, reverse=True):
        end = start + length
        if flat[start:end] in names and taken.is_free(start, end) and _is_word(flat, start, end):
            return end
    return 0


def _can_stand_alone(name: str) -> bool:
    if name >= _LATER_SCRIPTS:
        return len(name) >= 2
    return len(name) >= _SHORTEST_LATIN and any(map(str.isalpha, name)) and not all(map(is_plain, name.split()))


def _is_word(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_joins(before, text[start]) or _joins(text[end - 1], after))


def _joins(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and left < _LATER_SCRIPTS and right < _LATER_SCRIPTS
