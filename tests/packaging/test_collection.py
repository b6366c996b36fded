"""No test is written in vain: pytest collects every file that holds tests."""

import ast
import subprocess
import sys

import pytest

from tests.packaging import checkout


def defines_tests(source: str) -> bool:
    """Say whether a module defines a test function, at the top level or in a test class."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        for node in ast.walk(ast.parse(source))
    )


@pytest.mark.timeout(300)  # as long as all imports take, on a busy machine
def test_every_file_with_tests_is_collected() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-p", "no:randomly", "-p", "no:cacheprovider"],
        cwd=checkout.ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-4000:]
    collected = {line.partition("::")[0] for line in finished.stdout.splitlines() if "::" in line}
    written = {
        str(path.relative_to(checkout.ROOT))
        for path in (checkout.ROOT / "tests").rglob("*.py")
        if defines_tests(path.read_text())
    }
    assert written - collected == set()
