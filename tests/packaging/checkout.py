"""Where things lie in the checkout, and what its lock files say."""

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "services" / "taoloop"
REQUIREMENTS = ROOT / "requirements"

_PIN = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==(?P<version>[^\s;]+)")


def normalised(name: str) -> str:
    """Return the name of a distribution in the form in which two spellings are equal (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, Any]:
    """Return the `[project]` table of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
    return table


def lock_files() -> list[Path]:
    """Return the lock files in the order of their names."""
    return sorted(REQUIREMENTS.glob("*.txt"))


def lock_entries(path: Path) -> list[str]:
    """Return the entries of a lock, each on one line with its hashes."""
    joined = path.read_text().replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


def locked_versions(path: Path) -> dict[str, set[str]]:
    """Return the versions that a lock pins, by normalised name; several where markers choose."""
    versions: dict[str, set[str]] = {}
    for entry in lock_entries(path):
        match = _PIN.match(entry)
        if match is None:
            message = f"{path.name}: not a pin: {entry[:80]}"
            raise ValueError(message)
        versions.setdefault(normalised(match["name"]), set()).add(match["version"])
    return versions
