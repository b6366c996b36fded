"""The decorator marks a function and changes nothing of it."""

from __future__ import annotations

import subprocess
import sys

from taoloop.sdk import ToolOptions, options_of, tool


def test_a_marked_function_is_the_same_function() -> None:
    def find(name: str) -> str:
        return name

    assert tool(effect="read", timeout="2s")(find) is find
    assert find("a") == "a"
    assert options_of(find) == ToolOptions(effect="read", timeout="2s")


def test_a_function_that_is_not_marked_says_nothing() -> None:
    assert options_of(len) == ToolOptions()


def test_the_sdk_loads_nothing_of_the_engine() -> None:
    code = "import sys, taoloop.sdk; print([m for m in sys.modules if m.startswith('taoloop.') and '.sdk' not in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
