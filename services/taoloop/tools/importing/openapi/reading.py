"""An OpenAPI document read from its file, JSON or YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.importing.findings import ImportFinding, ImportRefused, Level
from taoloop.tools.importing.openapi.document import OpenApiDocument
from taoloop.tools.loading.yaml_source import read_text

MAX_DOCUMENT_BYTES: Final = 64 << 20
"""Largest document that is read."""

MAX_DOCUMENT_DEPTH: Final = 120
"""Deepest nesting of a JSON document that is read."""


def read_openapi(path: Path) -> OpenApiDocument:
    """Read a document; blocks on the file system.

    Args:
        path: A file whose text is JSON, or YAML without aliases and tags; JSON is read many times faster.

    Raises:
        ImportRefused: The file cannot be read, or holds no OpenAPI document of 3.0, 3.1 or 3.2.
    """
    try:
        size_bytes = path.stat().st_size
        if size_bytes > MAX_DOCUMENT_BYTES:
            cause = f"the document has {size_bytes} bytes, more than {MAX_DOCUMENT_BYTES}"
            raise ImportRefused(_finding(path, cause, "Take out the paths that you do not need."))
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        cause = f"the file cannot be read: {getattr(exc, 'strerror', None) or 'it is not UTF-8'}"
        raise ImportRefused(_finding(path, cause, "Give a readable file in UTF-8.")) from exc
    return OpenApiDocument.of(_value(path, text), name=path.name)


def _value(path: Path, text: str) -> JsonValue:
    if not text.lstrip().startswith(("{", "[")):
        source = read_text(text, path)
        if source.faults:
            found = (_finding(path, f"line {each.line}: {each.cause}", each.remedy) for each in source.faults[:20])
            raise ImportRefused(*found)
        return source.value
    try:
        return exact_json.loads(text, max_depth=MAX_DOCUMENT_DEPTH)
    except exact_json.JsonSyntaxError as exc:
        raise ImportRefused(_finding(path, f"the document is not JSON: {exc}", "Correct the syntax.")) from exc


def _finding(path: Path, cause: str, remedy: str) -> ImportFinding:
    return ImportFinding(level=Level.ERROR, code="DOCUMENT_UNREADABLE", place=str(path), cause=cause, remedy=remedy)
