"""What a text says that can be checked, and where in the evidence a value stands."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from taoloop.core.pointers import join
from taoloop.plan.answering import ClaimKind

MAX_DIGITS: Final = 4300
"""Longest number that is compared; a longer one is compared as text alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingLimits:
    """What one check may cost.

    Attributes:
        max_characters: Longest text of an answer, in code points.
        max_claims: Most values in it.
        max_evidence_bytes: Largest evidence, all steps together.
        max_evidence_values: Most values within its texts and names of fields, all steps together.
    """

    max_characters: int = 32 * 1024
    max_claims: int = 1000
    max_evidence_bytes: int = 512 * 1024
    max_evidence_values: int = 20_000


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with the units that it may have.

    Attributes:
        value: The number.
        units: Canonical units; several where the spelling is shared (`¥`, `pounds`), none where it has no unit.
        is_count: Whether it counts things that follow, as in `3 orders`.
    """

    value: Decimal
    units: tuple[str, ...] = ()
    is_count: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One value in a text.

    Attributes:
        kind: What it is.
        start: First code point.
        end: One past the last code point.
        normalised: The value in one form.
        keys: Spellings in one form, `space:value`, any of which is the value; see `taoloop.observation.grounding.keys`.
        quantities: Readings as a number.
        parts: Keys of a day and keys of a time, for a moment that evidence may hold in two fields.
        needle: A name or a quotation that may stand within a longer text.
        is_ambiguous: Whether the date has two readings and nothing decides.
    """

    kind: ClaimKind
    start: int
    end: int
    normalised: str
    keys: tuple[str, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    parts: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    needle: str = ""
    is_ambiguous: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A place in the JSON of a step, as a chain up to its root, so that a million places cost no million pointers.

    Attributes:
        step_id: The step.
        parent: What holds it; None for the root.
        token: Its name or index in there.
        depth_characters: Length of its pointer.
    """

    step_id: str
    parent: Node | None = None
    token: str = ""
    depth_characters: int = 0

    def child(self, token: str) -> Node:
        """Return the place of a member or an item."""
        return Node(self.step_id, self, token, self.depth_characters + len(token) + 1)

    @property
    def pointer(self) -> str:
        """The RFC 6901 pointer."""
        tokens: list[str] = []
        node = self
        while node.parent is not None:
            tokens.append(node.token)
            node = node.parent
        return join(*reversed(tokens))


class TooManyValues(Exception):
    """A text has more values than may be read of it."""


@dataclass(slots=True)
class Taken:
    """Which code points of a text belong to a value already.

    Attributes:
        length: Of the text.
        left: How many values may still be taken.
    """

    length: int
    left: int = sys.maxsize
    _mask: bytearray = field(init=False)

    def __post_init__(self) -> None:
        """Start with none."""
        self._mask = bytearray(self.length)

    def is_free(self, start: int, end: int) -> bool:
        """Whether no code point of the span is taken."""
        return self._mask.find(1, start, end) < 0

    def take(self, start: int, end: int) -> None:
        """Take a span.

        Raises:
            TooManyValues: None may be taken any more.
        """
        if self.left <= 0:
            raise TooManyValues
        self.left -= 1
        self._mask[start:end] = b"\x01" * (end - start)


def decimal_key(value: Decimal) -> str:
    """Return one spelling of a number for all that equal it; `12` and `12.0` give the same."""
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    stripped = text.rstrip("0")
    if not stripped:
        return "0"
    return f"{'-' if sign else ''}{stripped}e{int(exponent) + len(text) - len(stripped)}"


def decimal_text(value: Decimal) -> str:
    """Return a number for people, without an exponent where it is not very large or small."""
    return f"{value:f}" if abs(value.adjusted()) <= 40 and len(value.as_tuple().digits) <= 60 else f"{value:E}"[:60]
