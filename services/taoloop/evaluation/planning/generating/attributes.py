"""The attributes that generated tools take: what they are called, what they hold, and how people say them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Final


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute, in both languages.

    Attributes:
        name: Name of the parameter.
        kind: What it holds, a key of `sampling.SAMPLERS`.
        en: What it is, in English.
        zh: The same in Chinese.
        says_en: Ways to say it in English; `{v}` is the value.
        says_zh: The same in Chinese.
    """

    name: str
    kind: str
    en: str
    zh: str
    says_en: tuple[str, ...]
    says_zh: tuple[str, ...]


def _read(table: str) -> dict[str, Attribute]:
    found = {}
    for line in table.strip().splitlines():
        name, kind, en, zh, says_en, says_zh = (part.strip() for part in line.split(" | "))
        found[name] = Attribute(name, kind, en, zh, tuple(says_en.split(";")), tuple(says_zh.split(";")))
    return found


ATTRIBUTES: Final = _read(resources.files(__package__).joinpath("attributes.txt").read_text(encoding="utf-8"))
"""Every attribute by its name."""
