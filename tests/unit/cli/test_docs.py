"""Rules of the generated pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from taoloop.cli.docs import main
from taoloop.cli.reference_pages import configuration_page, environment_example, errors_page, pages
from taoloop.core.errors import error_classes
from taoloop.core.faults import FaultCode

ROOT = Path(__file__).parents[3]


def test_every_reason_and_every_fault_code_has_a_line() -> None:
    page = errors_page()
    for reason in {each.reason for each in error_classes()} | set(FaultCode):
        assert f"| `{reason}` |" in page


def test_every_variable_is_in_the_example_once() -> None:
    names = [line[2:].partition("=")[0] for line in environment_example().splitlines() if line.startswith("# TAOLOOP_")]
    assert len(names) == len(set(names))
    page = configuration_page()
    assert {name for name in names if f"| `{name}` |" not in page} == set()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """An empty checkout."""
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def test_check_shows_the_difference_and_the_command(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["write"], checkout) == 0
    assert main(["check"], checkout) == 0
    page = checkout / "docs" / "errors.md"
    page.write_text(page.read_text(encoding="utf-8").replace("# Errors and faults", "# Mistakes"), encoding="utf-8")
    capsys.readouterr()
    assert main(["check"], checkout) == 1
    told = capsys.readouterr()
    assert "-# Mistakes" in told.out
    assert "+# Errors and faults" in told.out
    assert "python -m taoloop.cli.docs write" in told.err


def test_write_changes_only_what_differs(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["write"], checkout)
    assert len(capsys.readouterr().out.splitlines()) == len(pages())
    main(["write"], checkout)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("arguments", [[], ["both"], ["write", "check"]])
def test_another_command_line_is_exit_code_2(arguments: list[str], checkout: Path) -> None:
    assert main(arguments, checkout) == 2


def test_outside_a_checkout_nothing_is_written(tmp_path: Path) -> None:
    assert main(["write"], tmp_path) == 1
    assert list(tmp_path.iterdir()) == []
