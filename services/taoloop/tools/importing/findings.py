"""What an import tells: findings, what a person must still decide, and the contracts that it drafted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue

IMPORTED_FROM: Final = "imported_from"
"""Label of an imported contract: where in which document it stood."""

IMPORTED_DIGEST: Final = "imported_digest"
"""Label of an imported contract: SHA-256 of what stood there, its references included."""


class Level(StrEnum):
    """How much a finding of an import matters."""

    ERROR = "error"
    """The tool cannot be called as it is described, or is not imported at all."""

    WARNING = "warning"
    """Something of the description is not carried; the tool works without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFinding:
    """One thing that an import could not carry as it stood.

    Attributes:
        level: See `Level`.
        code: Stable UPPER_SNAKE name of the kind of finding.
        place: Where in the source: a JSON pointer, or a name.
        cause: What is wrong or left out, with the value, one sentence.
        remedy: What to do about it, one sentence.
    """

    level: Level
    code: str
    place: str
    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place or '(root)'}: {self.level}: {self.cause} [{self.code}] {self.remedy}"


@dataclass(frozen=True, slots=True)
class Decision:
    """One field of a drafted contract that no document can know, so that a person decides it.

    Attributes:
        field: Pointer into the contract.
        guess: What stands there now; empty when nothing does.
        why: What the decision is about, one sentence.
    """

    field: str
    guess: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A contract made from a foreign description, not yet looked at by a person.

    Attributes:
        name: The tool's name.
        source: What it was made from, such as `GET /pets/{pet_id} (getPet)`.
        document: The contract.
        decisions: What a person must decide.
        findings: What was not carried.
    """

    name: str
    source: str
    document: Mapping[str, Any]
    decisions: tuple[Decision, ...] = ()
    findings: tuple[ImportFinding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What came of one import.

    Attributes:
        drafts: The contracts by the order of the source.
        bases: Base name to URL that the contracts need.
        findings: What concerns the whole document.
    """

    drafts: tuple[Draft, ...]
    bases: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[ImportFinding, ...] = ()


class ImportRefused(ValueError):
    """The source as a whole cannot be imported.

    Attributes:
        findings: Every reason that was found, at least one.
    """

    def __init__(self, *findings: ImportFinding) -> None:
        super().__init__("; ".join(map(str, findings)))
        self.findings = findings


class Notes:
    """Collects findings, each once.

    Attributes:
        count: How often something was noted, repeats included.
    """

    def __init__(self) -> None:
        self.count = 0
        self._findings: dict[ImportFinding, None] = {}

    def warn(self, code: str, place: str, cause: str, remedy: str) -> None:
        """Note what is not carried."""
        self._add(Level.WARNING, code, place, cause, remedy)

    def block(self, code: str, place: str, cause: str, remedy: str) -> None:
        """Note what keeps the tool from working."""
        self._add(Level.ERROR, code, place, cause, remedy)

    def _add(self, level: Level, code: str, place: str, cause: str, remedy: str) -> None:
        self.count += 1
        self._findings.setdefault(ImportFinding(level=level, code=code, place=place, cause=cause, remedy=remedy))

    @property
    def findings(self) -> tuple[ImportFinding, ...]:
        """Return what was noted, in order."""
        return tuple(self._findings)


def contract_document(
    name: str, spec: Mapping[str, JsonValue], *, imported_from: str, imported: JsonValue
) -> dict[str, Any]:
    """Return a contract's document that remembers what it was made from.

    Args:
        name: The tool's name.
        spec: The contract's fields.
        imported_from: Where it stood; cut to what a label holds.
        imported: What stood there, of which the digest is kept.
    """
    labels = {IMPORTED_FROM: imported_from[:200], IMPORTED_DIGEST: exact_json.digest(imported)}
    return {
        "apiVersion": "taoloop.dev/v1",
        "kind": "Tool",
        "metadata": {"name": name, "labels": labels},
        "spec": dict(spec),
    }
