"""What the observation service needs from outside."""

from __future__ import annotations

from typing import Protocol

from taoloop.tools.catalogue import Catalogue


class CatalogueSource(Protocol):
    """Gives the catalogue by which results are judged."""

    def current(self) -> Catalogue:
        """Return the catalogue that is served now, without I/O; another digest means that it was replaced."""
        ...
