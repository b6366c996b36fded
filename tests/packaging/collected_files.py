"""A plugin of pytest that prints the files that it would collect, and imports none of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest


class Unread(pytest.File):
    """A file of tests whose tests nobody asks for."""

    def collect(self) -> Iterable[pytest.Item]:
        """Return nothing, without the import that would find the tests."""
        return ()


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.File:
    """Print the path of a file that pytest takes for one of tests."""
    print(module_path.relative_to(parent.config.rootpath))  # noqa: T201 - what the test reads
    return Unread.from_parent(parent, path=module_path)
