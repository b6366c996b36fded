"""Reads the catalogue that a service serves, once at start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from taoloop.core.errors import CatalogueInvalid
from taoloop.core.wording import counted
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading import load_catalogue

_SHOWN_FINDINGS: Final = 20


def read_catalogue(path: Path, bases: Mapping[str, str] | None = None, *, are_samples_judged: bool = True) -> Catalogue:
    """Read and check the catalogue at `path`, a directory or a bundle; blocks on the file system.

    Args:
        path: Where it is.
        bases: Base URLs by name that replace the catalogue's own.
        are_samples_judged: Whether a sample that breaks its contract counts as a fault, as it does for services.

    Raises:
        CatalogueInvalid: CATALOGUE_INVALID; the message lists the faults, each with file, line and remedy.
    """
    loaded = load_catalogue(path, bases or {}, are_samples_judged=are_samples_judged)
    if loaded.catalogue is None:
        faults = [str(finding) for finding in loaded.errors]
        shown = "; ".join(faults[:_SHOWN_FINDINGS])
        more = f" (and {len(faults) - _SHOWN_FINDINGS} more)" if len(faults) > _SHOWN_FINDINGS else ""
        raise CatalogueInvalid(
            f"The catalogue at {path} has {counted(len(faults), 'fault')}: {shown}{more}.", metadata={"path": str(path)}
        )
    return loaded.catalogue
