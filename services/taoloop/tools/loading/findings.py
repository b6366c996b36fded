"""What loading finds in a catalogue: every fault and every breach of style, with its place, cause and remedy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Whether a finding keeps the catalogue from being used."""

    ERROR = "error"
    """The catalogue is not used."""

    WARNING = "warning"
    """A rule of style is broken, or something is probably not meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to correct.

    Attributes:
        severity: See `Severity`.
        code: Stable UPPER_SNAKE name of the kind of finding.
        file: Path of the file as it was given or found.
        line: Line, from 1.
        column: Column in characters, from 1.
        pointer: Where in the document; empty for the whole file.
        cause: What is wrong, one sentence.
        remedy: What to do about it, one sentence.
    """

    severity: Severity
    code: str
    file: str
    line: int = 1
    column: int = 1
    pointer: str = ""
    cause: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}"
        return f"{place}: {self.severity}: {self.cause} [{self.code} {self.pointer or '(root)'}] {self.remedy}"


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings by file, place, pointer and code, each once."""
    return tuple(
        sorted(
            set(findings),
            key=lambda each: (each.file, each.line, each.column, each.pointer, each.code, each.cause),
        )
    )
