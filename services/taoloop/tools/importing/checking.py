"""Whether a drafted contract would load, told by the same checks that a catalogue's files pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from taoloop.tools.importing.findings import Draft
from taoloop.tools.importing.yaml_text import yaml_text
from taoloop.tools.loading.findings import Finding, Severity
from taoloop.tools.loading.loader import check_source
from taoloop.tools.loading.yaml_source import read_text


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A draft with its text and what the loader says of it.

    Attributes:
        draft: The draft.
        text: The file's content, with what is to be decided as comments.
        findings: Errors keep a catalogue with this contract from loading; warnings are rules of style.
    """

    draft: Draft
    text: str
    findings: tuple[Finding, ...]

    @property
    def blocks(self) -> tuple[Finding, ...]:
        """Return what keeps the contract from loading."""
        return tuple(each for each in self.findings if each.severity is Severity.ERROR)

    @property
    def file_name(self) -> str:
        """Return the name of its file."""
        return f"{self.draft.name}.yaml"


def check_draft(draft: Draft, bases: Collection[str], *, folder: str = "tools") -> CheckedDraft:
    """Return the draft's text with every finding of the loader.

    Args:
        draft: The draft.
        bases: Names of the bases that its catalogue has.
        folder: Where its file will be, for the places of findings.
    """
    text = yaml_text(draft.document, comments=tuple(_comments(draft)))
    source = read_text(text, Path(folder) / f"{draft.name}.yaml")
    return CheckedDraft(draft, text, check_source(source, bases))


def _comments(draft: Draft) -> Iterator[str]:
    yield f"Imported from {draft.source}; nobody has looked at it yet."
    if draft.decisions:
        yield ""
        yield "To be decided by a person:"
    for decision in draft.decisions:
        guess = f" = {decision.guess}" if decision.guess else ""
        yield f"  {decision.field.removeprefix('/spec/')}{guess}: {decision.why}"
    if draft.findings:
        yield ""
        yield "Not carried as it stood:"
    for finding in draft.findings:
        yield f"  {' '.join(str(finding).split())}"
    yield ""
