"""An OpenAPI document: its operations, and what its local references name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Self

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools.importing.findings import ImportFinding, ImportRefused, Level
from taoloop.tools.schema_refusals import resolve_local

VERSIONS: Final = ("3.0", "3.1", "3.2")
"""The versions of OpenAPI that are read."""

METHODS: Final = ("get", "head", "query", "put", "post", "patch", "delete", "options", "trace")
"""Members of a path item that are operations; `query` since 3.2."""

_MAX_CHAIN: Final = 20
_NONE: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a document.

    Attributes:
        method: Upper case.
        path: As written, such as `/pets/{petId}`.
        content: The operation's object.
        pointer: Where it stands.
        shared: Its path item, whose parameters and servers it has too.
    """

    method: str
    path: str
    content: Mapping[str, Any]
    pointer: str
    shared: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        """Return its `operationId`; empty without one."""
        written = self.content.get("operationId")
        return written if isinstance(written, str) else ""

    @property
    def title(self) -> str:
        """Return method and path, such as `GET /pets/{petId}`."""
        return f"{self.method} {self.path}"

    @property
    def summary(self) -> str:
        """Return its summary, else its description; empty without both."""
        for written in (self.content.get("summary"), self.content.get("description")):
            if isinstance(written, str) and written.strip():
                return written
        return ""

    @property
    def tags(self) -> tuple[str, ...]:
        """Return its tags."""
        return tuple(tag for tag in as_list(self.content.get("tags")) if isinstance(tag, str))

    def is_named(self, pattern: str) -> bool:
        """Tell whether a pattern names it.

        Args:
            pattern: Shell pattern for the operation's id or for method and path; `tag:PATTERN` for a tag.
        """
        if pattern.startswith("tag:"):
            return any(fnmatchcase(tag, pattern.removeprefix("tag:")) for tag in self.tags)
        return fnmatchcase(self.title if " /" in pattern else self.id, pattern)


@dataclass(frozen=True, slots=True)
class OpenApiDocument:
    """A whole document.

    Attributes:
        name: Of its file.
        value: What it holds.
        version: `3.0`, `3.1` or `3.2`.
    """

    name: str
    value: Mapping[str, Any] = field(repr=False)
    version: str

    @classmethod
    def of(cls, value: JsonValue, *, name: str) -> Self:
        """Return the document of a value.

        Raises:
            ImportRefused: It is no OpenAPI document of a version that is read.
        """
        written = value.get("openapi") if isinstance(value, dict) else None
        version = ".".join(str(written).split(".")[:2])
        if not isinstance(value, dict) or version not in VERSIONS:
            swagger = value.get("swagger") if isinstance(value, dict) else None
            said = f"it says swagger {swagger}" if swagger is not None else f"its member openapi is {written!r}"
            finding = ImportFinding(
                level=Level.ERROR,
                code="OPENAPI_VERSION",
                place="/openapi",
                cause=f"{name} is no OpenAPI document of {', '.join(VERSIONS)}: {said}",
                remedy="Convert it to OpenAPI 3.",
            )
            raise ImportRefused(finding)
        return cls(name, value, version)

    @property
    def title(self) -> str:
        """Return the title of the API; the file's name without one."""
        written = as_object(self.value.get("info")).get("title")
        return written if isinstance(written, str) and written.strip() else self.name.partition(".")[0]

    def operations(self) -> Iterator[Operation]:
        """Yield every operation in the order of the document; a path item that is a reference is followed."""
        for path, written in as_object(self.value.get("paths")).items():
            item, _ = self.resolved(written)
            pointer = pointers.join("paths", path)
            for name, content in as_object(item).items():
                if name in METHODS and isinstance(content, Mapping):
                    yield Operation(name.upper(), path, content, f"{pointer}/{name}", as_object(item))
            for name, content in as_object(as_object(item).get("additionalOperations")).items():
                place = pointer + pointers.join("additionalOperations", name)
                yield Operation(name, path, as_object(content), place, as_object(item))

    def resolved(self, node: object) -> tuple[object, str]:
        """Return what a node is once its own reference is followed, and that reference; empty for none.

        A reference that is not local, names nothing or turns in a circle gives an empty object.
        """
        reference = ""
        for _ in range(_MAX_CHAIN):
            written = node.get("$ref") if isinstance(node, Mapping) else None
            if not isinstance(written, str):
                return node, reference
            reference = written
            try:
                node = self.at(written)
            except KeyError:
                return _NONE, reference
        return _NONE, reference

    def at(self, reference: str) -> JsonValue:
        """Return what a local reference such as `#/components/schemas/Pet` names.

        Raises:
            KeyError: It names nothing, or is not local.
        """
        return resolve_local(dict(self.value), reference)


def as_object(value: object) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else _NONE


def as_list(value: object) -> Sequence[Any]:
    """Return the value if it is an array, else an empty one."""
    return value if isinstance(value, list) else ()


def as_text(value: object) -> str:
    """Return the value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
