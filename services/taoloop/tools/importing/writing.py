"""Drafts written as files of a catalogue, never over what is there already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taoloop.tools.importing.checking import CheckedDraft
from taoloop.tools.importing.yaml_text import yaml_text
from taoloop.tools.loading.catalogue_file import FILE_NAME, read_catalogue_file

TOOLS_FOLDER: Final = "tools"
"""Where below the catalogue the contracts go."""


class FileExists(Exception):
    """A file of the import is there already.

    Attributes:
        paths: The files.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__(f"{', '.join(map(str, paths))} would be overwritten")
        self.paths = tuple(paths)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        files: The contracts.
        missing_bases: Bases that the catalogue of the directory must get by hand: it was there already.
    """

    files: tuple[Path, ...]
    missing_bases: Mapping[str, str]


def write_drafts(
    directory: Path, checked: Sequence[CheckedDraft], bases: Mapping[str, str], *, name: str, replace: bool = False
) -> Written:
    """Write one file per draft, and `catalogue.yaml` if there is none; blocks on the file system.

    Args:
        directory: Of the catalogue; made if it is missing.
        checked: The drafts.
        bases: Base name to URL.
        name: Of a new catalogue.
        replace: Whether contracts that are there are overwritten.

    Raises:
        FileExists: A contract of this name is there, and `replace` does not allow to overwrite it.
        OSError: A file cannot be written.
    """
    folder = directory / TOOLS_FOLDER
    files = tuple(folder / each.file_name for each in checked)
    taken = [path for path in files if path.exists()]
    if taken and not replace:
        raise FileExists(taken)
    folder.mkdir(parents=True, exist_ok=True)
    for path, each in zip(files, checked, strict=True):
        path.write_text(each.text, encoding="utf-8")
    return Written(files, _write_catalogue(directory / FILE_NAME, bases, name))


def _write_catalogue(path: Path, bases: Mapping[str, str], name: str) -> Mapping[str, str]:
    """Write a catalogue if there is none; return the bases that the present one may lack."""
    if path.exists():
        listing, _ = read_catalogue_file(path)
        known = listing.bases if listing is not None else {}
        return {base: url for base, url in bases.items() if base not in known}
    document = {
        "apiVersion": "taoloop.dev/v1",
        "kind": "Catalogue",
        "metadata": {"name": name},
        "spec": {"bases": dict(bases), "tools": f"{TOOLS_FOLDER}/*.yaml"},
    }
    path.write_text(yaml_text(document), encoding="utf-8")
    return {}
