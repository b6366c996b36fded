"""Each service runs on what its image carries, and a technology is known to its adapter alone."""

import ast
import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packaging import checkout

# Each package is loaded whole, and the lock that it is listed under has to suffice. The command line has that of the
# smallest image: all start by `taoloop serve NAME`, so the command that needs more imports it itself. A product backend
# has the client with that of `observation`: the distribution without extras needs less still.
LOADS = {
    "observation": ("core", "values", "tools", "plan", "models", "client", "observation", "cli.main"),
    "loop": ("wire", "loop"),  # `wire` with the Redis link, which observation does not import
    "thought": ("thought", "loop.app"),  # a front without the extra `loop` hosts it all the same, without warm memory
    "action": ("action",),
}

# Reads the names of modules that the image lacks, hides them, then imports every module of the packages.
IMPORT_ALL = """
import importlib, pkgutil, sys
class Absent:
    names = set(sys.stdin.read().split())
    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            raise ModuleNotFoundError(f"{name} is not in the lock", name=name)
sys.meta_path.insert(0, Absent())
for package in sys.argv[1:]:
    module = importlib.import_module(package)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), package + "."):
        importlib.import_module(found.name)
"""

# Which modules may import a library: those whose own name, or whose folder's, begins with one of the words.
TECHNOLOGIES = {
    "aiohttp": ("http", "transports"),
    "aiosqlite": ("sql",),
    "anyio": ("mcp",),
    "asyncpg": ("sql", "postgres"),
    "httpx2": ("mcp",),
    "mcp": ("mcp",),
    "redis": ("redis",),
    "sklearn": ("sklearn",),
    "sqlalchemy": ("sql",),
}
# Composition roots and what is made to stand in for the outside world.
EXEMPT_STEMS = {"app"}
EXEMPT_PACKAGES = {"cli", "testing"}


def modules_missing_from(lock: str) -> set[str]:
    """Return the top-level modules that are installed here and that no distribution of the lock provides."""
    carried = checkout.locked_versions(checkout.REQUIREMENTS / f"{lock}.txt").keys() | {"taoloop"}
    return {
        module
        for module, owners in importlib.metadata.packages_distributions().items()
        if not carried & {checkout.normalised(owner) for owner in owners}
    }


@pytest.mark.parametrize("lock", LOADS)
def test_packages_import_with_what_their_lock_carries(lock: str) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, *(f"taoloop.{package}" for package in LOADS[lock])],
        input="\n".join(modules_missing_from(lock)),
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]


def imported_roots(path: Path) -> set[str]:
    """Return the top-level names that a module imports anywhere in its text."""
    roots: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            roots.add(node.module.partition(".")[0])
    return roots


def breaches() -> Iterator[str]:
    """Yield each import of a technology outside the adapters named after it."""
    for path in sorted(checkout.SOURCE.rglob("*.py")):
        parts = path.relative_to(checkout.SOURCE).with_suffix("").parts
        if parts[0] in EXEMPT_PACKAGES or parts[-1] in EXEMPT_STEMS:
            continue
        for root in sorted(imported_roots(path) & TECHNOLOGIES.keys()):
            if not any(part.startswith(TECHNOLOGIES[root]) for part in parts):
                yield f"{'/'.join(parts)}.py imports {root}"


def test_technology_is_imported_by_the_adapter_named_after_it() -> None:
    assert list(breaches()) == []
