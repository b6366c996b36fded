"""`taoloop prompt` shows what a model is told, by version and hash, and how versions differ."""

from __future__ import annotations

import json
import shutil
from importlib.resources import files
from pathlib import Path

from tests.unit.cli.conftest import Invoke

HOME = str(files("taoloop.thought.planners.model.prompts").joinpath("v1"))
EXAMPLE = str(Path(__file__).parents[3] / "examples" / "customer-service")


def test_a_version_is_shown_with_its_hash(invoke: Invoke) -> None:
    shown = json.loads(invoke("prompt", "show", "v1", "--json").out)

    assert len(shown["sha256"]) == 64
    assert "no extra characters" in shown["files"]["system.txt"]
    assert shown["sha256"] in invoke("prompt", "show").out


def test_the_messages_for_a_request_are_shown(invoke: Invoke) -> None:
    options = ("--catalogue", EXAMPLE, "--query", "hello [there]", "--reasoning", "full")
    text = invoke("prompt", "show", *options).out
    shown = json.loads(invoke("prompt", "show", *options, "--json").out)

    assert "User: hello [there]" in text
    assert "of it the same for every request" in text
    assert [message["role"] for message in shown["messages"]] == ["system", "user"]
    assert invoke("prompt", "show", "--catalogue", EXAMPLE, "--reasoning", "loud").code == 2


def test_two_versions_are_compared_line_by_line(invoke: Invoke, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    shutil.copytree(HOME, ours)
    same = invoke("prompt", "diff", "v1", str(ours))
    (ours / "repair.txt").write_text("Write it again.\n", encoding="utf-8")
    other = invoke("prompt", "diff", "v1", str(ours))

    assert (same.code, same.out) == (0, "")
    assert other.code == 1
    assert "--- v1/repair.txt" in other.out
    assert "+Write it again." in other.out
