"""Where the servers of an OpenAPI document are, as bases of a catalogue."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from taoloop.tools.importing.findings import Notes
from taoloop.tools.importing.hosts import UNKNOWN_BASE, likely_reach
from taoloop.tools.importing.naming import snake_case, unique
from taoloop.tools.importing.openapi.document import OpenApiDocument, Operation, as_list, as_object
from taoloop.tools.signature import Reach

_MAX_NAME: Final = 32
_VARIABLE = re.compile(r"\{([^{}]+)\}")
_BASE_URL = re.compile(r"https?://[^/?#\s]+(/[^?#\s]*[^/?#\s])?")


class BaseBook:
    """The bases that the drafted contracts need.

    Args:
        document: Whose servers.
        notes: Takes the findings that concern all tools.
        name: Name of the document's base; empty makes one of its title.
        url: URL of that base; empty takes the document's first server.

    Attributes:
        bases: Name to URL.
    """

    def __init__(self, document: OpenApiDocument, notes: Notes, *, name: str = "", url: str = "") -> None:
        self.bases: dict[str, str] = {}
        self._document, self._notes = document, notes
        self._name = name or snake_case(document.title, otherwise="api")[:_MAX_NAME].rstrip("_")
        self._fixed_url = url.rstrip("/")

    def of(self, operation: Operation) -> str:
        """Return the name of the base that an operation is served at."""
        if self._fixed_url:
            return self._named(self._name, self._fixed_url)
        for holder in (operation.content, operation.shared, self._document.value):
            servers = as_list(holder.get("servers"))
            if servers:
                return self._named(self._name, self._url(as_object(servers[0])))
        return self._named(self._name, self._url({}))

    def of_url(self, url: str, role: str) -> tuple[str, str]:
        """Return the base of another server's address, such as `login`, and the rest of the address."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}" if parts.scheme in {"http", "https"} else UNKNOWN_BASE
        return self._named(f"{self._name}_{role}", origin), parts.path

    def reach(self, base: str) -> Reach:
        """Return who most likely sees what is sent to a base: outward unless its host is plainly one's own."""
        return likely_reach(self.bases[base])

    def _named(self, name: str, url: str) -> str:
        for known, address in self.bases.items():
            if address == url:
                return known
        free = unique(name, self.bases)
        self.bases[free] = url
        return free

    def _url(self, server: Mapping[str, Any]) -> str:
        variables = as_object(server.get("variables"))
        written = str(server.get("url", "/"))
        url = _VARIABLE.sub(lambda found: str(as_object(variables.get(found[1])).get("default", found[0])), written)
        if _BASE_URL.fullmatch(url.rstrip("/")) and not _VARIABLE.search(url):
            return url.rstrip("/")
        cause = f"the document does not tell the server's address, only {written!r}"
        self._notes.block(
            "BASE", "/servers", cause, "Import again with --base NAME=URL, or set the base in catalogue.yaml."
        )
        return UNKNOWN_BASE + (url.rstrip("/") if url.startswith("/") else "")
