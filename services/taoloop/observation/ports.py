"""What the observation service needs from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from taoloop.tools.catalogue import Catalogue


class CatalogueSource(Protocol):
    """Gives the catalogue by which results are judged."""

    def current(self) -> Catalogue:
        """Return the catalogue that is served now, without I/O; another digest means that it was replaced."""
        ...


@dataclass(frozen=True, slots=True)
class FixedCatalogue:
    """A catalogue that does not change while the process lives.

    Attributes:
        catalogue: What was read at start.
    """

    catalogue: Catalogue

    def current(self) -> Catalogue:
        """See `CatalogueSource.current`."""
        return self.catalogue
