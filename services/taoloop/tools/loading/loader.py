"""Loading a catalogue: every fault of every file at once, or a compiled catalogue."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Final

from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import GrpcTransport, ToolContract
from taoloop.tools.loading import bundle_file, checks, samples
from taoloop.tools.loading.catalogue_file import (
    FILE_NAME,
    CatalogueFile,
    form_findings,
    read_catalogue_file,
    source_findings,
)
from taoloop.tools.loading.contract_document import read_contract, unserved_fields
from taoloop.tools.loading.findings import Finding, Severity, in_order
from taoloop.tools.loading.forms import contract_form
from taoloop.tools.loading.vocabularies import NO_VOCABULARIES, Vocabularies, write_out
from taoloop.tools.loading.yaml_source import Source, read_source

NO_BASES: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What loading gave.

    Attributes:
        catalogue: Ready for use; None if there is any error.
        findings: Errors and warnings, sorted by file and place.
        sound: The tools whose own contracts have no error, ready to be tried on their samples; all of them where
            there is a catalogue, none where they cannot be put together.
    """

    catalogue: Catalogue | None
    findings: tuple[Finding, ...]
    sound: Catalogue | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Return the findings that keep the catalogue from being used."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)


def load_catalogue(path: Path, bases: Mapping[str, str] = NO_BASES, *, are_samples_judged: bool = True) -> LoadResult:
    """Read and check a catalogue; blocks on the file system and never raises for what the files hold.

    Args:
        path: A directory with `catalogue.yaml`, that file itself, or a bundle (`.json`).
        bases: Base URLs that replace or join those of the catalogue.
        are_samples_judged: Whether the samples are held against their response schemas; a caller that puts them
            through every stage itself needs only the files' own form checked.
    """
    if path.suffix == ".json":
        return _load_bundle(path, bases)
    listing, problems = read_catalogue_file(path / FILE_NAME if path.is_dir() else path)
    if listing is None:
        return LoadResult(None, in_order(problems))
    return _load_files(listing, {**listing.bases, **bases}, problems, are_samples_judged=are_samples_judged)


def check_source(
    source: Source, bases: Collection[str], vocabularies: Vocabularies = NO_VOCABULARIES
) -> tuple[Finding, ...]:
    """Return what is wrong with one contract by itself, without the catalogue around it.

    Args:
        source: Its text, read.
        bases: Names of the catalogue's base URLs.
        vocabularies: Those of the catalogue.
    """
    return in_order(_Loaded.of(source, bases, vocabularies).findings)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One contract's file and what came of it."""

    source: Source
    contract: ToolContract | None
    findings: tuple[Finding, ...]
    is_sound: bool = False
    """Whether the contract means something, though a field of it may not be served yet."""

    @classmethod
    def of(cls, source: Source, bases: Collection[str], vocabularies: Vocabularies = NO_VOCABULARIES) -> _Loaded:
        findings = [*source_findings(source), *form_findings(source, contract_form())]
        unserved = unserved_fields(source.value)
        refused = tuple(_unserved(source, field.pointer) for field in unserved)
        if findings or not isinstance(source.value, dict) or not all(field.is_read for field in unserved):
            return cls(source, None, (*findings, *refused))
        written = write_out(source.value, vocabularies)
        contract = read_contract(written.document)
        faults = tuple(chain(written.faults, checks.check_contract(contract, bases), checks.style_warnings(contract)))
        is_sound = all(fault.is_warning for fault in faults)
        return cls(source, contract, (*refused, *(_finding(source, fault) for fault in faults)), is_sound=is_sound)

    @property
    def has_errors(self) -> bool:
        """Tell whether the contract cannot be used."""
        return self.contract is None or any(each.severity is Severity.ERROR for each in self.findings)


def _load_files(
    listing: CatalogueFile, bases: Mapping[str, str], problems: tuple[Finding, ...], *, are_samples_judged: bool
) -> LoadResult:
    loaded = [_Loaded.of(read_source(file), bases, listing.vocabularies) for file in listing.tool_files]
    findings = [*problems, *_contract_findings(loaded)]
    for each in loaded:
        if each.contract is not None and not each.has_errors:
            found = _sample_findings(each.source, each.contract, listing, are_judged=are_samples_judged)
            findings.extend(found)
        if each.contract is not None and each.is_sound:
            findings.extend(_descriptor_findings(each.source, each.contract, listing))
    return _result(loaded, listing.name, bases, findings)


def _load_bundle(path: Path, bases: Mapping[str, str]) -> LoadResult:
    opened = bundle_file.read_bundle_file(path)
    if isinstance(opened, Finding):
        return LoadResult(None, (opened,))
    merged = {**opened.bases, **bases}
    sources = (Source(Path(f"{path}#{index}"), document, {}, ()) for index, document in enumerate(opened.documents))
    loaded = [_Loaded.of(source, merged) for source in sources]
    findings = list(_contract_findings(loaded))
    return _result(loaded, opened.name, merged, findings)


def _result(loaded: list[_Loaded], name: str, bases: Mapping[str, str], findings: list[Finding]) -> LoadResult:
    ordered = in_order(findings)
    contracts = [each.contract for each in loaded if each.contract is not None and not each.has_errors]
    catalogue = Catalogue.of(contracts, name=name, bases=bases)
    has_errors = any(finding.severity is Severity.ERROR for finding in ordered)
    return LoadResult(None if has_errors else catalogue, ordered, catalogue)


def _unserved(source: Source, pointer: str) -> Finding:
    line, column = source.place(pointer)
    return Finding(
        severity=Severity.ERROR,
        code="NOT_YET_SUPPORTED",
        file=str(source.path),
        line=line,
        column=column,
        pointer=pointer,
        cause=f"{pointer.rpartition('/')[2]} is not yet supported",
        remedy="Remove it until a version serves it.",
    )


def _finding(source: Source, fault: checks.ContractFault) -> Finding:
    line, column = source.place(fault.pointer)
    return Finding(
        severity=Severity.WARNING if fault.is_warning else Severity.ERROR,
        code=fault.code,
        file=str(source.path),
        line=line,
        column=column,
        pointer=fault.pointer,
        cause=fault.cause,
        remedy=fault.remedy,
    )


def _contract_findings(loaded: list[_Loaded]) -> Iterator[Finding]:
    """Yield what is wrong with each contract, then with what they say of each other."""
    for each in loaded:
        yield from each.findings
    yield from _duplicates(loaded)
    tools = {each.contract.name: each.contract for each in loaded if each.contract is not None and each.is_sound}
    names = {_written_name(each.source) for each in loaded}
    for each in loaded:
        if each.contract is not None and each.is_sound:
            for fault in checks.link_faults(each.contract, tools, names):
                yield _finding(each.source, fault)


def _written_name(source: Source) -> str:
    """Return the name that a contract gives itself, even when the rest of it has faults."""
    metadata = source.value.get("metadata") if isinstance(source.value, dict) else None
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _duplicates(loaded: list[_Loaded]) -> Iterator[Finding]:
    first: dict[str, _Loaded] = {}
    for each in loaded:
        if each.contract is None:
            continue
        before = first.setdefault(each.contract.name, each)
        if before is not each:
            fault = checks.ContractFault(
                "/metadata/name",
                "DUPLICATE_TOOL",
                f"the tool {each.contract.name!r} stands also in {before.source.path.name}",
                "Give one of the two another name.",
            )
            yield _finding(each.source, fault)


def _sample_findings(
    source: Source, contract: ToolContract, listing: CatalogueFile, *, are_judged: bool
) -> Iterator[Finding]:
    for finding in samples.sample_findings(contract, listing.directory, are_judged=are_judged):
        if finding.code != "SAMPLE_MISSING":
            yield finding
            continue
        line, column = source.place(finding.pointer)
        yield replace(finding, file=str(source.path), line=line, column=column)


def _descriptor_findings(source: Source, contract: ToolContract, listing: CatalogueFile) -> Iterator[Finding]:
    transport = contract.transport
    if not isinstance(transport, GrpcTransport) or transport.descriptor_set is None:
        return
    if not (listing.directory / transport.descriptor_set).is_file():
        pointer = "/spec/transport/grpc/descriptor_set"
        cause = f"there is no file {transport.descriptor_set!r}"
        yield _finding(source, checks.ContractFault(pointer, "DESCRIPTOR_SET", cause, "Name a file of the catalogue."))
