"""What loading finds in contracts, beside what is only not served yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taoloop.tools.loading import Finding, Severity, load_catalogue
from tests.unit.tools.contracts import document, write_catalogue


def found(directory: Path, *documents: dict[str, Any]) -> list[tuple[str, str]]:
    """Return code and pointer of every error and warning."""
    return [(each.code, each.pointer) for each in findings(directory, *documents)]


def findings(directory: Path, *documents: dict[str, Any]) -> list[Finding]:
    """Return every finding but the fields that are not served yet; each says what to do and where."""
    result = [each for each in load_catalogue(write_catalogue(directory, *documents)).findings if _counts(each)]
    assert all(each.cause and each.remedy and each.file.endswith(".yaml") and each.line for each in result)
    return result


def _counts(finding: Finding) -> bool:
    return finding.code != "NOT_YET_SUPPORTED"


def errors(directory: Path, *documents: dict[str, Any]) -> list[tuple[str, str]]:
    """Return code and pointer of the errors alone."""
    return [(each.code, each.pointer) for each in findings(directory, *documents) if each.severity is Severity.ERROR]


def writing(name: str = "change_order", **changes: Any) -> dict[str, Any]:
    """Return a valid contract of a tool that writes."""
    post = {"http": {"method": "POST", "url": "{{base.orders}}/orders", "json": {"id": "{order_id}"}}}
    return document(name, **{"spec__effect": "write", "spec__transport": post, **changes})
