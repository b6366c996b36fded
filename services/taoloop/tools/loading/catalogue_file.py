"""`catalogue.yaml`: which contracts belong together, and where their servers are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from taoloop.core import pointers
from taoloop.tools.loading.checks import ContractFault
from taoloop.tools.loading.findings import Finding, Severity
from taoloop.tools.loading.forms import catalogue_form
from taoloop.tools.loading.vocabularies import Vocabularies, vocabulary_faults
from taoloop.tools.loading.yaml_source import Source, read_source
from taoloop.tools.schemas import CompiledSchema, Violation

FILE_NAME: Final = "catalogue.yaml"

MAX_TOOL_FILES: Final = 2000
"""Most contracts in one catalogue."""


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """What `catalogue.yaml` says.

    Attributes:
        name: Of the catalogue.
        bases: Name to base URL.
        directory: Where it lies; paths in contracts are relative to it.
        tool_files: The contracts, sorted by path.
        vocabularies: Name to vocabulary, for the contracts that name them.
    """

    name: str
    directory: Path
    bases: Mapping[str, str]
    tool_files: tuple[Path, ...]
    vocabularies: Vocabularies


def read_catalogue_file(path: Path) -> tuple[CatalogueFile | None, tuple[Finding, ...]]:
    """Read `catalogue.yaml`; None if it cannot be used."""
    source = read_source(path)
    findings = [*source_findings(source), *form_findings(source, catalogue_form())]
    value = source.value
    if findings or not isinstance(value, dict):
        return None, tuple(findings)
    metadata, spec = value["metadata"], value["spec"]
    assert isinstance(metadata, dict)
    assert isinstance(spec, dict)
    written = spec["tools"]
    patterns = [str(item) for item in written] if isinstance(written, list) else [str(written)]
    files, problems = _tool_files(source, patterns)
    bases = spec.get("bases", {})
    assert isinstance(bases, dict)
    vocabularies: Any = spec.get("vocabularies", {})
    problems = (*problems, *(_vocabulary_finding(source, fault) for fault in vocabulary_faults(vocabularies)))
    named = {key: str(url) for key, url in bases.items()}
    return CatalogueFile(str(metadata["name"]), path.parent, named, files, vocabularies), problems


def source_findings(source: Source) -> Iterator[Finding]:
    """Yield what is wrong with the text of a file."""
    for fault in source.faults:
        yield Finding(
            severity=Severity.ERROR,
            code=fault.code,
            file=str(source.path),
            line=fault.line,
            column=fault.column,
            pointer=fault.pointer,
            cause=fault.cause,
            remedy=fault.remedy,
        )


def form_findings(source: Source, form: CompiledSchema) -> Iterator[Finding]:
    """Yield where a document that could be read does not have its form; several unknown keys are several findings."""
    if any(fault.code != "DUPLICATE_KEY" for fault in source.faults):
        return
    for violation in form.violations(source.value):
        for pointer, cause in _causes(violation):
            line, column = source.place(pointer)
            yield Finding(
                severity=Severity.ERROR,
                code="FORM",
                file=str(source.path),
                line=line,
                column=column,
                pointer=pointer,
                cause=cause,
                remedy=_remedy(violation),
            )


def _causes(violation: Violation) -> Iterator[tuple[str, str]]:
    if len(violation.unexpected) > 1:
        for name in violation.unexpected:
            yield violation.pointer + pointers.join(name), f"the key {name!r} is unknown"
    elif violation.unexpected:
        yield violation.pointer, f"the key {violation.unexpected[0]!r} is unknown"
    else:
        yield violation.pointer, violation.message


def _remedy(violation: Violation) -> str:
    if violation.keyword == "additionalProperties":
        return "Correct the spelling or remove the key."
    if violation.keyword == "required":
        return "Add the key."
    return "Correct the value; the schema of the form describes each field."


def _tool_files(source: Source, patterns: list[str]) -> tuple[tuple[Path, ...], tuple[Finding, ...]]:
    directory = source.path.parent
    found: set[Path] = set()
    problems: list[Finding] = []
    for pattern in patterns:
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            problems.append(_tools_finding(source, f"the tools {pattern!r} lie outside the catalogue"))
            continue
        matched = [path for path in directory.glob(pattern) if path.is_file()]
        if not matched:
            problems.append(_tools_finding(source, f"no file matches {pattern!r}"))
        found.update(matched)
    if len(found) > MAX_TOOL_FILES:
        problems.append(_tools_finding(source, f"there are {len(found)} contracts, more than {MAX_TOOL_FILES}"))
    return tuple(sorted(found)[:MAX_TOOL_FILES]), tuple(problems)


def _vocabulary_finding(source: Source, fault: ContractFault) -> Finding:
    line, column = source.place(fault.pointer)
    return Finding(
        severity=Severity.ERROR,
        code=fault.code,
        file=str(source.path),
        line=line,
        column=column,
        pointer=fault.pointer,
        cause=fault.cause,
        remedy=fault.remedy,
    )


def _tools_finding(source: Source, cause: str) -> Finding:
    line, column = source.place("/spec/tools")
    return Finding(
        severity=Severity.ERROR,
        code="TOOL_FILES",
        file=str(source.path),
        line=line,
        column=column,
        pointer="/spec/tools",
        cause=cause,
        remedy="Give globs of files below the catalogue's directory.",
    )
