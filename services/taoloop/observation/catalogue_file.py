"""The catalogue from a directory or a bundle, read once at start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taoloop.core.errors import CatalogueInvalid
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading import Severity, load_catalogue

_SHOWN_ERRORS: Final = 20


@dataclass(frozen=True, slots=True)
class FileCatalogue:
    """A catalogue that does not change while the process lives.

    Attributes:
        catalogue: What was read.
    """

    catalogue: Catalogue

    def current(self) -> Catalogue:
        """Return the catalogue."""
        return self.catalogue


def read_catalogue(path: Path) -> FileCatalogue:
    """Read and check the catalogue at `path`; blocks on the file system.

    Raises:
        CatalogueInvalid: CATALOGUE_INVALID; the message lists the faults, each with file, line and remedy.
    """
    loaded = load_catalogue(path)
    if loaded.catalogue is None:
        errors = [str(finding) for finding in loaded.findings if finding.severity is Severity.ERROR]
        more = f" (and {len(errors) - _SHOWN_ERRORS} more)" if len(errors) > _SHOWN_ERRORS else ""
        shown = " ".join(errors[:_SHOWN_ERRORS])
        raise CatalogueInvalid(f"The catalogue at {path} has faults: {shown}{more}", metadata={"path": str(path)})
    return FileCatalogue(loaded.catalogue)
