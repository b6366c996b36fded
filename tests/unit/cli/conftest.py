"""Runs commands in this process, with what they print and how they end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from taoloop.cli.main import main

Invoke = Callable[..., "Done"]


@dataclass(frozen=True)
class Done:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Run `taoloop` with these arguments."""

    def run(*arguments: str) -> Done:
        monkeypatch.setattr("sys.argv", ["taoloop", *arguments])
        monkeypatch.setenv("GRPC_VERBOSITY", "NONE")
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "200")
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        else:
            code = 0
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run
