"""The subjects of the generated catalogues, one each: their names and the attributes that their tools take."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Final


@dataclass(frozen=True, slots=True)
class Subject:
    """What one generated catalogue is about.

    Attributes:
        en: Its English name, singular.
        zh: Its Chinese name.
        other_en: Another word for it, which its tools do not use.
        other_zh: The same in Chinese.
        attributes: Names of `attributes.ATTRIBUTES` that its tools take.
    """

    en: str
    zh: str
    other_en: str
    other_zh: str
    attributes: tuple[str, ...]

    @property
    def token(self) -> str:
        """Return the name as part of an identifier."""
        return self.en.replace(" ", "_")

    @property
    def code(self) -> str:
        """Return two capital letters for its identifiers."""
        return (self.en[0] + self.en[-1]).upper()


def _read(table: str) -> tuple[Subject, ...]:
    rows = (line.split("|") for line in table.strip().splitlines())
    stripped = ([part.strip() for part in row] for row in rows)
    return tuple(
        Subject(en, zh, other_en, other_zh, tuple(names.split())) for en, zh, other_en, other_zh, names in stripped
    )


SUBJECTS: Final = _read(resources.files(__package__).joinpath("subjects.txt").read_text(encoding="utf-8"))
"""Every subject; the last `HELD_OUT` of them take no part in fitting."""

HELD_OUT: Final = 12
"""How many subjects are kept for judging."""
