"""No test is written in vain: pytest collects every file that holds tests."""

import ast
import subprocess
import sys

import pytest

from tests.packaging import checkout, collected_files


def defines_tests(source: str) -> bool:
    """Say whether a module defines a test function, at the top level or in a test class."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        for node in ast.walk(ast.parse(source))
    )


def test_every_file_with_tests_is_collected() -> None:
    plugins = ("-p", collected_files.__name__, "-p", "no:randomly", "-p", "no:cacheprovider")
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "--quiet", *plugins],
        cwd=checkout.ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert finished.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, finished.stdout[-4000:] + finished.stderr[-4000:]
    collected = set(finished.stdout.splitlines())
    written = {
        str(path.relative_to(checkout.ROOT))
        for path in (checkout.ROOT / "tests").rglob("*.py")
        if defines_tests(path.read_text())
    }
    assert written - collected == set()
