"""Rules of the program as a whole: help, usage errors, errors as one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from taoloop.cli.main import app
from tests.unit.cli.conftest import Invoke

HEAVY = ("grpc", "google", "redis", "aiohttp", "sqlalchemy", "pydantic", "opentelemetry", "uvloop", "ruamel", "jiter")


def leaves(command: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Return every command that does something, with its path."""
    inner = getattr(command, "commands", None)
    if inner is None:
        return [(path, command)]
    return [leaf for name, each in inner.items() for leaf in leaves(each, (*path, name))]


COMMANDS = leaves(typer.main.get_command(app))


def test_importing_the_program_loads_no_service_and_no_heavy_library() -> None:
    code = f"import sys, taoloop.cli.main; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_every_command_teaches_by_an_example(path: tuple[str, ...], command: Any) -> None:
    assert f"Example: [bold]taoloop {' '.join(path)}" in command.help.replace("TAOLOOP_CATALOGUE=catalogue ", "")


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_every_command_that_prints_data_prints_json_too(path: tuple[str, ...], command: Any) -> None:
    options = {name for parameter in command.params for name in parameter.opts}
    assert "--json" in options or path == ("serve",)


def test_no_arguments_show_the_commands(invoke: Invoke) -> None:
    done = invoke()
    assert done.code == 2
    assert "demo" in done.out + done.err


def test_version_is_shown(invoke: Invoke) -> None:
    assert invoke("--version").out.startswith("taoloop ")


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (("run", "x", "--max-effect", "delete"), "idempotent_write"),
        (("run", "x", "--tainted-effects", "delete"), "refuse"),
        (("runs", "--outcome", "delete"), "answered"),
        (("effects", "list", "--state", "delete"), "unknown"),
        (("approvals", "list", "--state", "delete"), "open"),
        (("dev", "--profile", "delete"), "flaky"),
    ],
)
def test_a_word_that_an_option_does_not_have_is_named_with_those_that_it_has(
    arguments: tuple[str, ...], known: str, invoke: Invoke
) -> None:
    told = invoke(*arguments).err
    assert "delete" in told
    assert known in told
    assert arguments[-2] in told


@pytest.mark.parametrize(
    "arguments",
    [
        ("unknown",),
        ("run",),
        ("run", "x", "--max-effect", "everything"),
        ("run", "x", "--deadline", "0"),
        ("serve", "thought", "thought"),
        ("serve",),
        ("runs", "--outcome", "perhaps"),
        ("effects", "list", "--state", "lost"),
        ("tools", "mock", ".", "--listen", "8700"),
        ("tools", "mock", ".", "--profile", "stormy"),
        ("tools", "pack", ".", "-o", "bundle.zip"),
        ("dev", "--ports", "7"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(arguments: tuple[str, ...], invoke: Invoke) -> None:
    done = invoke(*arguments)
    assert done.code == 2
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("run", "x", "--address", "127.0.0.1:1"), "BACKEND_UNAVAILABLE"),
        (("health", "127.0.0.1:1"), "BACKEND_UNAVAILABLE"),
        (("effects", "list", "--address", "127.0.0.1:1"), "BACKEND_UNAVAILABLE"),
        (("run", "x", "--reference-time", "tomorrow"), "INVALID_REQUEST"),
        (("run", "x", "--state", "nowhere.json"), "INVALID_REQUEST"),
        (("tools", "list", "nowhere"), "CATALOGUE_INVALID"),
        (("plan", "check", "nowhere.json", "--catalogue", "nowhere"), "INVALID_REQUEST"),
        (("demo", "--tasks", "nowhere.yaml"), "INVALID_REQUEST"),
    ],
)
def test_a_foreseeable_fault_is_one_line_with_reason_and_remedy(
    arguments: tuple[str, ...], reason: str, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke(*arguments)
    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith(f"{reason}: ")
    assert len(done.err.splitlines()) == 1
    assert done.err.rstrip().endswith(".")
